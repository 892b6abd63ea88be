// SPDX-License-Identifier: GPL-2.0
/* Data and responses of full feature phase, from LIO to the Datamover. */
#include "iser/task.h"
#include "iser/task_management.h"
#include "lio/command_fate.h"
#include "lio/connection.h"
#include "lio/registry.h"

namespace lio {

using base::Bytes;
using base::Error;
using base::MutexGuard;
using base::SpinGuard;
using iser::Bhs;

namespace {

/* How often tasks are looked at that a task management response waits for. */
constexpr unsigned int hold_poll_ms = 5;

/* Response of a Logout Response (RFC 7143 11.15.1). */
constexpr u8 logout_succeeded = 0;

di::DataDescriptor descriptor(const target_data &data, u32 offset, u32 length)
{
	return {
		.scatterlist = data.scatterlist,
		.entries = data.entries,
		.offset = offset,
		.length = length,
	};
}

} // namespace

/* Data of writes -------------------------------------------------------------- */

/* What did not come unsolicited is read from the initiator, burst by burst. */
void Connection::get_dataout(iscsit_cmd *cmd)
{
	Command &command = Command::of(cmd);
	target_data data;

	forget_awaiting(command);
	target_stop_data_timer(cmd);
	target_get_data(cmd, &data);
	command.offset = data.received;
	command.end = data.length;
	read_next_burst(command);
}

void Connection::read_next_burst(Command &command)
{
	const u32 length = iser::next_burst(command.offset, command.end,
					    burst_limit_);
	struct target_data data;

	if (length == 0) {
		command.phase = Command::Phase::Idle;
		target_write_complete(command.cmd());
		return;
	}
	target_get_data(command.cmd(), &data);
	command.phase = Command::Phase::Reading;
	command.task.alone = target_window_left(conn_) + 1 >=
			     session_.command_window;
	datamover_.get_data(command.task,
			    descriptor(data, command.offset, length),
			    command.offset);
}

/* Data of reads, and the status ------------------------------------------------- */

void Connection::queue_data_in(iscsit_cmd *cmd)
{
	Command &command = Command::of(cmd);
	target_data data;

	target_get_data(cmd, &data);
	command.offset = 0;
	command.end = data.length;
	write_next_burst(command);
}

void Connection::write_next_burst(Command &command)
{
	const u32 length = iser::next_burst(command.offset, command.end,
					    burst_limit_);
	const bool last = command.offset + length == command.end;
	struct target_data data;

	target_get_data(command.cmd(), &data);
	command.phase = Command::Phase::Writing;
	/* The last burst leaves together with the status. */
	if (length > 0)
		datamover_.put_data(command.task,
				    descriptor(data, command.offset, length),
				    command.offset, !last);
	if (last)
		send_status(command);
}

void Connection::data_completion_notify(iser::TaskResources &task, bool ok)
{
	Command &command = Command::of(task);

	if (command.phase == Command::Phase::Reading) {
		/* Failed: it waits for data for ever; wait_conn() frees it. */
		if (!ok)
			return;
		command.offset += command.task.data.local.length;
		read_next_burst(command);
		return;
	}
	if (!ok) {
		free_command(command.cmd());
		return;
	}
	command.offset += command.task.data.local.length;
	write_next_burst(command);
}

void Connection::queue_status(iscsit_cmd *cmd)
{
	send_status(Command::of(cmd));
}

void Connection::send_status(Command &command)
{
	release_buffer(command);

	MutexGuard guard(respond_mutex_);
	target_payload payload = {};
	Bhs bhs = {};

	target_build_status(conn_, command.cmd(), bhs.bytes(), &payload);
	respond(command, Command::Phase::Status, bhs, payload);
}

/* A zero-copy write is through with it, or the command has ended. */
void Connection::release_buffer(Command &command)
{
	rcap::Receive *buffer = command.held;

	if (!buffer)
		return;
	command.held = nullptr;
	datamover_.done(*buffer);
}

/* respond_mutex_ held, from before StatSN was given out. */
void Connection::respond(Command &command, Command::Phase phase, Bhs &bhs,
			 const target_payload &payload)
{
	iser::narrow_window(bhs, session_.command_window -
					 flow_control_.command_window);

	const u32 left = iser::window_left(bhs);

	command.task.alone = left >= flow_control_.command_window;
	if (left <= 1 && !widening_ &&
	    flow_control_.receives < flow_control_for_load_.receives) {
		widening_ = true;
		widen_.queue();
	}
	note_phase(command, phase);
	datamover_.send_control(command.task, bhs,
				Bytes(payload.data, payload.length));
}

void Connection::note_phase(Command &command, Command::Phase phase)
{
	/* Of a SCSI command nobody else looks at it; and there are many. */
	if (phase == Command::Phase::Status) {
		command.phase = phase;
		return;
	}
	SpinGuard guard(lock_);

	command.phase = phase;
	command.sending = phase == Command::Phase::Continue ||
			  phase == Command::Phase::Ping;
}

/*
 * An idle connection has few receive buffers.  This initiator would send more
 * than they let it; if there is no memory, it asks again.
 */
void Connection::widen_window()
{
	const Error error = datamover_.allocate_receives_for_load(
		flow_control_for_load_.receives - flow_control_.receives);
	MutexGuard guard(respond_mutex_);

	if (error == Error::None)
		flow_control_ = flow_control_for_load_;
	widening_ = false;
}

void Connection::note_reject(const Command &command, const Bhs &bhs)
{
	SpinGuard guard(lock_);

	if (command.unexpected)
		unexpected_.sent(base::SerialNumber(
			bhs.as<iser::AsyncMessagePdu>().stat_sn));
}

/* Other responses ----------------------------------------------------------------- */

/* LIO's transmit thread. */
Error Connection::response_queue(iscsit_cmd *cmd, target_state state)
{
	Command &command = Command::of(cmd);
	Command::Phase phase = Command::Phase::Control;
	target_payload payload = {};
	Bhs bhs = {};

	if (state == TARGET_SEND_STATUS) {
		send_status(command);
		return Error::None;
	}
	if (state == TARGET_SEND_TEXT_RESPONSE)
		return send_text(command);
	if (state == TARGET_SEND_TASK_MANAGEMENT_RESPONSE &&
	    hold_for_tasks(command))
		return Error::None;

	MutexGuard guard(respond_mutex_);

	switch (state) {
	case TARGET_SEND_LOGOUT_RESPONSE:
		target_build_logout(conn_, cmd, bhs.bytes());
		if (bhs.specific_2[0] == logout_succeeded)
			phase = Command::Phase::Logout;
		break;
	case TARGET_SEND_NOP_IN:
		target_build_nop_in(conn_, cmd, bhs.bytes(), true, &payload);
		break;
	case TARGET_SEND_TASK_MANAGEMENT_RESPONSE:
		target_build_task_management(conn_, cmd, bhs.bytes());
		break;
	case TARGET_SEND_REJECT:
		target_build_reject(conn_, cmd, bhs.bytes(), &payload);
		note_reject(command, bhs);
		break;
	case TARGET_SEND_ASYNC_MESSAGE:
		target_build_async(conn_, cmd, bhs.bytes());
		break;
	default:
		return Error::Invalid;
	}
	respond(command, phase, bhs, payload);
	return Error::None;
}

/*
 * Tasks that the request was about are not over: the core was through with them
 * before it came, but their responses have not left.
 */
bool Connection::affects_unfinished(Command &command)
{
	const auto matches = [](const target_task *task,
				const void *management) -> int {
		return iser::is_affected(
			{
				.itt = task->itt,
				.lun = task->lun,
				.cmd_sn = base::SerialNumber(task->cmd_sn),
				.in_order = !task->out_of_order,
			},
			*static_cast<const iser::TaskManagement *>(management));
	};
	target_task_result result;

	target_get_task_management(command.cmd(), &result);
	if (!result.by_core || !(result.carried_out || result.no_such_task))
		return false;
	const iser::TaskManagement management = {
		.function = static_cast<iser::TaskFunction>(result.function),
		.referenced_task_tag = result.referenced_task_tag,
		.lun = result.lun,
		.cmd_sn = base::SerialNumber(result.cmd_sn),
	};

	return target_any_scsi_command(conn_, matches, &management);
}

/*
 * With the response the initiator takes its buffers back, so no RDMA operation
 * of an affected task may still be to come (RFC 7145 8.3.2, RFC 7143 4.2.3.3).
 * The core leaves tasks alone whose data it has given out already.
 */
bool Connection::hold_for_tasks(Command &command)
{
	if (!affects_unfinished(command))
		return false;
	{
		SpinGuard guard(lock_);

		if (lost_)
			return false;
		held_.push_back(command);
	}
	hold_.queue(hold_poll_ms);
	return true;
}

void Connection::send_held()
{
	base::List<Command, &Command::held_node> held;
	{
		SpinGuard guard(lock_);

		held.take_all(held_);
	}
	while (Command *command = held.pop_front())
		static_cast<void>(response_queue(
			command->cmd(), TARGET_SEND_TASK_MANAGEMENT_RESPONSE));
}

/* The connection has ended: nothing is sent, and the core waits for them. */
void Connection::drop_held()
{
	for (;;) {
		Command *command;
		{
			SpinGuard guard(lock_);

			command = held_.pop_front();
		}
		if (!command)
			return;
		free_command(command->cmd());
	}
}

Error Connection::send_text(Command &command)
{
	MutexGuard guard(respond_mutex_);
	target_payload payload = {};
	Bhs bhs = {};

	if (int error = target_build_text(conn_, command.cmd(), bhs.bytes(),
					  &payload);
	    error < 0)
		return base::from_errno(error);
	const bool more = bhs.flags & iser::TextPdu::continue_bit;

	respond(command,
		more ? Command::Phase::Continue : Command::Phase::Control, bhs,
		payload);
	return Error::None;
}

/* LIO's transmit thread, what goes before responses. */
Error Connection::immediate_queue(iscsit_cmd *cmd, target_state state)
{
	Command &command = Command::of(cmd);
	target_payload payload = {};
	Bhs bhs = {};

	if (state == TARGET_REMOVE) {
		remove(command);
		return Error::None;
	}
	if (state != TARGET_SEND_NOP_IN_PING &&
	    state != TARGET_SEND_NOP_IN_NO_REPLY)
		return Error::Invalid;

	MutexGuard guard(respond_mutex_);
	const bool ping = state == TARGET_SEND_NOP_IN_PING;

	target_build_nop_in(conn_, cmd, bhs.bytes(), false, &payload);
	if (ping)
		target_mark_pinged(cmd);
	respond(command, ping ? Command::Phase::Ping : Command::Phase::Control,
		bhs, payload);
	return Error::None;
}

void Connection::control_sent(iser::TaskResources &task, bool ok)
{
	Command &command = Command::of(task);
	iscsit_cmd *cmd = command.cmd();

	switch (command.phase) {
	case Command::Phase::Continue:
	case Command::Phase::Ping:
		outlive(command);
		break;
	case Command::Phase::Logout:
		/* Not sent: LIO closes for the connection's loss instead. */
		if (ok)
			logout_sent(cmd);
		break;
	case Command::Phase::Control:
		free_findable(command);
		break;
	default:
		free_command(cmd);
		break;
	}
}

/* It may be a text's, and somebody be looking for it: take_up(). */
void Connection::free_findable(Command &command)
{
	{
		MutexGuard guard(text_mutex_);

		target_command_unlist(conn_, command.cmd());
	}
	free_command(command.cmd());
}

/* It lives on; LIO frees it, or the end of the connection. */
void Connection::outlive(Command &command)
{
	bool removed;
	bool waiting;
	{
		SpinGuard guard(lock_);

		command.sending = false;
		removed = command.removed;
		waiting = !parked_.empty();
	}
	if (removed)
		free_findable(command);
	else if (waiting)
		retry_.queue();
}

/* LIO gives it up; while its response is on its way it is still in use. */
void Connection::remove(Command &command)
{
	{
		SpinGuard guard(lock_);

		command.removed = command.sending;
		if (command.removed)
			return;
	}
	free_findable(command);
}

/* Waits until what it closes is closed: not in a completion worker. */
void Connection::logout_sent(iscsit_cmd *cmd)
{
	if (target_logout_closes(conn_, cmd)) {
		logout_queued_ = true;
		get();
	}
	logout_.queue();
}

/* If it closes another connection of the session, this one goes on. */
void Connection::logout_done()
{
	const bool closes = logout_queued_;
	iscsit_cmd *cmd;
	{
		SpinGuard guard(lock_);

		cmd = logout_cmd_;
	}
	target_logout_sent(conn_, cmd);
	if (closes)
		put();
	else
		free_command(cmd);
}

/* The fabric's end of a command; what waits for one may go on. */
void Connection::free_command(iscsit_cmd *cmd)
{
	target_command_state state;

	target_get_command_state(cmd, &state);
	if (core_never_had_it(state))
		target_command_put(cmd);
	target_command_free(conn_, cmd, false);
	/* If it is just being set, the PDU tries again by itself. */
	if (__atomic_load_n(&stalled_, __ATOMIC_RELAXED))
		retry_.queue();
}

/* From the core and LIO ------------------------------------------------------------- */

/*
 * The core gives the command up; it will free it itself.  No response will tell
 * that its place in the command window is free (RFC 7143 4.2.2.1): LIO forgets
 * that, and would let the initiator have one less outstanding from then on.
 */
void Connection::aborted_task(iscsit_cmd *cmd)
{
	target_advance_max_cmd_sn(conn_, cmd);
	target_command_aborted(conn_, cmd);
	forget(cmd);
}

void Connection::unmap_cmd(iscsit_cmd *cmd)
{
	forget(cmd);
}

/* It goes, and will not be ours any more. */
void Connection::forget(iscsit_cmd *cmd)
{
	Command &command = Command::of(cmd);

	release_buffer(command);
	if (!command.remembered)
		return;
	forget_awaiting(command);

	SpinGuard guard(lock_);

	if (logout_cmd_ == cmd)
		logout_cmd_ = nullptr;
}

} // namespace lio
