// SPDX-License-Identifier: GPL-2.0
/* Two tables: what can be wrong with a target, and which check finds it. */
#include "broken_faults.h"

#include <algorithm>

#include "broken_parts.h"

namespace iserverify {

namespace {

constexpr auto command = IscsiOpcode::ScsiCommand;
constexpr auto login_request = IscsiOpcode::LoginRequest;
constexpr auto login_response = IscsiOpcode::LoginResponse;
constexpr auto nop_in = IscsiOpcode::NopIn;
constexpr auto scsi_response = IscsiOpcode::ScsiResponse;
constexpr auto task_response = IscsiOpcode::TaskManagementResponse;
constexpr auto text_response = IscsiOpcode::TextResponse;

When hello() { return iser_opcode(2); }
When hello_reply() { return iser_opcode(3); }

/* A NOP-Out that wants no answer. */
bool asks_nothing(const Pdu &pdu)
{
	return pdu.opcode() == IscsiOpcode::NopOut &&
	       pdu.head.bhs.itt == iser::reserved_tag;
}

bool has_reserved_bits(const Pdu &pdu)
{
	const iser::ControlHeader &header = pdu.head.header;
	const u8 known = 0xf0 | iser::ControlHeader::write_stag_valid |
			 iser::ControlHeader::read_stag_valid;

	return header.opcode_and_flags & ~known || header.reserved[0];
}

bool of_a_target(const Pdu &pdu)
{
	return static_cast<unsigned>(pdu.opcode()) >= 0x20;
}

bool refuses_recovery(const Pdu &pdu)
{
	return pdu.opcode() == IscsiOpcode::LogoutResponse &&
	       pdu.response().response == 2;
}

/* A write of the first block of its data, all of it immediate. */
void fit_one_block(Pdu &pdu)
{
	auto &command = pdu.head.bhs.as<iser::ScsiCommandPdu>();

	pdu.data.resize(block);
	command.expected_data_transfer_length = block;
	command.cdb[7] = 0;
	command.cdb[8] = 1;
}

/* Its lengths become those of what it has all the same. */
void leave_alone(Pdu &)
{
}

void make_immediate(Pdu &pdu)
{
	pdu.head.bhs.opcode_and_immediate |= iser::Bhs::immediate_bit;
}

void flip_first_of_memory(std::span<std::uint8_t> memory)
{
	memory.front() ^= 0xff;
}

void flip_last_of_memory(std::span<std::uint8_t> memory)
{
	memory.back() ^= 0xff;
}

/* Of the HelloReply (RFC 7145 9.4). */
Edit byte_is(std::size_t at, std::uint8_t value)
{
	return [=](ByteVector &bytes) { bytes.at(at) = value; };
}

/* NOP-In with the data of a NOP-Out that wants none. */
Breakage echoes_unasked()
{
	return {.to_target = [](BrokenConnection &connection,
				Message &message) {
		if (!head_of(message))
			return true;

		const Pdu ping = taken_apart(message);

		if (!asks_nothing(ping))
			return true;

		Pdu echo(nop_in);
		ResponsePdu &response = echo.head.bhs.as<ResponsePdu>();

		response = connection.last_response();
		response.opcode = static_cast<u8>(nop_in);
		response.itt = iser::reserved_tag;
		response.ttt = iser::reserved_tag;
		echo.data = ping.data;
		connection.deliver({.bytes = echo.bytes()});
		return true;
	}};
}

/* Each read gets what the one before it should have got. */
Breakage places_data_of_the_read_before()
{
	return places([last = std::make_shared<ByteVector>()](
			      std::span<std::uint8_t> memory) {
		const ByteVector now(memory.begin(), memory.end());

		std::copy_n(last->begin(), std::min(last->size(), now.size()),
			    memory.begin());
		*last = now;
	});
}

const std::vector<Fault> faults = {
	{"never-hangs-up", "ends no connection, whatever comes",
	 []() -> Breakages { return {never_hangs_up()}; }},
	{"wears-out", "takes no more than a few connections, one for life",
	 []() -> Breakages { return {refuses_connections_after(5)}; }},
	{"dies-with-a-connection", "takes one connection, and none after it",
	 []() -> Breakages { return {refuses_connections_after(1)}; }},
	{"logs-in-slowly", "takes six seconds for each login",
	 []() -> Breakages {
		 return {delays(is({login_response}), Milliseconds(6000))};
	 }},

	{"answers-slowly", "takes six seconds for each SCSI Command",
	 []() -> Breakages {
		 return {delays(is({scsi_response}), Milliseconds(6000))};
	 }},

	/* Lengths. */
	{"ignores-short-messages", "passes over messages without a whole BHS",
	 []() -> Breakages { return {ignores(shorter_than(76))}; }},
	{"completes-short-messages",
	 "reads what lies behind a message that is too short",
	 []() -> Breakages {
		 return {takes_bytes(shorter_than(76), [](ByteVector &bytes) {
			 bytes.resize(76);
		 })};
	 }},
	{"ignores-lies", "passes over PDUs that claim more than they have",
	 []() -> Breakages { return {ignores(lies())}; }},
	{"corrects-lies", "takes what came for all that was claimed",
	 []() -> Breakages { return {takes(lies(), leave_alone)}; }},
	{"writes-one-block",
	 "writes one block of a command whose lengths contradict each other",
	 []() -> Breakages { return {takes(is({command}), fit_one_block)}; }},
	{"writes-all-the-same",
	 "writes to the LUN what it refuses",
	 []() -> Breakages {
		 return {spoils(is({command, IscsiOpcode::DataOut}),
				Lab::scratch, 16)};
	 }},

	/* Login. */
	{"ignores-early-commands", "loses what comes before the login ends",
	 []() -> Breakages {
		 return {ignores(both(is({command}), before_login()))};
	 }},
	{"grants-every-login", "answers each Login Request with success",
	 []() -> Breakages {
		 return {succeeds(is({login_request}), login_response)};
	 }},
	{"grants-any-proof", "takes any CHAP response for the right one",
	 []() -> Breakages {
		 return {succeeds(from_the_first(has_key("CHAP_R"), true),
				  login_response)};
	 }},
	{"refuses-without-a-reason", "refuses logins with status 0x0200",
	 []() -> Breakages {
		 return {sends(is({login_response}), login_status_is(0x0200))};
	 }},
	{"ignores-others-before-login",
	 "passes over PDUs other than a Login Request before the login",
	 []() -> Breakages {
		 return {ignores(both(is_not(is({login_request})),
				      before_login()))};
	 }},
	{"rdma-extensions-always", "takes RDMAExtensions=No for Yes",
	 []() -> Breakages {
		 return {takes(is({login_request}),
			       key_is("RDMAExtensions", "Yes"))};
	 }},
	{"rdma-extensions-no", "answers RDMAExtensions with No",
	 []() -> Breakages {
		 return {sends(is({login_response}),
			       key_is("RDMAExtensions", "No"))};
	 }},
	{"knows-no-key-of-iser", "does not understand RDMAExtensions",
	 []() -> Breakages {
		 return {sends(is({login_response}),
			       key_is("RDMAExtensions", "NotUnderstood"))};
	 }},
	{"forgets-unknown-keys", "does not answer a key that it does not know",
	 []() -> Breakages {
		 return {sends(is({login_response}),
			       without_key("X-org.lio-iser.test"))};
	 }},
	{"forgets-a-key", "does not answer TargetRecvDataSegmentLength",
	 []() -> Breakages {
		 return {sends(is({login_response}),
			       without_key("TargetRecvDataSegmentLength"))};
	 }},
	{"declares-nothing", "does not declare MaxOutstandingUnexpectedPDUs",
	 []() -> Breakages {
		 return {sends(is({login_response}),
			       without_key("MaxOutstandingUnexpectedPDUs"))};
	 }},
	{"volunteers-keys", "declares MaxAHSLength unasked",
	 []() -> Breakages {
		 return {sends(is({login_response}),
			       key_added("MaxAHSLength", "256"))};
	 }},
	{"immediate-data-always", "takes immediate data after ImmediateData=No",
	 []() -> Breakages { return {pretends("ImmediateData", "Yes",
						  "No")}; }},

	/* Hello. */
	{"ignores-hello", "passes over a Hello",
	 []() -> Breakages { return {ignores(hello())}; }},
	{"withholds-hello-reply", "answers no Hello",
	 []() -> Breakages { return {withholds(hello_reply())}; }},
	{"hello-reply-of-12-bytes", "sends the HelloReply of RFC 5046",
	 []() -> Breakages {
		 return {sends_bytes(hello_reply(), [](ByteVector &bytes) {
			 bytes.resize(12);
		 })};
	 }},
	{"hello-reply-reserved", "sets a reserved bit of the HelloReply",
	 []() -> Breakages {
		 return {sends_bytes(hello_reply(), byte_is(27, 1))};
	 }},
	{"hello-reply-version", "answers with version 1 of iSER",
	 []() -> Breakages {
		 return {sends_bytes(hello_reply(), byte_is(1, 0x11))};
	 }},
	{"hello-never-rejects", "has REJ clear in every HelloReply",
	 []() -> Breakages {
		 return {sends_bytes(hello_reply(), byte_is(0, 0x30))};
	 }},
	{"hello-always-rejects", "has REJ set in every HelloReply",
	 []() -> Breakages {
		 return {sends_bytes(hello_reply(), byte_is(0, 0x31))};
	 }},
	{"ord-of-16", "answers iSER-ORD 16, whatever the IRD",
	 []() -> Breakages {
		 return {sends_bytes(hello_reply(), byte_is(3, 16))};
	 }},

	/* SCSI. */
	{"ignores-commands", "answers no SCSI Command",
	 []() -> Breakages { return {ignores(is({command}))}; }},
	{"all-commands-succeed", "answers GOOD and does nothing",
	 []() -> Breakages { return {succeeds(is({command}), scsi_response)}; }},
	{"hangs-up-on-commands", "ends the connection on a SCSI Command",
	 []() -> Breakages { return {hangs_up_on(is({command}))}; }},
	{"good-status", "reports GOOD for what failed",
	 []() -> Breakages {
		 return {sends(is({scsi_response}), status_is(0)),
			 sends(is({scsi_response}), data_is({}))};
	 }},
	{"wrong-sense-key", "reports HARDWARE ERROR for what failed",
	 []() -> Breakages {
		 return {sends(is({scsi_response}), sense_key_is(4))};
	 }},
	{"long-sense", "sends a data segment of 252 bytes with sense",
	 []() -> Breakages {
		 return {sends(is({scsi_response}), data_of_size(252))};
	 }},
	{"no-residual-count", "leaves the Residual Count at 0",
	 []() -> Breakages {
		 return {sends(is({scsi_response}), residual_is(0))};
	 }},
	{"no-residual-flags", "sets neither O nor U",
	 []() -> Breakages {
		 return {sends(is({scsi_response}),
			       flags_without(ResponsePdu::overflow_bit |
					     ResponsePdu::underflow_bit))};
	 }},
	{"always-a-residual", "reports a residual of 512 bytes with every command",
	 []() -> Breakages {
		 return {sends(is({scsi_response}), residual_is(512))};
	 }},
	{"two-responses", "sends each SCSI Response twice",
	 []() -> Breakages { return {doubles(is({scsi_response}))}; }},
	{"sends-data-in", "sends a Data-In PDU besides the SCSI Response",
	 []() -> Breakages {
		 return {sends_besides(is({scsi_response}),
				       static_cast<IscsiOpcode>(0x25))};
	 }},
	{"wrong-read-data", "places one wrong byte of read data",
	 []() -> Breakages { return {places(flip_first_of_memory)}; }},
	{"places-too-much", "writes to the last byte of every read buffer",
	 []() -> Breakages { return {places(flip_last_of_memory)}; }},
	{"mixes-reads-up", "gives a read the data of the one before it",
	 []() -> Breakages { return {places_data_of_the_read_before()}; }},
	{"reads-from-the-wrong-offset",
	 "fetches write data from one byte too far on",
	 []() -> Breakages { return {fetches(shift)}; }},
	{"immediate-data-shifted",
	 "takes immediate data from one byte too far on",
	 []() -> Breakages { return {takes(is({command}), data_shifted())}; }},
	{"data-out-shifted", "takes the data of a Data-Out from one byte too "
			     "far on",
	 []() -> Breakages {
		 return {takes(is({IscsiOpcode::DataOut}), data_shifted())};
	 }},
	{"loses-the-ahs", "looks at the first 16 bytes of a CDB only",
	 []() -> Breakages { return {takes(is({command}), without_ahs())}; }},
	{"ignores-data-out", "passes over each Data-Out",
	 []() -> Breakages { return {ignores(is({IscsiOpcode::DataOut}))}; }},
	{"hangs-up-on-data-out", "ends the connection on a Data-Out",
	 []() -> Breakages {
		 return {hangs_up_on(is({IscsiOpcode::DataOut}))};
	 }},
	{"deaf-behind-a-data-out", "hears nothing more behind a Data-Out",
	 []() -> Breakages {
		 return {ignores(from_the_first(is({IscsiOpcode::DataOut}),
						true))};
	 }},

	/* Task management and logout. */
	{"task-management-unsupported", "answers 5 to every function",
	 []() -> Breakages {
		 return {sends(is({task_response}), response_is(5))};
	 }},
	{"all-functions-succeed",
	 "answers 0 to every task management function and does nothing",
	 []() -> Breakages {
		 return {succeeds(is({IscsiOpcode::TaskManagementRequest}),
				  task_response)};
	 }},
	{"task-management-nonsense", "answers 9, which means nothing",
	 []() -> Breakages {
		 return {sends(is({task_response}), response_is(9))};
	 }},
	{"refuses-logout", "answers 1 to every logout",
	 []() -> Breakages {
		 return {sends(is({IscsiOpcode::LogoutResponse}),
			       response_is(1))};
	 }},
	{"refuses-recovery-oddly", "answers 1 to a logout for recovery",
	 []() -> Breakages {
		 return {sends(pdu(refuses_recovery), response_is(1))};
	 }},
	{"ignores-logout", "answers no Logout Request",
	 []() -> Breakages {
		 return {ignores(is({IscsiOpcode::LogoutRequest}))};
	 }},

	/* Other PDUs. */
	{"withholds-rejects", "sends no Reject",
	 []() -> Breakages { return {withholds(is({IscsiOpcode::Reject}))}; }},
	{"wrong-reject-reason", "rejects with reason 9, whatever it was",
	 []() -> Breakages {
		 return {sends(is({IscsiOpcode::Reject}), response_is(9))};
	 }},
	{"reject-without-header", "sends a Reject without the BHS it is for",
	 []() -> Breakages {
		 return {sends(is({IscsiOpcode::Reject}), data_is({}))};
	 }},
	{"ignores-opcodes-of-a-target",
	 "passes over PDUs that only a target sends",
	 []() -> Breakages { return {ignores(pdu(of_a_target))}; }},
	{"ignores-iser-opcodes",
	 "passes over messages whose first nibble is not 1",
	 []() -> Breakages { return {ignores(is_not(iser_opcode(1)))}; }},
	{"minds-reserved-bits",
	 "ends the connection over a reserved bit of the iSER header",
	 []() -> Breakages { return {hangs_up_on(pdu(has_reserved_bits))}; }},
	{"ignores-solicited-events", "passes over a Send with Solicited Event",
	 []() -> Breakages { return {ignores(with_solicited_event())}; }},
	{"short-echo", "leaves out the last byte of an echo",
	 []() -> Breakages { return {sends(is({nop_in}), data_without(1))}; }},
	{"wrong-echo", "echoes one wrong byte",
	 []() -> Breakages { return {sends(is({nop_in}), data_shifted())}; }},
	{"long-echo", "echoes 4096 bytes to whom 128 were promised",
	 []() -> Breakages { return {sends(is({nop_in}), data_of_size(4096))}; }},
	{"two-echoes", "sends each NOP-In twice",
	 []() -> Breakages { return {doubles(is({nop_in}))}; }},
	{"echoes-unasked", "echoes a NOP-Out that wants no answer",
	 []() -> Breakages { return {echoes_unasked()}; }},
	{"deaf-behind-an-odd-nop",
	 "hears nothing more behind a NOP-Out that wants no answer",
	 []() -> Breakages {
		 return {ignores(from_the_first(pdu(asks_nothing), true))};
	 }},
	{"runs-any-cmd-sn", "carries out what is outside the command window",
	 []() -> Breakages { return {takes(outside_window(), make_immediate)}; }},

	/* Text. */
	{"ignores-text", "answers no Text Request",
	 []() -> Breakages {
		 return {ignores(is({IscsiOpcode::TextRequest}))};
	 }},
	{"tires-of-text", "answers no more than 50 Text Requests",
	 []() -> Breakages {
		 return {ignores(beyond(50, is({IscsiOpcode::TextRequest})))};
	 }},
	{"names-another-target", "answers SendTargets with another name",
	 []() -> Breakages {
		 return {sends(is({text_response}),
			       key_is("TargetName", "iqn.1999-01.none"))};
	 }},
	{"names-no-target", "answers SendTargets with nothing",
	 []() -> Breakages {
		 return {sends(is({text_response}), data_is({}))};
	 }},
	{"names-no-address", "leaves TargetAddress out",
	 []() -> Breakages {
		 return {sends(is({text_response}),
			       without_key("TargetAddress"))};
	 }},
	{"long-text", "sends text in PDUs of more than 512 bytes",
	 []() -> Breakages {
		 return {sends(is({text_response}),
			       key_added("TargetAddress", "192.0.2.1:3260,1",
					 20))};
	 }},
	{"wrong-text", "has one wrong byte in each Text Response",
	 []() -> Breakages { return {sends(is({text_response}),
					   data_shifted())}; }},
};

const std::vector<Sighting> sightings = {
	/* length */
	{"short-first-login", "ignores-short-messages", "nothing came"},
	{"short-first-login", "completes-short-messages",
	 "the login was refused"},
	{"short-second-login", "ignores-short-messages", "nothing came"},
	{"short-second-login", "completes-short-messages",
	 "the login was refused"},
	{"short-full-feature", "ignores-short-messages", "nothing came"},
	{"short-full-feature", "completes-short-messages", "a Reject came"},
	{"lie-first-login", "corrects-lies", "it was taken for good"},
	{"lie-later-login", "corrects-lies", "it was taken for good"},
	{"lie-command", "writes-one-block", "it was taken for good"},
	{"lie-command", "writes-all-the-same", "data on the LUN: wrong data"},
	{"lie-data-out", "ignores-lies", "nothing came"},
	{"lie-data-out", "writes-all-the-same", "data on the LUN: wrong data"},
	{"lie-text", "corrects-lies", "it was taken for good"},
	{"lie-nop-out", "corrects-lies", "it was taken for good"},
	{"lie-logout", "corrects-lies", "it was taken for good"},
	{"lie-task-management", "ignores-lies", "nothing came"},
	{"lie-ahs", "ignores-lies", "nothing came"},
	{"lie-ahs", "corrects-lies", "it was taken for good"},
	{"beyond-negotiated", "writes-one-block", "it was taken for good"},
	{"beyond-negotiated", "writes-all-the-same",
	 "data on the LUN: wrong data"},
	{"beyond-negotiated", "forgets-a-key",
	 "TargetRecvDataSegmentLength is 8192"},

	/* early, login */
	{"early-command", "ignores-early-commands", "nothing came"},
	{"stages", "grants-every-login", "it was taken for good"},
	{"broken-text", "grants-every-login", "it was taken for good"},
	{"unknown-target", "grants-every-login", "was accepted"},
	{"unknown-target", "refuses-without-a-reason",
	 "unknown target: the target refused the login"},
	{"no-rdma-extensions", "rdma-extensions-always", "was accepted"},
	{"unknown-key", "forgets-unknown-keys",
	 "was not answered with NotUnderstood"},
	{"iser-keys", "knows-no-key-of-iser",
	 "was answered with NotUnderstood"},
	{"chain", "forgets-a-key", "lacks a key"},
	{"rounds", "rdma-extensions-no", "was not answered Yes"},
	{"chain-and-transit", "grants-every-login", "it was taken for good"},
	{"endless-chain", "grants-every-login", "1.6 MB of login text"},
	{"other-opcodes", "ignores-others-before-login", "nothing came"},
	{"long-key-names", "grants-every-login", "it was taken for good"},
	{"many-unknown-keys", "grants-every-login", "it was taken for good"},
	{"many-unknown-keys", "never-hangs-up", "is still up"},

	/* chap */
	{"chap", "refuses-without-a-reason", "refused the login"},
	{"chap-secret", "grants-any-proof", "was accepted"},
	{"chap-secret", "refuses-without-a-reason",
	 "wrong secret: the target refused the login"},
	{"chap-name", "grants-any-proof", "was accepted"},
	{"chap-name", "refuses-without-a-reason",
	 "wrong CHAP name: the target refused the login"},
	{"chap-left-out", "grants-every-login", "was accepted"},
	{"chap-responses", "grants-any-proof", "it was taken for good"},
	{"chap-challenge", "grants-any-proof", "it was taken for good"},

	/* connection, stalled */
	{"drop-requested", "wears-out", "refuses the connection"},
	{"drop-requested", "logs-in-slowly", "a normal login took"},
	{"drop-replied", "wears-out", "refuses the connection"},
	{"drop-established", "wears-out", "refuses the connection"},
	{"drop-disconnected", "wears-out", "refuses the connection"},
	{"drop-logging-in", "wears-out", "refuses the connection"},
	{"drop-answered", "wears-out", "refuses the connection"},
	{"killed", "logs-in-slowly", "a normal login took"},
	{"reinstatement", "never-hangs-up", "is still up"},
	{"flood", "never-hangs-up", "is still up"},
	{"stalled-logins", "never-hangs-up", "are up after 20 s"},
	{"stalled-logins", "logs-in-slowly", "a normal login took"},

	/* data */
	{"reads", "wrong-read-data", "the data is wrong"},
	{"reads", "places-too-much", "the data is wrong"},
	{"reads", "always-a-residual", "a residual of 512"},
	{"reads", "two-responses", "other PDUs is 1, should be 0"},
	{"reads", "sends-data-in", "other PDUs is 1, should be 0"},
	{"no-data", "no-residual-count", "is 0, should be 512"},
	{"no-data", "no-residual-flags", "no underflow"},
	{"no-data", "places-too-much", "bytes outside the data"},
	{"no-data", "two-responses", "other PDUs"},
	{"short-read", "no-residual-count", "residual is 0, should be 4060"},
	{"short-read", "no-residual-flags", "U is not set"},
	{"short-read", "places-too-much", "bytes behind the INQUIRY data"},
	{"short-read", "wrong-read-data", "no INQUIRY data"},
	{"parallel", "mixes-reads-up", "was mixed up"},
	{"writes-silent", "reads-from-the-wrong-offset", "wrong data from"},
	{"writes-silent", "data-out-shifted", "wrong data from"},
	{"writes-silent", "immediate-data-shifted", "wrong data from"},
	{"writes-yes", "reads-from-the-wrong-offset", "wrong data from"},
	{"writes-no", "reads-from-the-wrong-offset", "wrong data from"},
	{"odd-immediate", "immediate-data-shifted", "wrong data from"},
	{"odd-immediate", "reads-from-the-wrong-offset", "wrong data from"},
	{"odd-data-out", "data-out-shifted", "wrong data from"},
	{"several-data-outs", "data-out-shifted", "wrong data from"},
	{"sixteen-mebibytes", "wrong-read-data", "the data is wrong"},
	{"sense", "good-status", "status of an unknown command is 0"},
	{"sense", "wrong-sense-key", "sense key is 4, should be 5"},
	{"sense", "long-sense", "sense beyond 128 bytes"},
	{"sense", "places-too-much", "a READ beyond the end gave data"},
	{"wrong-lun", "good-status", "is 0, should be 2"},
	{"wrong-lun", "wrong-sense-key", "sense key is 4, should be 5"},

	/* residual */
	{"read-residual", "no-residual-count", "is 0, should be 4096"},
	{"read-residual", "no-residual-flags", "U is not set"},
	{"read-residual", "places-too-much", "bytes outside the data"},
	{"read-residual", "wrong-read-data", "the data is wrong"},
	{"write-residual", "no-residual-count", "residual count is 0"},
	{"write-residual", "writes-all-the-same", "wrong data from"},
	{"write-residual", "wrong-sense-key", "sense key is 4"},
	{"immediate-beyond-edtl", "writes-one-block", "it was taken for good"},
	{"immediate-beyond-edtl", "writes-all-the-same", "wrong data from"},
	{"immediate-read", "ignores-commands", "got no answer"},
	{"flags", "ignores-commands", "got no answer"},
	{"flags", "writes-all-the-same", "wrong data from"},
	{"no-rsv", "all-commands-succeed", "it was taken for good"},
	{"no-wsv", "all-commands-succeed", "it was taken for good"},
	{"no-wsv", "writes-all-the-same", "wrong data from"},

	/* ahs */
	{"long-cdb", "immediate-data-shifted", "the data is wrong"},
	{"long-cdb", "loses-the-ahs", "reject"},
	{"unknown-long-cdb", "all-commands-succeed", "sense key of READ (32)"},
	{"unknown-long-cdb", "writes-all-the-same", "wrong data from"},
	{"bad-ahs", "all-commands-succeed", "it was taken for good"},
	{"bad-ahs", "writes-all-the-same", "wrong data from"},
	{"long-cdb-short", "all-commands-succeed", "it was taken for good"},
	{"longest-cdb", "all-commands-succeed", "it was taken for good"},
	{"longest-cdb", "hangs-up-on-commands", "the connection ended"},

	/* task */
	{"abort-waiting-write", "task-management-unsupported",
	 "response to ABORT TASK is 5"},
	{"late-data", "writes-all-the-same", "wrong data from"},
	{"late-data", "hangs-up-on-data-out", "the connection ended"},
	{"reset-waiting-write", "task-management-unsupported",
	 "is 5, should be 0"},
	{"logout-waiting-write", "refuses-logout", "is 1, should be 0"},
	{"logout-waiting-write", "never-hangs-up",
	 "does not close the connection after the logout"},
	{"drop-waiting-write", "wears-out", "refuses the connection"},
	{"disconnect-waiting-write", "dies-with-a-connection",
	 "refuses the connection"},
	{"write-from-nowhere", "never-hangs-up", "is still up"},
	{"write-from-nowhere", "writes-all-the-same", "wrong data from"},
	{"read-to-nowhere", "never-hangs-up", "is still up"},
	{"functions", "task-management-nonsense", "function 1 is 9"},
	{"functions", "task-management-unsupported", "is 5, should be 0"},
	{"cold-reset", "task-management-nonsense", "function 7 is 9"},
	{"abort-unknown", "all-functions-succeed", "is 0, should be 1"},
	{"reassign", "all-functions-succeed", "is 0"},
	{"unknown-function", "all-functions-succeed", "is 0"},
	{"logout-reasons", "refuses-logout", "is 1, should be 0"},
	{"logout-reasons", "refuses-recovery-oddly", "is 1, should be 2"},
	{"logout-no-reason", "ignores-logout", "nothing came"},
	{"logout-outstanding", "refuses-logout", "is 1, should be 0"},
	{"logout-outstanding", "never-hangs-up",
	 "does not close the connection after the logout"},

	/* protocol */
	{"login-in-full-feature", "withholds-rejects", "no Reject came"},
	{"login-in-full-feature", "wrong-reject-reason", "is 9, should be 4"},
	{"login-in-full-feature", "reject-without-header",
	 "does not carry the BHS"},
	{"snack", "withholds-rejects", "no Reject came"},
	{"snack", "wrong-reject-reason", "is 9, should be 4"},
	{"snack", "reject-without-header", "does not carry the BHS"},
	{"unknown-opcodes", "withholds-rejects", "no Reject came"},
	{"unknown-opcodes", "wrong-reject-reason", "is 9, should be 5"},
	{"unknown-opcodes", "reject-without-header", "does not carry the BHS"},
	{"target-opcodes", "ignores-opcodes-of-a-target", "nothing came"},
	{"iser-opcodes-login", "ignores-iser-opcodes", "nothing came"},
	{"iser-opcodes", "ignores-iser-opcodes", "nothing came"},
	{"reserved", "minds-reserved-bits", "the connection ended"},
	{"send-opcodes", "ignores-solicited-events", "nothing came"},
	{"pings", "short-echo", "was not echoed exactly"},
	{"pings", "wrong-echo", "was not echoed exactly"},
	{"pings", "two-echoes", "PDUs nobody asked for"},
	{"large-ping", "long-echo", "an echo of 4096 bytes"},
	{"large-ping", "wrong-echo", "is not the start of"},
	{"pings-without-answer", "echoes-unasked", "an echo of a ping that wants none"},
	{"pings-without-answer", "deaf-behind-an-odd-nop", "no answer"},
	{"answer-to-no-ping", "deaf-behind-an-odd-nop", "no answer"},
	{"data-out-no-command", "deaf-behind-a-data-out", "no answer"},
	{"data-out-ttt", "ignores-data-out", "nothing came"},
	{"data-out-ttt", "writes-all-the-same", "wrong data from"},
	{"data-out-beyond", "ignores-data-out", "nothing came"},
	{"data-out-beyond", "writes-all-the-same", "wrong data from"},
	{"data-out-forbidden", "all-commands-succeed",
	 "it was taken for good"},
	{"data-out-forbidden", "writes-all-the-same", "wrong data from"},
	{"immediate-forbidden", "immediate-data-always",
	 "it was taken for good"},
	{"immediate-forbidden", "writes-all-the-same", "wrong data from"},
	{"cmd-sn", "runs-any-cmd-sn", "outside the command window"},

	/* text */
	{"send-targets", "names-another-target", "does not name"},
	{"send-targets", "names-no-address", "no TargetAddress"},
	{"send-targets", "long-text", "to an initiator that may post 128"},
	{"send-targets-empty", "names-no-target", "does not name"},
	{"long-send-targets", "wrong-text", ""},
	{"discovery", "names-no-target", "number of targets found is 0"},
	{"discovery", "names-no-address", "has no address"},
	{"discovery", "refuses-logout", "is 1, should be 0"},
	{"small-discovery", "long-text",
	 "longer than MaxRecvDataSegmentLength"},
	{"small-discovery", "names-no-target", "number of targets found is 0"},
	{"abandoned-discovery", "wears-out", "refuses the connection"},
	{"discovery-commands", "ignores-commands", "nothing came"},
	{"odd-text", "ignores-text", "got no answer"},
	{"text-repeats", "tires-of-text", "no answer of the target"},
	{"text-ttt", "ignores-text", "got no answer"},

	/* hello */
	{"hello-before-login", "ignores-hello", "nothing came"},
	{"hello-required", "withholds-hello-reply", "no HelloReply came"},
	{"hello-required", "hello-reply-of-12-bytes", "is 12, should be 28"},
	{"hello-required", "hello-reply-version",
	 "the versions of the HelloReply is 17"},
	{"hello-required", "hello-always-rejects", "is 49, should be 48"},
	{"hello-required", "hello-reply-reserved", "reserved bits"},
	{"hello-required", "ord-of-16", "above the IRD"},
	{"hello-required", "reads-from-the-wrong-offset", "wrong data from"},
	{"hello-silent", "withholds-hello-reply", "no HelloReply came"},
	{"hello-declared-no", "never-hangs-up", "is still up"},
	{"hello-missing", "never-hangs-up", "is still up"},
	{"hello-twice", "never-hangs-up", "is still up"},
	{"hello-late", "never-hangs-up", "is still up"},
	{"hello-versions", "hello-never-rejects", "is 48, should be 49"},
	{"hello-versions", "never-hangs-up", "is still up"},
	{"hello-malformed", "ignores-hello", "nothing came"},
	{"hello-reserved", "ignores-hello", "was not answered"},
	{"hello-reserved", "hello-always-rejects", "was not answered"},
	{"hello-depths", "ord-of-16", "is 16, should be 1"},
	{"hello-no-reads", "ord-of-16", "is 16, should be 0"},
	{"hello-no-reads", "never-hangs-up", "is still up"},
	{"keys-unexpected-pdus", "declares-nothing", "did not declare"},
	{"keys-volunteered", "volunteers-keys", "was declared unasked"},

	/* The session that does nothing wrong, after every check. */
	{"innocent", "wrong-read-data", "innocent session's data: wrong data"},
	{"innocent", "answers-slowly", "was stalled"},
	{"innocent", "refuses-logout", "is 1, should be 0"},
};

} // namespace

const std::vector<Fault> &all_faults()
{
	return faults;
}

const std::vector<Sighting> &all_sightings()
{
	return sightings;
}

const Fault &find_fault(const std::string &name)
{
	for (const Fault &fault : faults)
		if (fault.name == name)
			return fault;
	throw Error("there is no fault " + name);
}

std::vector<Sighting> sightings_of(const std::string &check)
{
	std::vector<Sighting> found;

	std::copy_if(sightings.begin(), sightings.end(),
		     std::back_inserter(found),
		     [&](const Sighting &one) { return one.check == check; });
	return found;
}

} // namespace iserverify
