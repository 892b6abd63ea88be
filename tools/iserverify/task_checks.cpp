// SPDX-License-Identifier: GPL-2.0
/* Task management, logout, writes whose data never comes: F-25. */
#include "lab.h"

namespace iserverify {

namespace {

void abort_waiting_write(Lab &lab)
{
	WaitingWrite write(lab);
	Session &session = *write.session;
	std::uint8_t response = session.task_management(
		TaskManagement::AbortTask, 0, write.tag);

	expect(response == 0 || response == 1,
	       "response to ABORT TASK is " + std::to_string(response));
	session.forget(write.tag);
	expect_usable(session);
}

/* RFC 7143 11.5.1: data of an aborted task may be on its way. */
void late_data_of_an_aborted_write(Lab &lab)
{
	const ByteVector old = pattern(8192, 51);

	lab.write(Lab::scratch, old);

	WaitingWrite write(lab);
	Session &session = *write.session;

	expect_equal(session.task_management(TaskManagement::AbortTask, 0,
					     write.tag), 0,
		     "response to ABORT TASK");
	session.forget(write.tag);
	write.send_late_data();
	lab.expect_data(Lab::scratch, old, "data of the LUN");
	expect_usable(session);
}

void reset_with_waiting_write(Lab &lab)
{
	WaitingWrite write(lab);
	Session &session = *write.session;

	expect_equal(session.task_management(TaskManagement::LogicalUnitReset),
		     0, "response to LOGICAL UNIT RESET");
	session.forget(write.tag);
	expect_usable(session);
}

void logout_with_waiting_write(Lab &lab)
{
	WaitingWrite write(lab);

	expect_equal(write.session->logout(), 0, "response to the logout");
}

void drop_with_waiting_write(Lab &lab)
{
	for (int i = 0; i < 10; ++i)
		WaitingWrite write(lab);
	expect_usable(*lab.login());
}

void disconnect_with_waiting_write(Lab &lab)
{
	WaitingWrite write(lab);

	write.session->connection().disconnect();
	write.session.reset();
	expect_usable(*lab.login());
}

/* RDMA Read of memory that is not there: the connection ends, not more. */
void solicited_data_from_nowhere(Lab &lab)
{
	const ByteVector old = pattern(8192, 52);

	lab.write(Lab::scratch, old);

	auto session = lab.login({{"ImmediateData", "No"}});
	Pdu pdu = command_by_hand(*session, 0xa1, 8192,
					  write_cdb(Lab::scratch, 16));

	pdu.head.header.opcode_and_flags |=
		iser::ControlHeader::write_stag_valid;
	pdu.head.header.write_stag = 0xdeadbeef;
	pdu.head.header.write_base_offset = 0x1000;
	session->send(pdu);
	expect_closed(*session, "write from an STag that does not exist");
	lab.expect_data(Lab::scratch, old, "data of the LUN");
}

void read_data_to_nowhere(Lab &lab)
{
	auto session = lab.login();
	Pdu pdu = command_by_hand(*session, 0xc1, 8192,
					  read_cdb(Lab::scratch, 16));

	pdu.head.header.opcode_and_flags |=
		iser::ControlHeader::read_stag_valid;
	pdu.head.header.read_stag = 0xdeadbeef;
	session->send(pdu);
	expect_closed(*session, "read to an STag that does not exist");
}

std::string response_to(unsigned function, unsigned response)
{
	return "response to function " + std::to_string(function) + " is " +
	       std::to_string(response);
}

/* What LIO's core does about each is its own matter; that it answers, ours. */
void task_management_functions(Lab &lab)
{
	for (unsigned function = 1; function <= 6; ++function) {
		auto session = lab.login();
		unsigned response = session->task_management(
			static_cast<TaskManagement>(function));

		expect(response <= 6 || response == 255,
		       response_to(function, response));
		if (function == 5)
			expect_equal(response, 0u,
				     "response to LOGICAL UNIT RESET");
		expect_usable(*session);
	}
}

/* After it the target may close all of its connections. */
void target_cold_reset(Lab &lab)
{
	auto session = lab.login();
	unsigned response = session->task_management(
		TaskManagement::TargetColdReset);

	expect(response <= 6 || response == 255, response_to(7, response));
	if (response)
		expect_usable(*session);
}

void abort_of_an_unknown_task(Lab &lab)
{
	auto session = lab.login();

	expect_usable(*session);
	expect_equal(session->task_management(TaskManagement::AbortTask, 0,
					      0x77777777), 1,
		     "response to ABORT TASK for a task that does not exist");
	expect_usable(*session);
}

/* In the order of CmdSN, and nothing of it is left behind. */
void abort_that_is_not_immediate(Lab &lab)
{
	auto session = lab.login();
	Pdu pdu = session->make(IscsiOpcode::TaskManagementRequest);

	pdu.request().flags = 0x81;
	pdu.request().specific_20 = 0x77777777;
	session->send(pdu);

	const Pdu answer = session->receive(Milliseconds(10000));

	expect(answer.opcode() == IscsiOpcode::TaskManagementResponse,
	       "ABORT TASK that is not immediate got no response");
	expect_usable(*session);
	expect_equal(session->logout(), 0, "response to the logout");
}

void task_reassign(Lab &lab)
{
	auto session = lab.login();

	/* Reassignment, or the function, is not supported (RFC 7143 11.6.1). */
	const std::uint8_t response =
		session->task_management(TaskManagement::TaskReassign);

	expect(response == 4 || response == 5,
	       "response to TASK REASSIGN with ErrorRecoveryLevel 0 is " +
		       std::to_string(response));
	expect_usable(*session);
}

void unknown_function(Lab &lab)
{
	for (unsigned function : {0u, 9u, 127u}) {
		auto session = lab.login();
		Pdu pdu = session->make(IscsiOpcode::TaskManagementRequest,
					true);

		pdu.request().flags = static_cast<u8>(0x80 | function);
		pdu.request().specific_20 = iser::reserved_tag;
		session->send(pdu);

		Pdu answer = session->receive(Milliseconds(10000));

		if (answer.opcode() != IscsiOpcode::Reject) {
			unsigned response = answer.response().response;

			expect(answer.opcode() ==
			       IscsiOpcode::TaskManagementResponse &&
			       (response == 5 || response == 255),
			       response_to(function, response));
		}
		expect_usable(*session);
	}
}

void logout_reasons(Lab &lab)
{
	for (std::uint8_t reason : {0, 1})
		expect_equal(lab.login()->logout(reason), 0,
			     "response to a logout for reason " +
			     std::to_string(reason));
	/* 2: connection recovery is not supported (RFC 7143 11.15.1). */
	expect_equal(lab.login()->logout(2), 2,
		     "response to a logout for recovery");
}

void logout_for_no_reason(Lab &lab)
{
	auto session = lab.login();
	Pdu pdu = session->make(IscsiOpcode::LogoutRequest);

	pdu.request().flags = 0x80 | 99;
	pdu.request().specific_20 = 1u << 16;
	session->send(pdu);
	expect_outcome(outcome_of(*session), {Outcome::Closed,
					      Outcome::Rejected,
					      Outcome::Answered},
		       "logout for reason 99");
}

void logout_with_commands_outstanding(Lab &lab)
{
	auto session = lab.login();
	std::vector<ByteVector> buffers(16, ByteVector(65536));

	for (auto &buffer : buffers) {
		ScsiRequest request;

		request.cdb = read_cdb(0, 128);
		request.in = buffer;
		session->start(request);
	}
	expect_equal(session->logout(), 0, "response to the logout");
}

} // namespace

std::vector<Check> task_checks()
{
	return {
		{"task", "abort-waiting-write",
		 "F-25 ABORT TASK of a write that waits for data",
		 abort_waiting_write},
		{"task", "late-data",
		 "4.7 Data-Out of an aborted write is swallowed",
		 late_data_of_an_aborted_write},
		{"task", "reset-waiting-write",
		 "F-25 LOGICAL UNIT RESET while a write waits for data",
		 reset_with_waiting_write},
		{"task", "logout-waiting-write",
		 "F-25 logout while a write waits for data",
		 logout_with_waiting_write},
		{"task", "drop-waiting-write",
		 "F-25 connection dropped while a write waits for data",
		 drop_with_waiting_write},
		{"task", "disconnect-waiting-write",
		 "F-25 disconnect while a write waits for data",
		 disconnect_with_waiting_write},
		{"task", "write-from-nowhere",
		 "E5 RDMA Read of a wrong STag ends the connection",
		 solicited_data_from_nowhere},
		{"task", "read-to-nowhere",
		 "E5 RDMA Write to a wrong STag ends the connection",
		 read_data_to_nowhere},
		{"task", "functions", "task management functions 1 to 6",
		 task_management_functions},
		{"task", "cold-reset", "TARGET COLD RESET", target_cold_reset},
		{"task", "abort-unknown",
		 "ABORT TASK for an unknown task: response 1",
		 abort_of_an_unknown_task},
		{"task", "abort-numbered",
		 "B-019 ABORT TASK that is not immediate, and a logout",
		 abort_that_is_not_immediate},
		{"task", "reassign", "T-032 TASK REASSIGN: response 4 or 5",
		 task_reassign},
		{"task", "unknown-function", "unknown task management function",
		 unknown_function},
		{"task", "logout-reasons", "T-017 T-019 logout for reason 0, 1 and 2",
		 logout_reasons},
		{"task", "logout-no-reason", "logout for an unknown reason",
		 logout_for_no_reason},
		{"task", "logout-outstanding",
		 "logout with 16 commands outstanding",
		 logout_with_commands_outstanding},
	};
}

} // namespace iserverify
