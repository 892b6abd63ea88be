// SPDX-License-Identifier: GPL-2.0
/*
 * Requests that wait for their turn, come too late, or come again and again,
 * and a connection that ends then: F-16.
 */
#include <functional>

#include "lab.h"

namespace iserverify {

namespace {

/* No operation of that code. */
constexpr std::uint8_t unknown_operation = 0xff;
/* A logical unit that no target is likely to have. */
constexpr std::uint64_t absent_lun = 250;
constexpr unsigned rounds = 10;
/* More than a session of LIO has commands. */
constexpr unsigned too_many = 300;

/* In a session of the same name, which ends what is left of the last one. */
void expect_login(Lab &lab, const LoginOptions &options)
{
	Session session(lab.raw_connection());
	const RawConnection &connection = session.connection();
	const auto before = connection.now();

	session.login(options);
	expect_usable(session);
	expect(connection.now() - before < std::chrono::seconds(5),
	       "the login after that took over 5 s");
}

/* Each takes the place of the last one, which is busy as @make_busy left it. */
void again_and_again(Lab &lab,
		     const std::function<void(Session &session)> &make_busy)
{
	const LoginOptions options = lab.login_options();

	for (unsigned i = 0; i < rounds; ++i) {
		Session session(lab.raw_connection());

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

/* The same behind a CmdSN that was used already: dropped without a word. */
void late_task_management(Lab &lab)
{
	again_and_again(lab, [](Session &session) {
		expect_usable(session);

		Pdu pdu = session.make(IscsiOpcode::TaskManagementRequest);

		pdu.set_lun(absent_lun);
		pdu.request().flags = 0x85;
		pdu.request().specific_20 = iser::reserved_tag;
		pdu.request().cmd_sn = pdu.request().cmd_sn - 1;
		session.connection().send(pdu.bytes());
		expect_usable(session);
		expect_equal(session.unclaimed(), 0u, "the number of answers "
			     "to task management with an old CmdSN");
	});
}

/*
 * A reset that finds ORDERED commands which wait for each other: they have to
 * go, and all that comes after them has to be carried out, here and elsewhere.
 */
void reset_among_ordered_commands(Lab &lab)
{
	constexpr std::uint8_t ordered = 0x82; /* F, and the task attribute */
	constexpr std::uint8_t simple = 0x81;

	for (unsigned i = 0; i < rounds; ++i) {
		auto session = lab.login();
		Pdu reset = session->make(IscsiOpcode::TaskManagementRequest);
		const std::uint32_t first = reset.request().cmd_sn;
		std::uint32_t ahead = 0;

		expect_usable(*lab.login());
		for (std::uint8_t flags : {simple, ordered, ordered, simple,
					   ordered, simple}) {
			/* TEST UNIT READY; it waits for the reset's CmdSN. */
			Pdu pdu = command_by_hand(*session, flags, 0, {0});

			pdu.request().cmd_sn = first + ++ahead;
			session->connection().send(pdu.bytes());
		}
		reset.request().flags = 0x85; /* LOGICAL UNIT RESET */
		reset.request().specific_20 = iser::reserved_tag;
		reset.set_lun(lab.lun);
		session->connection().send(reset.bytes());

		const Pdu answer = session->receive_for(
			reset.head.bhs.itt, Milliseconds(8000));

		expect_equal(answer.response().response, 0,
			     "response to the reset");
		expect_usable(*lab.login());
	}
}

Pdu logout_request(Session &session, std::uint8_t reason, bool immediate)
{
	Pdu pdu = session.make(IscsiOpcode::LogoutRequest, immediate);

	pdu.request().flags = static_cast<u8>(0x80 | reason);
	pdu.request().specific_20 = 1u << 16; /* CID 1 */
	return pdu;
}

/* The first ones wait for their turn, and get it with the last one. */
void several_logouts(Lab &lab)
{
	for (std::uint8_t reason : {0, 1, 2})
		again_and_again(lab, [reason](Session &session) {
			Pdu first = logout_request(session, reason, false);

			for (unsigned ahead : {2, 1, 0}) {
				Pdu pdu = first;

				pdu.request().itt = first.request().itt + ahead;
				pdu.request().cmd_sn =
					first.request().cmd_sn + ahead;
				session.connection().send(pdu.bytes());
			}
			outcome_of(session, Milliseconds(500));
		});
}

/* None of them is carried out, and none may cost anything in the end. */
void vain_logouts(Lab &lab)
{
	constexpr std::uint8_t for_recovery = 2;
	constexpr std::uint8_t no_reason = 99;
	auto session = lab.login();

	for (unsigned i = 0; i < too_many; ++i) {
		const Pdu recovery = logout_request(*session, for_recovery,
						    true);

		session->send(recovery);
		expect_equal(session->receive_for(recovery.head.bhs.itt,
						  Milliseconds(8000))
				     .response().response, 2,
			     "response to a logout for recovery");
		session->send(logout_request(*session, no_reason, true));
		expect(session->receive_reject(Milliseconds(8000)).has_value(),
		       "no Reject of a logout for no reason");
	}
	expect_usable(*session);
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
		{"order", "late-task-management",
		 "F-16 the connection ends behind task management with an old "
		 "CmdSN, 10 times",
		 late_task_management},
		{"order", "reset-ordered",
		 "F-18 LOGICAL UNIT RESET among ORDERED commands, 10 times",
		 reset_among_ordered_commands},
		{"order", "several-logouts",
		 "F-16 three Logout Requests in one session, 30 times",
		 several_logouts},
		{"order", "vain-logouts",
		 "F-16 logouts that are not carried out, 600 times",
		 vain_logouts},
	};
}

} // namespace iserverify
