// SPDX-License-Identifier: GPL-2.0
/* Rejects, illegal opcodes, NOP and text. */
#include <cstring>

#include "lab.h"

namespace iserverify {

namespace {

/* Reject with @reason, and the BHS of @bad as its data (RFC 7143 11.17). */
void expect_reject(Session &session, const Pdu &bad, unsigned reason,
		   const std::string &what)
{
	ByteVector sent = bad.bytes();
	std::optional<Pdu> reject;

	try {
		reject = session.receive_reject(Milliseconds(8000));
	} catch (const ConnectionLost &lost) {
		throw Failure(what + ": " + lost.what());
	}
	expect(reject.has_value(), what + ": no Reject came");
	expect_equal(reject->response().response, reason,
		     what + ": the reason of the Reject");
	expect(reject->data.size() == sizeof(iser::Bhs) &&
	       !std::memcmp(reject->data.data(),
			    sent.data() + sizeof(iser::ControlHeader),
			    sizeof(iser::Bhs)),
	       what + ": the Reject does not carry the BHS that was sent");
}

void login_in_full_feature(Lab &lab)
{
	auto session = lab.login();
	LoginOptions options = lab.login_options();
	Pdu pdu = session->login_request(
		options, 0x87, to_text(Session::identity_keys(options)));

	session->connection().send(pdu.bytes());
	expect_reject(*session, pdu, 0x04, "Login Request in full feature");
	expect_usable(*session);
}

void snack(Lab &lab)
{
	auto session = lab.login();

	for (unsigned type = 0; type < 4; ++type) {
		Pdu pdu = session->make(IscsiOpcode::SnackRequest, true);

		/* SNACK has no I bit, and no CmdSN either. */
		pdu.request().opcode_and_immediate = 0x10;
		pdu.request().flags = static_cast<u8>(0x80 | type);
		pdu.request().specific_20 = iser::reserved_tag;
		pdu.request().cmd_sn = 0;
		session->connection().send(pdu.bytes());
		expect_reject(*session, pdu, 0x04,
			      "SNACK of type " + std::to_string(type));
	}
	expect_usable(*session);
}

void unknown_opcodes(Lab &lab)
{
	for (unsigned opcode : {0x07u, 0x0fu, 0x11u, 0x1cu, 0x1fu}) {
		auto session = lab.login();
		Pdu pdu = session->make(static_cast<IscsiOpcode>(opcode), true);

		session->send(pdu);
		expect_reject(*session, pdu, 0x05,
			      "opcode " + std::to_string(opcode));
		expect_usable(*session);
	}
}

void opcodes_of_a_target(Lab &lab)
{
	for (unsigned opcode : {0x20u, 0x21u, 0x23u, 0x25u, 0x31u, 0x3fu}) {
		auto session = lab.login();
		Pdu pdu = session->make(static_cast<IscsiOpcode>(opcode));

		session->connection().send(pdu.bytes());
		expect_outcome(outcome_of(*session),
			       {Outcome::Closed, Outcome::Rejected},
			       "opcode " + std::to_string(opcode) +
			       " of a target");
	}
}

/* First nibble other than 1: illegal contents (4.8 E11). */
void iser_opcodes(Lab &lab, bool logged_in)
{
	for (unsigned opcode = 0; opcode < 16; ++opcode) {
		if (opcode == 1)
			continue;

		auto session = logged_in ? lab.login() : lab.connect();
		Pdu pdu = logged_in ?
			session->make(IscsiOpcode::NopOut, true) :
			session->login_request(lab.login_options(), 0x04, {});

		pdu.request().specific_20 = iser::reserved_tag;
		pdu.head.header.opcode_and_flags =
			static_cast<u8>(opcode << 4);
		session->connection().send(pdu.bytes());
		expect_outcome(outcome_of(*session), {Outcome::Closed},
			       "iSER opcode " + std::to_string(opcode));
	}
}

void iser_opcodes_in_login(Lab &lab)
{
	iser_opcodes(lab, false);
}

void iser_opcodes_in_full_feature(Lab &lab)
{
	iser_opcodes(lab, true);
}

void reserved_bits_are_ignored(Lab &lab)
{
	auto session = lab.login();
	Pdu pdu = session->make(IscsiOpcode::NopOut, true);

	pdu.request().specific_20 = iser::reserved_tag;
	pdu.head.header.opcode_and_flags |= 0x03;
	std::memset(pdu.head.header.reserved, 0xff, 3);
	/* Not valid, as the flags say: not to be looked at. */
	pdu.head.header.write_stag = 0xdeadbeef;
	pdu.head.header.read_stag = 0xdeadbeef;
	session->send(pdu);
	expect_outcome(outcome_of(*session), {Outcome::Answered},
		       "reserved bits of the iSER header");
	expect_usable(*session);
}

void every_send_opcode(Lab &lab)
{
	auto session = lab.login();

	for (SendOpcode opcode : {SendOpcode::Send,
				  SendOpcode::SendSolicited}) {
		Pdu pdu = session->make(IscsiOpcode::NopOut, true);

		pdu.request().specific_20 = iser::reserved_tag;
		session->connection().send(pdu.bytes(), opcode);
		expect_outcome(outcome_of(*session), {Outcome::Answered},
			       "NOP-Out by another kind of Send");
	}
}

void pings(Lab &lab)
{
	auto session = lab.login();

	for (std::size_t size : {0, 1, 3, 4, 100, 127, 128}) {
		ByteVector data = pattern(size, 60);

		expect(session->ping(data) == data,
		       "a ping of " + std::to_string(size) +
		       " bytes was not echoed exactly");
	}
	expect_equal(session->unclaimed(), 0u, "PDUs nobody asked for");
}

/* An initiator that posts more than 128 bytes has not said so. */
void large_ping(Lab &lab)
{
	auto session = lab.login();
	ByteVector data = pattern(4096, 61);
	ByteVector echo = session->ping(data);

	expect(echo.size() <= 128, "an echo of " + std::to_string(echo.size()) +
	       " bytes to an initiator that may post 128");
	expect(std::equal(echo.begin(), echo.end(), data.begin()),
	       "the echo is not the start of what was sent");
	expect_usable(*session);
}

Pdu ping_without_answer(Session &session)
{
	Pdu pdu = session.make(IscsiOpcode::NopOut, true);

	pdu.request().itt = iser::reserved_tag;
	pdu.request().specific_20 = iser::reserved_tag;
	pdu.data = pattern(128, 62);
	return pdu;
}

void pings_without_answer(Lab &lab)
{
	auto session = lab.login();

	for (int i = 0; i < 500; ++i) {
		/*
		 * What a target that declares nothing has to have room for.
		 * An answer tells that they have arrived (RFC 7145 8.1.1.3).
		 */
		session->send(ping_without_answer(*session));
		session->send(ping_without_answer(*session));
		session->ping({});
	}
	expect_usable(*session);
	/*
	 * An echo of them has no ITT either, and passes for a ping of the
	 * target.  But a target has no data of its own to send: the longest is
	 * the echo that was asked for just now.
	 */
	expect(session->longest_data() < 128,
	       "an echo of a ping that wants none");
	expect_equal(session->unclaimed(), 0u,
		     "answers to pings that want none");
}

void answer_to_no_ping(Lab &lab)
{
	auto session = lab.login();
	Pdu pdu = session->make(IscsiOpcode::NopOut, true);

	pdu.request().itt = iser::reserved_tag;
	pdu.request().specific_20 = 0x12345678;
	session->send(pdu);
	try {
		expect_usable(*session);
	} catch (const ConnectionLost &) {
		/* Legal, too: the TTT is the target's, and this is none. */
	}
}

void data_out_to_no_command(Lab &lab)
{
	auto session = lab.login();
	Pdu pdu(IscsiOpcode::DataOut);
	auto &data_out = pdu.head.bhs.as<iser::DataOutPdu>();

	data_out.flags = iser::Bhs::final_bit;
	data_out.itt = 0x77777777;
	data_out.ttt = iser::reserved_tag;
	pdu.data = pattern(512, 63);
	session->connection().send(pdu.bytes());
	try {
		expect_usable(*session);
	} catch (const ConnectionLost &) {
	}
}

/* There are no R2Ts: a TTT answers nothing (OQ-22). */
void data_out_to_no_r2t(Lab &lab)
{
	const ByteVector old = pattern(8192, 64);

	lab.write(Lab::scratch, old);

	WaitingWrite write(lab);
	/* Short: its length must not be what the target refuses. */
	Pdu pdu = write.data_out(0, 512);

	pdu.head.bhs.as<iser::DataOutPdu>().ttt = 0x12345678;
	write.session->connection().send(pdu.bytes());
	expect_outcome(outcome_of(*write.session),
		       {Outcome::Closed, Outcome::Rejected, Outcome::Failed},
		       "Data-Out with a Target Transfer Tag");
	write.session.reset();
	lab.expect_data(Lab::scratch, old, "data of the LUN");
}

void data_out_beyond_the_write(Lab &lab)
{
	const ByteVector old = pattern(65536, 66);

	lab.write(Lab::scratch, old);
	/* Beyond the end; far beyond; wrapping; overlapping by one byte. */
	for (std::uint32_t offset : {8192u, 0x7fff0000u, 0xfffffff0u, 7681u}) {
		WaitingWrite write(lab);
		Pdu pdu = write.data_out(0, 512);

		pdu.head.bhs.as<iser::DataOutPdu>().buffer_offset = offset;
		write.session->connection().send(pdu.bytes());
		expect_outcome(outcome_of(*write.session),
			       {Outcome::Closed, Outcome::Rejected,
				Outcome::Failed},
			       "Data-Out at offset " + std::to_string(offset) +
			       " of 8192");
		write.session.reset();
		lab.expect_data(Lab::scratch, old, "data of the LUN");
	}
}

void data_out_where_none_may_be(Lab &lab)
{
	const ByteVector old = pattern(8192, 68);

	lab.write(Lab::scratch, old);

	auto session = lab.login();
	/* F=0 promises Data-Out; InitialR2T=Yes forbids it. */
	Pdu pdu = command_by_hand(*session, 0x21, 8192,
					  write_cdb(Lab::scratch, 16));

	session->send(pdu);

	Pdu out(IscsiOpcode::DataOut);
	auto &data_out = out.head.bhs.as<iser::DataOutPdu>();

	data_out.flags = iser::Bhs::final_bit;
	data_out.itt = pdu.request().itt;
	data_out.ttt = iser::reserved_tag;
	out.data = pattern(512, 69);
	try {
		session->connection().send(out.bytes());
	} catch (const ConnectionLost &) {
	}
	expect_outcome(outcome_of(*session),
		       {Outcome::Closed, Outcome::Rejected, Outcome::Failed},
		       "Data-Out with InitialR2T=Yes");
	session.reset();
	lab.expect_data(Lab::scratch, old, "data of the LUN");
}

void immediate_data_where_none_may_be(Lab &lab)
{
	const ByteVector old = pattern(512, 70);

	lab.write(Lab::scratch, old);

	auto session = lab.login({{"ImmediateData", "No"}});
	expect(!session->parameters().immediate_data,
	       "ImmediateData=No was not accepted");
	Pdu pdu = command_by_hand(*session, 0xa1, 512,
					  write_cdb(Lab::scratch, 1));

	pdu.data = pattern(512, 71);
	session->send(pdu);
	expect_outcome(outcome_of(*session),
		       {Outcome::Closed, Outcome::Rejected, Outcome::Failed},
		       "immediate data with ImmediateData=No");
	session.reset();
	lab.expect_data(Lab::scratch, old, "data of the LUN");
}

void duplicate_and_far_cmd_sn(Lab &lab)
{
	auto session = lab.login();

	expect_usable(*session);
	/* Both are outside the window: to be dropped without a word. */
	for (std::uint32_t distance : {0xffffffffu, 0x7000u}) {
		Pdu pdu = session->make(IscsiOpcode::NopOut);

		pdu.request().specific_20 = iser::reserved_tag;
		pdu.request().cmd_sn = pdu.request().cmd_sn + distance;
		session->connection().send(pdu.bytes());
	}
	expect_usable(*session);
	expect_equal(session->unclaimed(), 0u,
		     "answers to PDUs outside the command window");
}

void send_targets_in_a_session(Lab &lab)
{
	auto session = lab.login();
	TextKeys keys = session->text({{"SendTargets", lab.target_name}});
	const std::string *name = find_key(keys, "TargetName");

	expect(name && *name == lab.target_name,
	       "SendTargets does not name the session's target");
	expect(find_key(keys, "TargetAddress"),
	       "SendTargets gives no TargetAddress");
	expect(session->longest_data() <= 128,
	       "a PDU of " + std::to_string(session->longest_data()) +
	       " data bytes to an initiator that may post 128");
	expect_usable(*session);
}

/* No value: the target of the session (RFC 7143 Appendix C). */
void send_targets_without_a_value(Lab &lab)
{
	auto session = lab.login();
	TextKeys keys = session->text({{"SendTargets", ""}});
	const std::string *name = find_key(keys, "TargetName");

	expect(name && *name == lab.target_name,
	       "SendTargets does not name the session's target");
}

void long_send_targets_in_a_session(Lab &lab)
{
	Session session(lab.raw_connection());
	LoginOptions options = lab.login_options();

	expect(!lab.long_target_name.empty(),
	       "iserverify was not given --long-target");
	options.target_name = lab.long_target_name;
	session.login(options);
	for (int i = 0; i < 3; ++i) {
		TextKeys keys = session.text(
			{{"SendTargets", lab.long_target_name}});
		const std::string *name = find_key(keys, "TargetName");

		expect(name && *name == lab.long_target_name,
		       "SendTargets does not name the session's target");
	}
	expect(session.longest_data() <= 128,
	       "a PDU of " + std::to_string(session.longest_data()) +
	       " data bytes to an initiator that may post 128");
	expect_equal(session.ping({}).size(), 0u, "size of an empty echo");
}

void discovery(Lab &lab)
{
	Session session(lab.raw_connection());
	LoginOptions options = lab.login_options();

	options.discovery = true;
	session.login(options);

	std::vector<DiscoveredTarget> targets = session.discover();

	expect_equal(targets.size(), lab.targets, "number of targets found");
	for (const DiscoveredTarget &target : targets)
		expect(!target.addresses.empty(),
		       target.name + " has no address");
	expect_equal(session.logout(), 0, "response to the logout");
}

void small_discovery(Lab &lab)
{
	Session session(lab.raw_connection());
	LoginOptions options = lab.login_options(
		{{"MaxRecvDataSegmentLength", "512"}});

	options.discovery = true;
	session.login(options);
	expect_equal(session.discover().size(), lab.targets,
		     "number of targets found");
	expect(session.longest_data() <= 512,
	       "a PDU longer than MaxRecvDataSegmentLength");
}

void abandoned_discovery(Lab &lab)
{
	for (int i = 0; i < 50; ++i) {
		Session session(lab.raw_connection());
		LoginOptions options = lab.login_options();

		options.discovery = true;
		session.login(options);
		if (i % 2) {
			Pdu pdu = session.make(IscsiOpcode::TextRequest);

			pdu.request().specific_20 = iser::reserved_tag;
			pdu.data = to_text({{"SendTargets", "All"}});
			session.send(pdu);
		}
	}
}

void commands_in_discovery(Lab &lab)
{
	for (IscsiOpcode opcode : {IscsiOpcode::ScsiCommand,
				   IscsiOpcode::TaskManagementRequest,
				   IscsiOpcode::DataOut}) {
		Session session(lab.raw_connection());
		LoginOptions options = lab.login_options();

		options.discovery = true;
		session.login(options);
		session.send(session.make(opcode));
		expect_outcome(outcome_of(session), {Outcome::Closed,
						     Outcome::Rejected},
			       "opcode " + std::to_string(int(opcode)) +
			       " in a discovery session");
	}
}

void odd_text_requests(Lab &lab)
{
	const ByteVector texts[] = {
		{}, {0}, {'='}, to_text({{"MaxBurstLength", "512"}}),
		to_text({{"SendTargets", "iqn.2003-01.org.lio-iser:none"}}),
		to_text({{"RDMAExtensions", "Yes"}}),
		ByteVector(4096, 'x'),
	};

	for (const ByteVector &text : texts) {
		auto session = lab.login();
		Pdu pdu = session->make(IscsiOpcode::TextRequest);

		pdu.request().specific_20 = iser::reserved_tag;
		pdu.data = text;
		session->send(pdu);
		expect(outcome_of(*session) != Outcome::Silent,
		       "a Text Request got no answer");
	}
}

void text_that_repeats(Lab &lab)
{
	auto session = lab.login();

	for (int i = 0; i < 100; ++i)
		session->text({{"SendTargets", lab.target_name}});
	expect_usable(*session);
}

void text_with_an_unknown_ttt(Lab &lab)
{
	auto session = lab.login();
	Pdu pdu = session->make(IscsiOpcode::TextRequest);

	pdu.request().specific_20 = 0x12345678;
	session->send(pdu);
	expect(outcome_of(*session) != Outcome::Silent,
	       "a Text Request with an unknown TTT got no answer");
}

} // namespace

std::vector<Check> protocol_checks()
{
	return {
		{"protocol", "login-in-full-feature",
		 "T-051 B-021 E17 Login Request in full feature phase: Reject 0x04",
		 login_in_full_feature},
		{"protocol", "snack", "T-052 B-023 SNACK of each type: Reject 0x04",
		 snack},
		{"protocol", "unknown-opcodes",
		 "B-017 unknown opcodes: Reject 0x05", unknown_opcodes},
		{"protocol", "target-opcodes",
		 "opcodes that only a target sends", opcodes_of_a_target},
		{"protocol", "iser-opcodes-login",
		 "E11 iSER opcodes 0, 2 to 15 in the login",
		 iser_opcodes_in_login},
		{"protocol", "iser-opcodes",
		 "E11 iSER opcodes 0, 2 to 15 in full feature phase",
		 iser_opcodes_in_full_feature},
		{"protocol", "reserved", "B-030 B-028 reserved bits are ignored",
		 reserved_bits_are_ignored},
		{"protocol", "send-opcodes", "N-003 1.8 Send with and without SE",
		 every_send_opcode},
		{"protocol", "pings", "NOP-Out of 0 to 128 bytes is echoed",
		 pings},
		{"protocol", "large-ping",
		 "OQ-12 N-014 no echo beyond 128 bytes", large_ping},
		{"protocol", "pings-without-answer",
		 "F-28 1000 NOP-Out that want no answer", pings_without_answer},
		{"protocol", "answer-to-no-ping",
		 "NOP-Out with a TTT that is not known", answer_to_no_ping},
		{"protocol", "data-out-no-command",
		 "Data-Out that belongs to no command",
		 data_out_to_no_command},
		{"protocol", "data-out-ttt",
		 "OQ-22 Data-Out with a Target Transfer Tag",
		 data_out_to_no_r2t},
		{"protocol", "data-out-beyond",
		 "Data-Out beyond the end of its write",
		 data_out_beyond_the_write},
		{"protocol", "data-out-forbidden",
		 "E22 E13 Data-Out with InitialR2T=Yes",
		 data_out_where_none_may_be},
		{"protocol", "immediate-forbidden",
		 "E22 immediate data with ImmediateData=No",
		 immediate_data_where_none_may_be},
		{"protocol", "cmd-sn", "CmdSN outside the window is dropped",
		 duplicate_and_far_cmd_sn},
		{"text", "send-targets", "SendTargets in a normal session",
		 send_targets_in_a_session},
		{"text", "send-targets-empty",
		 "SendTargets without a value names the session's target",
		 send_targets_without_a_value},
		{"open", "long-send-targets",
		 "OQ-12 SendTargets longer than 128 bytes comes in parts",
		 long_send_targets_in_a_session},
		{"text", "discovery", "discovery of all targets", discovery},
		{"text", "small-discovery",
		 "discovery by an initiator that takes 512 bytes",
		 small_discovery},
		{"text", "abandoned-discovery",
		 "F-31 50 discovery sessions that are dropped",
		 abandoned_discovery},
		{"text", "discovery-commands",
		 "discovery session: nothing but Text and Logout",
		 commands_in_discovery},
		{"text", "odd-text", "Text Requests that say little",
		 odd_text_requests},
		{"text", "text-repeats", "F-06 100 Text Requests",
		 text_that_repeats},
		{"text", "text-ttt", "Text Request with an unknown TTT",
		 text_with_an_unknown_ttt},
	};
}

} // namespace iserverify
