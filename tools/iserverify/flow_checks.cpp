// SPDX-License-Identifier: GPL-2.0
/* Numbers, the command window, unexpected PDUs: RFC 7145 8.1 and 8.2. */
#include <algorithm>

#include "dialog.h"
#include "transfer.h"

namespace iserverify {

namespace {

/* Enough receive buffers for all answers to what a check sends at once. */
constexpr std::uint32_t many_receives = 300;

std::unique_ptr<Session> login_with_many_receives(Lab &lab, TextKeys keys = {})
{
	ConnectOptions options = lab.connect_options();

	options.receive_count = many_receives;
	options.send_count = 64;
	options.receive_size = 28 + 48 + 8192;

	auto session = lab.make_session(options);

	session->login(lab.login_options(std::move(keys)));
	return session;
}

/* How many more commands the target lets the initiator send. */
std::uint32_t window(Session &session)
{
	const Pdu request = ping_request(session, true);

	session.send(request);

	const Pdu answer = session.receive_for(request.head.bhs.itt,
					       Milliseconds(8000));

	return answer.response().max_cmd_sn - answer.response().exp_cmd_sn + 1;
}

/* ---- numbers --------------------------------------------------------------------- */

/* One request of each kind, in turns. */
std::vector<Pdu> a_bit_of_everything(Session &session)
{
	std::vector<Pdu> answers;
	const auto exchange = [&](Pdu pdu) {
		session.send(pdu);
		answers.push_back(session.receive(Milliseconds(8000)));
	};
	Pdu pdu;

	for (int round = 0; round < 3; ++round) {
		exchange(command_by_hand(session, 0x81, 0, ByteVector(16)));
		exchange(command_by_hand(session, 0x81, 0,
					 ByteVector(16, 0xc0)));
		exchange(ping_request(session, false));
		exchange(ping_request(session, true));
		pdu = session.make(IscsiOpcode::TaskManagementRequest, true);
		pdu.request().flags = 0x81;
		exchange(pdu);
		pdu = session.make(IscsiOpcode::TextRequest);
		pdu.request().specific_20 = iser::reserved_tag;
		exchange(pdu);
		/* Refused, and with a StatSN of its own. */
		pdu = session.make(IscsiOpcode::SnackRequest, true);
		exchange(pdu);
	}
	return answers;
}

void stat_sn(Lab &lab)
{
	auto session = lab.login();
	std::optional<std::uint32_t> before;

	for (const Pdu &answer : a_bit_of_everything(*session)) {
		const std::uint32_t number = answer.response().stat_sn;

		expect(!before || number == *before + 1,
		       "StatSN goes from " + std::to_string(*before) + " to " +
		       std::to_string(number));
		before = number;
	}
}

/* It will not be sent again, so what follows is next in order. */
void rejects_are_numbered(Lab &lab)
{
	const auto refused = [&](auto make, const char *what) {
		auto session = lab.login();
		const Pdu pdu = make(*session);

		session->send(pdu);

		const Outcome outcome = outcome_of(*session);

		if (outcome == Outcome::Closed)
			return;
		expect(outcome != Outcome::Silent,
		       std::string(what) + ": no answer");
		expect_usable(*session);
	};

	refused([](Session &session) {
		Pdu pdu = session.make(IscsiOpcode::TextRequest);

		pdu.request().specific_20 = iser::reserved_tag;
		pdu.data = to_text({{"X-org.lio-iser.test", "1"}});
		return pdu;
	}, "a Text Request of an unknown key");
	refused([](Session &session) {
		/* R and no data, EDTL and no direction. */
		return command_by_hand(session, 0x81, 4096, read_cdb(0, 8));
	}, "a command with EDTL and neither R nor W");
	refused([](Session &session) {
		Pdu pdu = command_by_hand(session, 0x81, 0, ByteVector(16));

		pdu.ahs = {0, 5, 0x3f, 0, 1, 2, 3, 4};
		return pdu;
	}, "a command with an unknown AHS");
	refused([](Session &session) {
		return command_by_hand(session, 0x01, 0, ByteVector(16));
	}, "a command without data and without F");
}

/* Every command counts, no immediate PDU does, MaxCmdSN never goes back. */
void exp_cmd_sn(Lab &lab)
{
	auto session = lab.login();
	std::uint32_t max_cmd_sn = 0;

	for (int i = 0; i < 40; ++i) {
		Pdu pdu = ping_request(*session, i % 3 == 0);
		const std::uint32_t cmd_sn = pdu.request().cmd_sn;

		session->send(pdu);

		const Pdu answer = session->receive(Milliseconds(8000));
		const ResponsePdu &fields = answer.response();

		expect_equal(fields.exp_cmd_sn, cmd_sn + (i % 3 != 0),
			     "ExpCmdSN");
		expect(i == 0 || fields.max_cmd_sn >= max_cmd_sn,
		       "MaxCmdSN went back");
		expect(fields.max_cmd_sn + 1 >= fields.exp_cmd_sn,
		       "MaxCmdSN is more than one below ExpCmdSN");
		max_cmd_sn = fields.max_cmd_sn;
	}
}

/*
 * Carried out in the order of CmdSN, in which they were not sent.  Which one is
 * answered first is the target's business; the data tells the order.
 */
void commands_out_of_order(Lab &lab)
{
	auto session = lab.login();
	const ByteVector first = pattern(512, 950);
	const ByteVector second = pattern(512, 951);
	Pdu write = command_by_hand(*session, 0xa1, 512,
				    write_cdb(Lab::scratch, 1));
	Pdu later = command_by_hand(*session, 0xa1, 512,
				    write_cdb(Lab::scratch, 1));

	write.data = first;
	later.data = second;
	later.request().cmd_sn = later.request().cmd_sn + 1;
	session->send(later);
	expect_outcome(outcome_of(*session, Milliseconds(300)),
		       {Outcome::Silent}, "a command ahead of its turn");
	session->send(write);
	for (const Pdu &one : {write, later}) {
		const Pdu answer = session->receive_for(one.head.bhs.itt,
							Milliseconds(8000));

		expect(answer.opcode() == IscsiOpcode::ScsiResponse &&
		       !answer.response().status,
		       "a write that came out of order failed");
	}
	lab.expect_data(Lab::scratch, second,
			"two writes to one place, the second sent first");
}

/* Carried out at once, and no CmdSN is used up by it. */
void immediate_command(Lab &lab)
{
	auto session = lab.login();

	for (int i = 0; i < 4; ++i) {
		Pdu pdu = command_by_hand(*session, 0x81, 0, ByteVector(16));

		pdu.request().opcode_and_immediate |= iser::Bhs::immediate_bit;
		session->send(pdu);
		expect_outcome(outcome_of(*session),
			       {Outcome::Answered, Outcome::Failed},
			       "an immediate TEST UNIT READY");
	}
	expect_usable(*session);
}

/* ---- the command window ----------------------------------------------------------- */

constexpr std::uint32_t piece = 1024;
constexpr std::uint32_t pieces = 8;
constexpr std::uint32_t whole = piece * pieces;

/* Writes that wait for their unsolicited data, as many as there may be. */
class FullWindow {
public:
	explicit FullWindow(Lab &lab)
		: session(login_with_many_receives(lab, {
			{"InitialR2T", "No"},
			{"FirstBurstLength", "8192"},
			{"TargetRecvDataSegmentLength", "1024"},
		}))
	{
		if (session->parameters().initial_r2t ||
		    session->parameters().first_burst_length != whole ||
		    session->parameters().target_recv_data_segment_length !=
			    piece)
			throw NotApplicable("the target does not agree to "
					    "eight Data-Outs a command");

		const std::uint32_t commands = std::min(window(*session), 64u);

		for (std::uint32_t i = 0; i < commands; ++i)
			start(i);
	}
	/* All of the Data-Outs at once. */
	void send_data()
	{
		for (std::size_t i = 0; i < tags.size(); ++i)
			for (std::uint32_t at = 0; at < pieces; ++at)
				session->connection().send(make_data_out(
					tags[i], data[i], at * piece, piece,
					at, at == pieces - 1).bytes());
	}
	void finish(Lab &lab)
	{
		for (Session::Tag tag : tags)
			expect_good(session->finish(tag),
				    "one of the writes of a full window");
		for (std::size_t i = 0; i < tags.size(); ++i)
			lab.expect_data(lba(i), data[i],
					"a write of a full window");
	}

