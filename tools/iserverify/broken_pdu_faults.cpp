// SPDX-License-Identifier: GPL-2.0
/* Task management, logout, NOP, Text, Reject; numbers and the window. */
#include "broken_faults.h"
#include "broken_parts.h"

namespace iserverify {

namespace {

constexpr auto nop_in = IscsiOpcode::NopIn;

/* A NOP-Out that wants no answer. */
bool asks_nothing(const Pdu &pdu)
{
	return pdu.opcode() == IscsiOpcode::NopOut &&
	       pdu.head.bhs.itt == iser::reserved_tag;
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

/* A Reject, or a SCSI Response without success. */
bool refuses(const Pdu &pdu)
{
	return pdu.opcode() == IscsiOpcode::Reject ||
	       (pdu.opcode() == IscsiOpcode::ScsiResponse &&
		(pdu.response().response || pdu.response().status));
}

When immediate_pings() { return both(nop_outs(), immediate()); }
When snacks() { return is({IscsiOpcode::SnackRequest}); }

void make_immediate(Pdu &pdu)
{
	pdu.head.bhs.opcode_and_immediate |= iser::Bhs::immediate_bit;
}

Change stat_sn_further_by(std::uint32_t count)
{
	return fields<ResponsePdu>([=](auto &response) {
		response.stat_sn = response.stat_sn + count;
	});
}

/* It wants an answer. */
void ask(Pdu &ping)
{
	ping.head.bhs.as<ResponsePdu>().ttt = 1;
}

/* A ping that, as if it were a response, has a StatSN of its own. */
void ask_out_of_number(Pdu &ping)
{
	ask(ping);
	stat_sn_further_by(1)(ping);
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

/* The last command ends behind each function, be it once more. */
Breakages responds_to_the_aborted()
{
	const auto tag = std::make_shared<std::uint32_t>(0);

	return {takes(commands(), [=](Pdu &pdu) { *tag = pdu.head.bhs.itt; }),
		sends_behind(task_responses(), IscsiOpcode::ScsiResponse,
			     [=](Pdu &pdu) { pdu.head.bhs.itt = *tag; })};
}

/* As if it were the one that the target waits for. */
Breakage takes_commands_as_they_come()
{
	return {.to_target = [](BrokenConnection &connection,
				Message &message) {
		if (!commands()(connection, message))
			return true;

		Pdu pdu = taken_apart(message);

		pdu.request().cmd_sn = connection.last_response().exp_cmd_sn;
		message.bytes = pdu.bytes();
		return true;
	}};
}

const std::vector<Fault> faults = {
	/* Task management and logout. */
	{"task-management-unsupported", "answers 5 to every function",
	 []() -> Breakages {
		 return {sends(task_responses(), response_is(5))};
	 }},
	{"all-functions-succeed",
	 "answers 0 to every task management function and does nothing",
	 []() -> Breakages {
		 return {succeeds(task_requests(),
				  IscsiOpcode::TaskManagementResponse)};
	 }},
	{"task-management-nonsense", "answers 9, which means nothing",
	 []() -> Breakages {
		 return {sends(task_responses(), response_is(9))};
	 }},
	{"ignores-numbered-functions",
	 "answers no task management that is not immediate",
	 []() -> Breakages {
		 return {ignores(both(task_requests(),
				      is_not(immediate())))};
	 }},
	{"responds-to-the-aborted",
	 "sends a SCSI Response behind task management that ended the task",
	 responds_to_the_aborted},
	{"refuses-logout", "answers 1 to every logout",
	 []() -> Breakages {
		 return {sends(logout_responses(),
			       response_is(1))};
	 }},
	{"refuses-recovery-oddly", "answers 1 to a logout for recovery",
	 []() -> Breakages {
		 return {sends(pdu(refuses_recovery), response_is(1))};
	 }},
	{"ignores-logout", "answers no Logout Request",
	 []() -> Breakages {
		 return {ignores(logout_requests())};
	 }},

	/* Reject. */
	{"withholds-rejects", "sends no Reject",
	 []() -> Breakages { return {withholds(rejects())}; }},
	{"wrong-reject-reason", "rejects with reason 9, whatever it was",
	 []() -> Breakages {
		 return {sends(rejects(), response_is(9))};
	 }},
	{"reject-without-header", "sends a Reject without the BHS it is for",
	 []() -> Breakages {
		 return {sends(rejects(), data_is({}))};
	 }},
	{"three-rejects", "sends each Reject three times",
	 []() -> Breakages {
		 return {doubles(rejects()), doubles(rejects())};
	 }},
	{"rejects-that-invalidate", "sends a Reject by Send with Invalidate",
	 []() -> Breakages { return {invalidates(rejects())}; }},
	{"tires-of-rejects", "rejects no more than 8 SNACKs",
	 []() -> Breakages { return {loses(beyond(8, snacks()))}; }},
	{"ignores-opcodes-of-a-target",
	 "passes over PDUs that only a target sends",
	 []() -> Breakages { return {ignores(pdu(of_a_target))}; }},

	/* NOP. */
	{"short-echo", "leaves out the last byte of an echo",
	 []() -> Breakages { return {sends(nop_ins(), data_without(1))}; }},
	{"wrong-echo", "echoes one wrong byte",
	 []() -> Breakages { return {sends(nop_ins(), data_shifted())}; }},
	{"long-echo", "echoes 4096 bytes to whom 128 were promised",
	 []() -> Breakages { return {sends(nop_ins(), data_of_size(4096))}; }},
	{"two-echoes", "sends each NOP-In twice",
	 []() -> Breakages { return {doubles(nop_ins())}; }},
	{"echoes-the-padding", "echoes the padding, too",
	 []() -> Breakages { return {sends(nop_ins(), data_of_size(64))}; }},
	{"echoes-unasked", "echoes a NOP-Out that wants no answer",
	 []() -> Breakages { return {echoes_unasked()}; }},
	{"deaf-behind-an-odd-nop",
	 "hears nothing more behind a NOP-Out that wants no answer",
	 []() -> Breakages {
		 return {ignores(from_the_first(pdu(asks_nothing), true))};
	 }},
	{"ignores-odd-nops", "passes over a NOP-Out that wants no answer",
	 []() -> Breakages { return {ignores(pdu(asks_nothing))}; }},
	{"answers-one-immediate-ping", "answers one immediate PDU, and no more",
	 []() -> Breakages { return {ignores(beyond(1, immediate_pings()))}; }},
	{"speaks-first", "sends a NOP-In behind each Login Response",
	 []() -> Breakages {
		 return {sends_behind(login_responses(), nop_in)};
	 }},
	{"pings-for-nothing", "sends a NOP-In that wants no answer",
	 []() -> Breakages { return {sends_behind(scsi_responses(), nop_in)}; }},
	{"numbers-its-pings", "gives a NOP-In of its own a StatSN",
	 []() -> Breakages {
		 return {sends_behind(scsi_responses(), nop_in,
				      ask_out_of_number)};
	 }},

	/* Numbers and the command window. */
	{"runs-any-cmd-sn", "carries out what is outside the command window",
	 []() -> Breakages { return {takes(outside_window(), make_immediate)}; }},
	{"takes-commands-as-they-come", "does not look at CmdSN",
	 []() -> Breakages { return {takes_commands_as_they_come()}; }},
	{"counts-nops-twice", "counts StatSN twice for a NOP-In",
	 []() -> Breakages {
		 return {sends(nop_ins(), stat_sn_further_by(1))};
	 }},
	{"exp-cmd-sn-behind", "leaves a NOP-Out out of ExpCmdSN",
	 []() -> Breakages {
		 return {sends(nop_ins(),
			       fields<ResponsePdu>([](auto &response) {
				       response.exp_cmd_sn =
					       response.exp_cmd_sn - 1;
			       }))};
	 }},
	{"window-goes-back", "takes room back that MaxCmdSN had granted",
	 []() -> Breakages {
		 return {sends(beyond(5, nop_ins()),
			       fields<ResponsePdu>([](auto &response) {
				       response.max_cmd_sn =
					       response.exp_cmd_sn - 1;
			       }))};
	 }},
	{"waits-for-what-it-refused",
	 "waits for the CmdSN of what it has refused",
	 []() -> Breakages { return {deaf_behind(pdu(refuses))}; }},

	/* Text. */
	{"ignores-text", "answers no Text Request",
	 []() -> Breakages {
		 return {ignores(text_requests())};
	 }},
	{"tires-of-text", "answers no more than 50 Text Requests",
	 []() -> Breakages {
		 return {ignores(beyond(50, text_requests()))};
	 }},
	{"agrees-to-text", "answers each Text Request with its own text",
	 []() -> Breakages {
		 return {replies(text_requests(), IscsiOpcode::TextResponse,
				 [](const Pdu &request, Pdu &answer) {
					 answer.data = request.data;
				 })};
	 }},
	{"text-that-invalidates",
	 "sends a Text Response by Send with Invalidate",
	 []() -> Breakages { return {invalidates(text_responses())}; }},
	{"names-another-target", "answers SendTargets with another name",
	 []() -> Breakages {
		 return {sends(text_responses(),
			       key_is("TargetName", "iqn.1999-01.none"))};
	 }},
	{"names-no-target", "answers SendTargets with nothing",
	 []() -> Breakages {
		 return {sends(text_responses(), data_is({}))};
	 }},
	{"names-no-address", "leaves TargetAddress out",
	 []() -> Breakages {
		 return {sends(text_responses(),
			       without_key("TargetAddress"))};
	 }},
	{"long-text", "sends text in PDUs of more than 512 bytes",
	 []() -> Breakages {
		 return {sends(text_responses(),
			       key_added("TargetAddress", "192.0.2.1:3260,1",
					 20))};
	 }},
};

} // namespace

std::vector<Fault> pdu_faults()
{
	return faults;
}

} // namespace iserverify
