// SPDX-License-Identifier: GPL-2.0
/* Unsolicited data: Data-Out PDUs and immediate data, by the rules or not. */
#include <algorithm>

#include "dialog.h"
#include "transfer.h"

namespace iserverify {

namespace {

constexpr std::size_t size = 8192;
constexpr std::size_t half = size / 2;

/* A write whose Data-Outs a check sends as it likes, onto known data. */
class Write {
public:
	Write(Lab &lab, std::uint32_t seed) : lab_(lab), write_(lab)
	{
		lab.write(Lab::scratch, old_);
		write_.data = pattern(size, seed);
	}
	Session &session() { return *write_.session; }
	void send(std::size_t offset, std::size_t bytes, std::uint32_t data_sn,
		  bool final, SendOpcode opcode = SendOpcode::Send)
	{
		const Pdu pdu = make_data_out(write_.tag, write_.data, offset,
					      bytes, data_sn, final);

		try {
			session().connection().send(pdu.bytes(), opcode);
		} catch (const ConnectionLost &) {
			/* It was refused before the last PDU of it. */
		}
	}
	/* It succeeds, and the LUN has its data. */
	void expect_done(const std::string &what)
	{
		expect_good(session().finish(write_.tag), what);
		lab_.expect_data(Lab::scratch, write_.data, what);
	}
	/* It fails, whichever way, and the LUN has what it had. */
	void expect_refused(const std::string &what)
	{
		expect_outcome(outcome_of(session()),
			       {Outcome::Closed, Outcome::Rejected,
				Outcome::Failed}, what);
		write_.session.reset();
		lab_.expect_data(Lab::scratch, old_, what);
	}
	/* Either is allowed, and no mixture of both. */
	void expect_done_or_refused(const std::string &what)
	{
		const Outcome outcome = outcome_of(session());

		expect(outcome != Outcome::Silent, what + ": no answer");
		write_.session.reset();
		lab_.expect_data(Lab::scratch,
				 outcome == Outcome::Answered ? write_.data :
								old_, what);
	}

private:
	Lab &lab_;
	const ByteVector old_ = pattern(size, 900);
	WaitingWrite write_;
};

void data_sn_with_a_gap(Lab &lab)
{
	Write write(lab, 901);

	write.send(0, half, 0, false);
	write.send(half, half, 2, true);
	write.expect_refused("DataSN 0 and 2");
}

void offset_with_a_gap(Lab &lab)
{
	Write write(lab, 902);

	write.send(0, 1024, 0, false);
	write.send(half, half, 1, true);
	write.expect_refused("Data-Outs with a gap between them");
}

void the_same_data_again(Lab &lab)
{
	Write write(lab, 903);

	write.send(0, half, 0, false);
	write.send(0, half, 1, false);
	write.send(half, half, 2, true);
	write.expect_refused("the same Data-Out twice");
}

void data_behind_the_last(Lab &lab)
{
	Write write(lab, 904);

	write.send(0, half, 0, false);
	write.send(half, half, 1, true);
	write.expect_done("a write in two Data-Outs");
	write.send(0, half, 2, true);
	/* Its task is gone: to be dropped, or the end of the connection. */
	expect_usable(*lab.login());
}

void data_for_a_read(Lab &lab)
{
	const ByteVector data = pattern(65536, 905);

	lab.write(Lab::scratch, data);

	auto session = lab.login({{"InitialR2T", "No"}});
	Guarded in(65536);
	const Session::Tag tag = session->start(
		read_request(Lab::scratch, 65536, in.buffer()));

	try {
		session->connection().send(
			make_data_out(tag, data, 512, 512, 0, true).bytes());
		expect_good(session->finish(tag), "a READ that got a Data-Out");
		in.expect_exactly(data, 65536, "a READ that got a Data-Out");
		expect_usable(*session);
	} catch (const ConnectionLost &) {
	} catch (const ProtocolError &) {
		/* Rejected. */
	}
	lab.expect_data(Lab::scratch, data, "the LUN");
}

/* A write of 16 KiB of which @pieces come in Data-Outs, F=1 on the last. */
Outcome burst(Lab &lab, const std::vector<std::size_t> &pieces,
	      const ByteVector &old, ByteVector &data)
{
	lab.write(Lab::scratch, old);

	auto session = lab.login({{"InitialR2T", "No"},
				  {"FirstBurstLength", "8192"}});
	const std::size_t burst = session->parameters().first_burst_length;
	ScsiRequest request = write_request(Lab::scratch, data);
	std::size_t at = 0;
	std::uint32_t data_sn = 0;

	if (session->parameters().initial_r2t || burst != 8192)
		throw NotApplicable("the target agrees to no first burst");
	request.immediate = 0;
	request.withhold_data_out = true;

	const Session::Tag tag = session->start(request);

	for (const std::size_t &bytes : pieces) {
		const bool final = &bytes == &pieces.back();

		try {
			session->connection().send(
				make_data_out(tag, data, at, bytes, data_sn++,
					      final).bytes());
		} catch (const ConnectionLost &) {
		}
		at += bytes;
	}
	return outcome_of(*session);
}

void more_than_the_first_burst(Lab &lab)
{
	const ByteVector old = pattern(16384, 906);
	ByteVector data = pattern(16384, 907);

	expect_outcome(burst(lab, {4096, 4096, 4096}, old, data),
		       {Outcome::Closed, Outcome::Rejected, Outcome::Failed},
		       "12 KiB where FirstBurstLength is 8192");
	lab.expect_data(Lab::scratch, old, "data of the LUN");
}

void less_than_the_first_burst(Lab &lab)
{
	const ByteVector old = pattern(16384, 908);
	ByteVector data = pattern(16384, 909);

	expect_outcome(burst(lab, {4096}, old, data),
		       {Outcome::Closed, Outcome::Rejected, Outcome::Failed},
		       "4 KiB where FirstBurstLength is 8192, EDTL 16384");
	lab.expect_data(Lab::scratch, old, "data of the LUN");
}

void short_pieces(Lab &lab)
{
	Write write(lab, 910);

	for (std::uint32_t i = 0; i < 8; ++i)
		write.send(i * 1024, 1024, i, i == 7);
	write.expect_done_or_refused("Data-Outs shorter than "
				     "TargetRecvDataSegmentLength");
}

void empty_last_piece(Lab &lab)
{
	Write write(lab, 911);

	write.send(0, half, 0, false);
	write.send(half, half, 1, false);
	write.send(size, 0, 2, true);
	write.expect_done_or_refused("a last Data-Out without data");
}

/* RFC 7145 9.5.1: each kind of Send carries each of them. */
void kinds_of_send(Lab &lab)
{
	const SendOpcode plain = SendOpcode::Send;
	const SendOpcode solicited = SendOpcode::SendSolicited;

	for (auto [first, last] : {std::pair(plain, plain),
				   std::pair(plain, solicited),
				   std::pair(solicited, plain),
				   std::pair(solicited, solicited)}) {
		Write write(lab, 912);

		write.send(0, half, 0, false, first);
		write.send(half, half, 1, true, last);
		write.expect_done("Data-Outs by other kinds of Send");
	}
}

void a_command_in_between(Lab &lab)
{
	Write write(lab, 913);

	/* Immediate: the write may be all that the command window allows. */
	const Pdu ping = ping_request(write.session(), true);

	write.send(0, half, 0, false);
	write.session().send(ping);
	expect(write.session().receive_for(ping.head.bhs.itt,
					   Milliseconds(8000)).data ==
	       ping.data, "a ping between two Data-Outs was not echoed");
	write.send(half, half, 1, true);
	write.expect_done("a write with a ping between its Data-Outs");
}

void immediate_beyond_the_first_burst(Lab &lab)
{
	const ByteVector old = pattern(4096, 914);

	lab.write(Lab::scratch, old);

	auto session = lab.login({{"FirstBurstLength", "512"}});
	Pdu pdu = command_by_hand(*session, 0xa1, 4096,
				  write_cdb(Lab::scratch, 8));

	if (session->parameters().first_burst_length > 512)
		throw Failure("FirstBurstLength=512 was not accepted");
	pdu.data = pattern(4096, 915);
	session->send(pdu);
	expect_outcome(outcome_of(*session),
		       {Outcome::Closed, Outcome::Rejected, Outcome::Failed},
		       "4096 bytes of immediate data, FirstBurstLength 512");
	session.reset();
	lab.expect_data(Lab::scratch, old, "data of the LUN");
}

/* iSCSI pads to words, iSER does not say: with, without, with anything. */
void padding(Lab &lab)
{
	auto session = lab.login();
	const ByteVector data = pattern(61, 916);

	for (const ByteVector &pad : {ByteVector{}, ByteVector{0, 0, 0},
				      ByteVector{1, 2, 3}}) {
		Pdu pdu = session->make(IscsiOpcode::NopOut);
		const Session::Tag tag = pdu.request().itt;

		pdu.request().specific_20 = iser::reserved_tag;
		pdu.data = data;
		pdu.data.insert(pdu.data.end(), pad.begin(), pad.end());
		pdu.head.bhs.data_segment_length =
			static_cast<u32>(data.size());
		session->send_as_claimed(pdu);
		expect(session->receive_for(tag, Milliseconds(8000)).data ==
		       data, "61 bytes of ping data with " +
		       std::to_string(pad.size()) + " bytes of padding");
	}
}

/* Nobody speaks of the length: 8192 are allowed (RFC 7145 6.4). */
void default_length(Lab &lab)
{
	Dialog login(lab, {{"TargetRecvDataSegmentLength", ""}});
	const char *key = "TargetRecvDataSegmentLength";
	TextKeys rest;

	login.say(operational, login.keys());
	expect(!login.refused(), "the first round was refused");
	/* The target may, and then its offer is answered. */
	if (const std::string *offer = login.answer(key))
		rest.emplace_back(key, *offer);
	login.say(to_full_feature, rest);
	login.expect_accepted("no TargetRecvDataSegmentLength");

	const std::size_t most =
		login.session->parameters().target_recv_data_segment_length;
	ByteVector data = pattern(8192, 917);
	ScsiRequest request = write_request(Lab::scratch, data);

	if (rest.empty())
		expect_equal(most, 8192u, "the default length");
	request.immediate = static_cast<std::uint32_t>(
		std::min<std::size_t>(most, 8192));
	expect_good(login.session->scsi(request), "8192 immediate bytes");
	lab.expect_data(Lab::scratch, data, "8192 immediate bytes");
}

/* Nothing declared is No: the base is that of the whole buffer (6.9). */
void silence_is_no(Lab &lab)
{
	const char *key = "TaggedBufferForSolicitedDataOnly";
	Dialog login(lab, {{key, ""}, {"InitialR2T", "No"}});
	const TextKeys keys = login.keys();

	/* Said to nobody but our own session. */
	for (auto &[name, value] : login.options.keys)
		if (name == key)
			value = "No";
	login.say(to_full_feature, keys);
	login.expect_accepted("a login that declares nothing");
	for (std::uint32_t size : {8192u, 66048u, 1u << 18}) {
		ByteVector data = pattern(size, 919 + size);

		expect_good(login.session->scsi(
				    write_request(Lab::scratch, data)),
			    "a write with a base of the whole buffer");
		lab.expect_data(Lab::scratch, data,
				"a write of " + std::to_string(size) +
				" bytes, nothing declared");
	}
}

/* Each RDMA Read is at most MaxBurstLength, and they make up the whole. */
void short_bursts(Lab &lab)
{
	for (const char *r2ts : {"1", "8"}) {
		auto session = lab.login({{"MaxBurstLength", "4096"},
					  {"FirstBurstLength", "512"},
					  {"MaxOutstandingR2T", r2ts}});
		ByteVector data = pattern(65536, 918);

		expect(session->parameters().max_burst_length <= 4096,
		       "MaxBurstLength=4096 was not accepted");
		expect_good(session->scsi(write_request(Lab::scratch, data)),
			    "a write in bursts of 4096");
		lab.expect_data(Lab::scratch, data, "bursts of 4096");
	}
}

} // namespace

std::vector<Check> unsolicited_checks()
{
	return {
		{"unsolicited", "data-sn-gap", "E16 DataSN with a gap",
		 data_sn_with_a_gap},
		{"unsolicited", "offset-gap",
		 "E16 Data-Outs with a gap between them", offset_with_a_gap},
		{"unsolicited", "data-twice", "E16 the same Data-Out twice",
		 the_same_data_again},
		{"unsolicited", "data-late", "E16 Data-Out behind the last one",
		 data_behind_the_last},
		{"unsolicited", "data-read", "E16 Data-Out for a READ",
		 data_for_a_read},
		{"unsolicited", "burst-exceeded",
		 "E13 E22 more than FirstBurstLength",
		 more_than_the_first_burst},
		{"unsolicited", "burst-short",
		 "E23 less than FirstBurstLength, and more due",
		 less_than_the_first_burst},
		{"unsolicited", "short-pieces",
		 "I-019 Data-Outs shorter than agreed on", short_pieces},
		{"unsolicited", "empty-last",
		 "T-033 a last Data-Out without data", empty_last_piece},
		{"unsolicited", "send-kinds",
		 "T-061 N-003 Data-Outs by Send with and without SE",
		 kinds_of_send},
		{"unsolicited", "ping-between",
		 "T-033 a ping between two Data-Outs", a_command_in_between},
		{"unsolicited", "immediate-exceeded",
		 "E13 immediate data beyond FirstBurstLength",
		 immediate_beyond_the_first_burst},
		{"unsolicited", "padding",
		 "OQ-11 data segments padded, not padded, padded with garbage",
		 padding},
		{"unsolicited", "default-length",
		 "T-021 TargetRecvDataSegmentLength undeclared: 8192",
		 default_length},
		/* Linux says nothing and means Yes, so lio_iser has a setting. */
		{"open", "silent-base",
		 "N-018 TaggedBufferForSolicitedDataOnly undeclared is No",
		 silence_is_no, rfc7145_only},
		{"unsolicited", "short-bursts",
		 "T-041 T-044 T-047 T-048 MaxBurstLength of 4096, 64 KiB to read",
		 short_bursts},
	};
}

} // namespace iserverify