	std::unique_ptr<Session> session;
	std::vector<ByteVector> data;
	std::vector<Session::Tag> tags;

private:
	static std::uint32_t lba(std::size_t i)
	{
		return static_cast<std::uint32_t>(Lab::scratch +
						  i * (whole / block));
	}
	void start(std::uint32_t i)
	{
		data.push_back(pattern(whole, 960 + i));

		ScsiRequest request = write_request(lba(i), data.back());

		request.immediate = 0;
		request.withhold_data_out = true;
		tags.push_back(session->start(request));
	}
};

/* Everything that may come comes at once, and finds a buffer. */
void everything_at_once(Lab &lab)
{
	for (int round = 0; round < 2; ++round) {
		FullWindow full(lab);

		full.send_data();
		full.session->send(ping_request(*full.session, true));
		full.session->send(ping_request(*full.session, true));
		full.finish(lab);
		expect_usable(*full.session);
	}
}

/* With not one command more to send, immediate PDUs are served. */
void immediate_in_a_full_window(Lab &lab)
{
	FullWindow full(lab);
	Session &session = *full.session;
	const Pdu ping = ping_request(session, true);

	session.send(ping);
	expect(session.receive_for(ping.head.bhs.itt, Milliseconds(8000))
		       .opcode() == IscsiOpcode::NopIn,
	       "no answer to a ping while the window is full");
	expect(session.task_management(TaskManagement::AbortTask, {},
				       full.tags.back()) <= 1,
	       "response to ABORT TASK while the window is full");
	session.forget(full.tags.back());
	full.tags.pop_back();
	full.data.pop_back();
	full.send_data();
	full.finish(lab);
	expect_usable(session);
}

/* ---- unexpected PDUs ---------------------------------------------------------------- */

/* As many as the target has room for, by its word; 2 without one. */
void immediates_at_once(Lab &lab)
{
	auto session = login_with_many_receives(lab);
	const std::string *declared = find_key(session->parameters().answers,
					       "MaxOutstandingUnexpectedPDUs");
	unsigned long most = declared && *declared != "NotUnderstood" ?
		std::stoul(*declared, nullptr, 0) : 2;

	/* 0: no limit. */
	most = most == 0 ? 32 : std::min(most, 64ul);
	for (int round = 0; round < 8; ++round) {
		std::vector<Pdu> sent;

		for (unsigned i = 0; i < most; ++i) {
			sent.push_back(ping_request(*session, true, i));
			session->send(sent.back());
		}
		for (const Pdu &ping : sent)
			expect(session->receive_for(ping.head.bhs.itt,
						    Milliseconds(8000)).data ==
			       ping.data, "one of " + std::to_string(most) +
			       " immediate pings was not echoed");
		/* And all of them are retired (RFC 7145 8.1.1.3). */
		expect_usable(*session);
	}
}

/* A breach of the target's declaration: it may end, not worse. */
void immediates_beyond_all_bounds(Lab &lab)
{
	auto session = login_with_many_receives(lab);

	try {
		for (int i = 0; i < 1000; ++i)
			session->send(ping_request(*session, true));
		for (;;)
			session->receive(Milliseconds(500));
	} catch (const ConnectionLost &) {
	} catch (const TimedOut &) {
		expect_usable(*session);
	}
	expect_usable(*lab.login());
}

/* SNACKs for a task that is active, all with the same ExpStatSN. */
unsigned rejects_of(Session &session, Session::Tag task, unsigned snacks,
		    std::uint32_t exp_stat_sn, bool &closed)
{
	unsigned rejects = 0;

	try {
		for (unsigned i = 0; i < snacks; ++i) {
			Pdu pdu = session.make(IscsiOpcode::SnackRequest,
					       true);

			pdu.request().itt = task;
			pdu.request().exp_stat_sn = exp_stat_sn;
			pdu.request().specific_20 = iser::reserved_tag;
			session.connection().send(pdu.bytes());
		}
		while (session.receive_reject(Milliseconds(500)))
			++rejects;
	} catch (const ConnectionLost &) {
		closed = true;
	}
	return rejects;
}

std::uint32_t next_stat_sn(Session &session)
{
	return session.make(IscsiOpcode::NopOut, true).request().exp_stat_sn;
}

/*
 * Behind the limit not even a Reject that is demanded elsewhere leaves; with
 * an ExpStatSN that tells of their arrival they do again.
 */
void rejects_within_the_limit(Lab &lab)
{
	WaitingWrite write(lab, {{"MaxOutstandingUnexpectedPDUs", "2"}});
	Session &session = *write.session;
	const std::uint32_t frozen = next_stat_sn(session);
	bool closed = false;
	const unsigned first =
		rejects_of(session, write.tag, 8, frozen, closed);

	expect(first <= 2, std::to_string(first) + " Rejects are outstanding, "
	       "and 2 is what we have room for");
	if (closed)
		return expect_usable(*lab.login());

	/* Immediate: the write may be all that the command window allows. */
	const Pdu ping = ping_request(session, true);

	session.send(ping);
	expect(session.receive_for(ping.head.bhs.itt, Milliseconds(8000))
		       .data == ping.data,
	       "no answer to a ping behind the limit");

	const unsigned then = rejects_of(session, write.tag, 1,
					 next_stat_sn(session), closed);

	expect(closed || then == 1 || first == 0,
	       "Rejects do not come again when they were acknowledged");
}

/* Whoever knows of no Hello holds back until the initiator has spoken. */
void silence_behind_the_login(Lab &lab)
{
	auto session = lab.login();

	/* As it comes: the session would answer a ping, and pass over it. */
	expect(!session->connection().receive(Milliseconds(1000)),
	       "the second behind a login: something came");
	expect_usable(*session);
}

/* It wants an answer, uses up no StatSN, and comes one at a time. */
void ping_of_the_target(Lab &lab)
{
	auto session = lab.login();
	std::optional<Received> message;

	expect_usable(*session);

	const std::uint32_t expected = next_stat_sn(*session);

	message = session->connection().receive(Milliseconds(20000));
	if (!message)
		throw NotApplicable("the target sends no NOP-In within 20 s");

	const Pdu ping(*message);

	expect(ping.opcode() == IscsiOpcode::NopIn &&
	       ping.response().itt == iser::reserved_tag,
	       "an idle target sends something else than a NOP-In");
	expect(ping.response().ttt != iser::reserved_tag,
	       "a NOP-In that wants no answer and takes a buffer");
	expect_equal(ping.response().stat_sn, expected,
		     "StatSN of the target's NOP-In");
	expect(ping.head.bhs.final(), "F of a NOP-In is 0");

	Pdu answer = session->make(IscsiOpcode::NopOut, true);

	answer.request().itt = iser::reserved_tag;
	answer.request().specific_20 = ping.response().ttt;
	session->send(answer);
	expect_usable(*session);
}

/* RFC 7143 7.7: a NOP-Out that wants no answer has to be immediate. */
void badly_formed_nop_out(Lab &lab)
{
	auto session = lab.login();
	Pdu pdu = session->make(IscsiOpcode::NopOut);

	pdu.request().itt = iser::reserved_tag;
	pdu.request().specific_20 = iser::reserved_tag;
	session->send(pdu);
	expect_outcome(outcome_of(*session),
		       {Outcome::Closed, Outcome::Rejected},
		       "a NOP-Out without ITT that is not immediate");
}

/* ---- RDMA Reads ------------------------------------------------------------------------ */

/* Not more at a time than the connection request said we can serve. */
void read_depths(Lab &lab)
{
	for (std::uint8_t depth : {1, 2, 4}) {
		ConnectOptions options = lab.connect_options();

		options.responder_resources = depth;

		auto session = lab.make_session(options);
		std::vector<ByteVector> data;
		std::vector<Session::Tag> tags;

		session->login(lab.login_options({{"ImmediateData", "No"}}));
		expect(session->connection().peer_initiator_depth() <= depth,
		       "the target wants more RDMA Reads at a time than it "
		       "may have");
		for (std::uint32_t i = 0; i < 16; ++i)
			data.push_back(pattern(65536, 970 + i));
		for (std::uint32_t i = 0; i < 16; ++i)
			tags.push_back(session->start(write_request(
				Lab::large_scratch + i * 128, data[i])));
		for (Session::Tag tag : tags)
			expect_good(session->finish(tag), "one of 16 writes");
		for (std::uint32_t i = 0; i < 16; ++i)
			lab.expect_data(Lab::large_scratch + i * 128, data[i],
					"one of 16 writes");
	}
}

/* Waiting for RDMA Reads, a target reads and answers all the same. */
void reads_beside_writes(Lab &lab)
{
	const ByteVector data = pattern(4096, 990);
	ConnectOptions options = lab.connect_options();

	lab.write(Lab::scratch, data);
	options.responder_resources = 1;

	auto session = lab.make_session(options);
	std::vector<ByteVector> out(4, pattern(1 << 20, 991));
	std::vector<Session::Tag> tags;
	Guarded in(4096);

	session->login(lab.login_options({{"ImmediateData", "No"}}));
	for (std::uint32_t i = 0; i < out.size(); ++i)
		tags.push_back(session->start(write_request(
			Lab::large_scratch + i * 2048, out[i])));
	expect_good(session->scsi(read_request(Lab::scratch, 4096,
					       in.buffer())),
		    "a READ beside large writes");
	in.expect_exactly(data, 4096, "a READ beside large writes");
	for (Session::Tag tag : tags)
		expect_good(session->finish(tag), "a large write");
	for (std::uint32_t i = 0; i < out.size(); ++i)
		lab.expect_data(Lab::large_scratch + i * 2048, out[i],
				"a large write");
}

} // namespace

std::vector<Check> flow_checks()
{
	return {
		{"flow", "stat-sn", "E15 StatSN goes up by one, always",
		 stat_sn},
		{"flow", "rejects-numbered",
		 "E17 what is rejected uses up its CmdSN",
		 rejects_are_numbered},
		{"flow", "exp-cmd-sn",
		 "4.6 ExpCmdSN and MaxCmdSN keep step with the commands",
		 exp_cmd_sn},
		{"flow", "out-of-order",
		 "T-060 commands are carried out in the order of CmdSN",
		 commands_out_of_order},
		/* LIO rejects them, before any transport has a say. */
		{"open", "immediate-command",
		 "T-060 an immediate command uses up no CmdSN",
		 immediate_command},
		{"flow", "full-window",
		 "B-025 all commands and their Data-Outs at once",
		 everything_at_once},
		{"flow", "immediate-full",
		 "4.6 immediate PDUs while the command window is full",
		 immediate_in_a_full_window},
		{"flow", "immediates",
		 "B-025 as many immediate PDUs as the target has room for",
		 immediates_at_once},
		{"flow", "immediates-beyond",
		 "I-032 E13 E24 a thousand immediate PDUs at once",
		 immediates_beyond_all_bounds},
		{"flow", "rejects-limited",
		 "T-056 no more Rejects than we have room for",
		 rejects_within_the_limit, rfc7145_only},
		{"flow", "silence", "N-011 nothing unasked behind the login",
		 silence_behind_the_login},
		{"flow", "target-ping",
		 "T-056 B-024 a NOP-In of the target that wants an answer",
		 ping_of_the_target},
		{"flow", "nop-out-form",
		 "B-036 E14 a NOP-Out of impossible fields",
		 badly_formed_nop_out},
		{"flow", "read-depth",
		 "T-045 no more RDMA Reads at a time than allowed",
		 read_depths},
		{"flow", "reads-beside",
		 "T-045 a READ is not held up by RDMA Reads",
		 reads_beside_writes},
	};
}

} // namespace iserverify
