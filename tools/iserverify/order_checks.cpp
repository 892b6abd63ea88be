// SPDX-License-Identifier: GPL-2.0
/* Commands that wait for their turn when the connection ends, F-16. */
#include "lab.h"

namespace iserverify {

namespace {

/* No operation of that code. */
constexpr std::uint8_t unknown_operation = 0xff;
/* A logical unit that no target is likely to have. */
constexpr std::uint64_t absent_lun = 250;
constexpr unsigned rounds = 10;

/* In a session of the same name, which ends what is left of the last one. */
void expect_login(Lab &lab, const LoginOptions &options)
{
	const auto before = std::chrono::steady_clock::now();
	Session session(lab.connect_options());

	session.login(options);
	expect_usable(session);
	expect(std::chrono::steady_clock::now() - before <
	       std::chrono::seconds(5), "the login after that took over 5 s");
}

/* Each takes the place of the last one, which is busy as @make_busy left it. */
void again_and_again(Lab &lab, void (*make_busy)(Session &session))
{
	const LoginOptions options = lab.login_options();

	for (unsigned i = 0; i < rounds; ++i) {
		Session session(lab.connect_options());

		session.login(options);
		make_busy(session);
	}
	expect_login(lab, options);
}

/* It has failed, and its answer waits for the CmdSN that is left out. */
void failed_command_waits(Lab &lab)
{
	again_and_again(lab, [](Session &session) {
		Pdu pdu = command_by_hand(session, 0x80, 0,
					  {unknown_operation});

		pdu.request().cmd_sn = pdu.request().cmd_sn + 1;
		session.connection().send(pdu.bytes());
		/* An immediate ping: it has arrived. */
		pdu = session.make(IscsiOpcode::NopOut, true);
		pdu.request().specific_20 = iser::reserved_tag;
		session.send(pdu);
		outcome_of(session, Milliseconds(2000));
	});
}

/* Task management in its turn, that finds no logical unit or no task. */
void vain_task_management(Lab &lab)
{
	again_and_again(lab, [](Session &session) {
		Pdu pdu = session.make(IscsiOpcode::TaskManagementRequest);
		const std::uint32_t tag = pdu.request().itt;

		pdu.set_lun(absent_lun);
		pdu.request().flags = 0x85; /* LOGICAL UNIT RESET */
		pdu.request().specific_20 = iser::reserved_tag;
		session.send(pdu);

		const Pdu answer = session.receive_for(tag,
						       Milliseconds(8000));

		expect(answer.opcode() == IscsiOpcode::TaskManagementResponse,
		       "no Task Management Response came");
		expect_equal(answer.response().response, 2,
			     "response: LUN does not exist");
	});
}

} // namespace

std::vector<Check> order_checks()
{
	return {
		{"order", "failed-command-waits",
		 "F-16 the connection ends while a failed command waits for "
		 "its turn, 10 times",
		 failed_command_waits},
		{"order", "vain-task-management",
		 "F-16 the connection ends behind task management in its turn "
		 "for no LUN, 10 times",
		 vain_task_management},
	};
}

} // namespace iserverify
