// SPDX-License-Identifier: GPL-2.0
/*
 * PDUs of full feature phase, from the Datamover to LIO.  All of this runs in
 * the completion worker of the connection and never waits for a command: a PDU
 * that finds none is parked, and everything behind it (F-28).
 */
#include "iser/cdb.h"
#include "iser/command_order.h"
#include "iser/send_targets.h"
#include "iser/text.h"
#include "lio/connection.h"
#include "lio/registry.h"

namespace lio {

using base::Bytes;
using base::MutableBytes;
using base::SpinGuard;
using iser::AhsKind;
using iser::Bhs;
using iser::Cause;
using iser::IscsiOpcode;
using iser::RejectReason;
using iser::State;
using iser::TaskFunction;

namespace {

/* How soon a parked PDU is tried again when nothing calls for it earlier. */
constexpr unsigned int retry_ms = 10;
/* How often commands that wait for unsolicited data are looked at. */
constexpr unsigned int abort_poll_ms = 50;
/* Longest ping data that we echo: what Linux can receive (reference OQ-12). */
constexpr u32 longest_echo = 128;
constexpr u32 largest_ahs = 256;
/* The last reason of a logout that there is (RFC 7143 11.14.1). */
constexpr u8 logout_for_recovery = 2;

u8 code(RejectReason reason)
{
	return static_cast<u8>(reason);
}

} // namespace

/* Parking -------------------------------------------------------------------- */

/*
 * From the completion worker, or, for a parked PDU, from retry_parked(); what
 * is new waits while there is a parked one.  So PDUs pass one at a time.
 */
void Connection::control_notify(di::ControlPdu &pdu)
{
	bool behind;
	{
		SpinGuard guard(lock_);

		if (state_ != State::FullFeature)
			return;
		behind = !pdu.again && (retrying_ || !parked_.empty());
		if (behind)
			parked_.push_back(pdu.buffer);
	}
	if (!behind && !dispatch(pdu))
		park(pdu);
}

/* There is no command for it now; its turn comes first. */
void Connection::park(di::ControlPdu &pdu)
{
	Registry::instance().statistics().pdu_parked();
	{
		SpinGuard guard(lock_);

		parked_.push_front(pdu.buffer);
		__atomic_store_n(&stalled_, true, __ATOMIC_RELAXED);
	}
	retry_.queue(retry_ms);
}

void Connection::retry_parked()
{
	{
		SpinGuard guard(lock_);

		/* What was parked before is what this is about. */
		__atomic_store_n(&stalled_, false, __ATOMIC_RELAXED);
	}
	for (;;) {
		rcap::Receive *buffer = nullptr;
		{
			SpinGuard guard(lock_);

			if (state_ == State::FullFeature && !stalled_)
				buffer = parked_.pop_front();
			retrying_ = buffer;
		}
		/* Stalled: park() has queued the next try. */
		if (!buffer)
			return;
		datamover_.notify_again(*buffer);
	}
}

void Connection::drop_parked()
{
	SpinGuard guard(lock_);

	parked_.clear();
}

/* Dispatch -------------------------------------------------------------------- */

/* False: no command is free, so nothing was done. */
bool Connection::dispatch(di::ControlPdu &pdu)
{
	const IscsiOpcode opcode = pdu.bhs.opcode();

	if (discovery_ && opcode != IscsiOpcode::TextRequest &&
	    opcode != IscsiOpcode::LogoutRequest &&
	    opcode != IscsiOpcode::NopOut) {
		end(Cause::DiscoveryOpcode);
		return true;
	}
	switch (opcode) {
	case IscsiOpcode::ScsiCommand:
		return scsi_command(pdu);
	case IscsiOpcode::DataOut:
		data_out(pdu);
		return true;
	case IscsiOpcode::NopOut:
		return nop_out(pdu);
	case IscsiOpcode::TextRequest:
		return text(pdu);
	case IscsiOpcode::TaskManagementRequest:
		return task_management(pdu);
	case IscsiOpcode::LogoutRequest:
		return logout(pdu);
	case IscsiOpcode::LoginRequest:
	case IscsiOpcode::SnackRequest:
		/* RFC 7145 7.3.9, 7.3.11 */
		return reject_unexpected(pdu, RejectReason::ProtocolError);
	default:
		/* RFC 7143 11.17.1 */
		return reject(pdu, RejectReason::CommandNotSupported);
	}
}

/*
 * What is rejected is not sent again (RFC 7143 11.17.1), so without its CmdSN
 * nothing behind it would be in order.  LIO rejects before it counts.  False:
 * it is not the next one.
 */
bool Connection::count(const Bhs &bhs)
{
	/* At the same place in every request. */
	return iser::takes_cmd_sn(bhs) &&
	       target_use_up_cmd_sn(conn_,
				    bhs.as<iser::ScsiCommandPdu>().cmd_sn);
}

bool Connection::reject(di::ControlPdu &pdu, RejectReason reason)
{
	iscsit_cmd *cmd = target_command_allocate(conn_);

	if (!cmd)
		return false;
	reject_with(cmd, pdu, reason);
	return true;
}

/* Of a PDU that starts no task; silence where there is no room for it. */
bool Connection::reject_unexpected(di::ControlPdu &pdu, RejectReason reason)
{
	iscsit_cmd *cmd = target_command_allocate(conn_);
	bool room;

	if (!cmd)
		return false;
	{
		SpinGuard guard(lock_);

		/* At the same place in every PDU of an initiator. */
		unexpected_.acknowledge(base::SerialNumber(
			pdu.bhs.as<iser::ScsiCommandPdu>().exp_stat_sn));
		room = unexpected_.take();
	}
	if (room) {
		Command::of(cmd).unexpected = true;
		reject_with(cmd, pdu, reason);
		return true;
	}
	Registry::instance().statistics().reject_suppressed();
	target_command_free(conn_, cmd, false);
	datamover_.done(pdu.buffer);
	return true;
}

void Connection::reject_with(iscsit_cmd *cmd, di::ControlPdu &pdu,
			     RejectReason reason)
{
	count(pdu.bhs);
	target_reject(conn_, cmd, code(reason), pdu.bhs.bytes());
	datamover_.done(pdu.buffer);
}

/* SCSI commands ----------------------------------------------------------------- */

bool Connection::scsi_command(di::ControlPdu &pdu)
{
	/* LIO reads an AHS right behind the BHS. */
	u8 with_ahs[sizeof(Bhs) + largest_ahs];
	auto &request = pdu.bhs.as<iser::ScsiCommandPdu>();
	const MutableBytes ahs =
		MutableBytes(with_ahs).from(sizeof(Bhs)).first(
			pdu.layout.ahs_length);
	const u32 unsolicited =
		iser::unsolicited_length(request, first_burst_length_);
	u8 *bhs = pdu.bhs.bytes();

	if (const Cause cause =
		    iser::check_mapping(request, unsolicited, pdu.mapping);
	    cause != Cause::None) {
		end(cause);
		return true;
	}
	if (!pdu.copy_ahs(ahs)) {
		end(Cause::AhsMalformed);
		return true;
	}
	const iser::AhsCheck checked = iser::check_ahs(ahs);

	if (checked.kind == AhsKind::Unsupported)
		return reject(pdu, RejectReason::CommandNotSupported);
	if (checked.kind == AhsKind::Malformed ||
	    iser::flags_contradict_cdb(request) ||
	    (pdu.data_length() > 0 && !request.write()) ||
	    !iser::cdb_is_whole(request.cdb, checked.extended_cdb.length))
		return reject(pdu, RejectReason::InvalidPduField);

	iscsit_cmd *cmd = target_command_allocate(conn_);

	if (!cmd)
		return false;
	Command &command = Command::of(cmd);

	command.task.mapping = pdu.mapping;
	command.task.unsolicited = unsolicited;
	if (pdu.layout.ahs_length > 0) {
		base::copy(with_ahs, {bhs, sizeof(Bhs)});
		bhs = with_ahs;
	}
	run_scsi_command(cmd, pdu, bhs);
	return true;
}

/*
 * LIO takes it step by step.  Once it is in order it may have run and be gone,
 * so nothing of the command is touched after that.
 */
void Connection::run_scsi_command(iscsit_cmd *cmd, di::ControlPdu &pdu,
				  u8 *bhs)
{
	Command &command = Command::of(cmd);
	rcap::Receive &buffer = pdu.buffer;
	target_scsi scsi;
	bool dropped;
	bool held = false;

	if (target_scsi_setup(conn_, cmd, bhs, &scsi) < 0) {
		count(pdu.bhs);
		datamover_.done(buffer);
		return;
	}
	const u32 immediate = scsi.immediate ? scsi.immediate_length : 0;

	if (immediate > 0 && immediate == scsi.data_length &&
	    !pdu.data_in_place().empty() && pdu.layout.data_offset == 0) {
		/* All of it is here, and aligned: let it lie. */
		target_scsi_use_buffer(cmd);
		command.held = &buffer;
		held = true;
	}
	/* Before: it may have failed, and be gone, when the next returns. */
	if (scsi.unsolicited)
		await_unsolicited(command);
	const int result = target_scsi_process(conn_, cmd, bhs);

	if (result < 0 || immediate == 0) {
		datamover_.done(buffer);
		return;
	}
	dropped = result > 0;
	if (dropped && held) {
		command.held = nullptr;
		held = false;
	}
	/* Without its data it must not run; wait_conn() frees it. */
	if (!dropped && !place_immediate_data(command, pdu, immediate))
		return;

	const int order = target_scsi_sequence(conn_, cmd, bhs);

	if (order == 0 && !dropped && scsi.unsolicited)
		target_await_unsolicited(cmd);
	else if (dropped)
		target_command_put(cmd);
	if (!held)
		datamover_.done(buffer);
}

bool Connection::place_immediate_data(Command &command, di::ControlPdu &pdu,
				      u32 length)
{
	const MutableBytes data = pdu.data_in_place();

	if (command.held) {
		target_scsi_set_buffer(command.cmd(), command.scatterlist,
				       data.data(), length);
	} else if (!data.empty()) {
		target_copy_in(command.cmd(), 0, data.data(), length);
	} else {
		/* Behind an AHS the data may lie in two pieces. */
		void *joined = port_alloc(length, PORT_MAY_SLEEP);

		if (!joined || !pdu.copy_data({static_cast<u8 *>(joined),
					       length})) {
			port_free(joined);
			end(Cause::OutOfMemory);
			return false;
		}
		target_copy_in(command.cmd(), 0, joined, length);
		port_free(joined);
	}
	target_immediate_done(command.cmd(), length);
	return true;
}

/* Unsolicited data (RFC 7143 11.7). */
void Connection::data_out(di::ControlPdu &pdu)
{
	const auto &request = pdu.bhs.as<iser::DataOutPdu>();
	const Bytes data = pdu.data_in_place();
	target_write write = {};

	/* Solicited data never comes in a PDU (RFC 7145 7.3.6). */
	if (request.ttt != iser::reserved_tag ||
	    data.size() != pdu.data_length()) {
		end(Cause::UnexpectedDataOut);
		return;
	}
	base::MutexGuard excluding_aborts(data_out_mutex_);
	iscsit_cmd *cmd = target_find_write(conn_, request.itt, &write);

	if (cmd && write.write && (!write.unsolicited || write.out_of_order)) {
		end(Cause::UnexpectedDataOut);
		return;
	}
	/* Of a task that was aborted or has failed already, or nothing. */
	if (data.empty() || !cmd || !write.waiting) {
		Registry::instance().statistics().data_out_dropped();
		datamover_.done(pdu.buffer);
		return;
	}
	const u32 length = static_cast<u32>(data.size());

	/* LIO adds them up in 32 bits. */
	if (request.buffer_offset > write.data_length ||
	    length > write.data_length - request.buffer_offset) {
		end(Cause::UnexpectedDataOut, "beyond the end of its write");
		return;
	}
	/* With the last one it goes on, and may be gone at once. */
	if (pdu.bhs.final())
		forget_awaiting(Command::of(cmd));
	if (target_data_out_check(conn_, cmd, pdu.bhs.bytes(), length) > 0 &&
	    target_copy_in(cmd, request.buffer_offset, data.data(), length))
		target_data_out_done(cmd, pdu.bhs.bytes());
	datamover_.done(pdu.buffer);
}

/*
 * Unsolicited data is due.  Task management may end the command meanwhile
 * (F-25), and no one else will tell the core that the data is not coming.
 */
void Connection::await_unsolicited(Command &command)
{
	command.remembered = true;
	{
		SpinGuard guard(lock_);

		if (!command.awaiting_node.linked())
			awaiting_.push_back(command);
	}
	aborts_.queue(abort_poll_ms);
}

void Connection::forget_awaiting(Command &command)
{
	if (!command.remembered)
		return;

	SpinGuard guard(lock_);

	if (command.awaiting_node.linked())
		awaiting_.remove(command);
}

void Connection::complete_aborted()
{
	base::MutexGuard excluding_data(data_out_mutex_);
	bool more = false;

	for (;;) {
		iscsit_cmd *aborted = nullptr;
		{
			SpinGuard guard(lock_);

			for (Command &command : awaiting_)
				if (target_is_aborted(command.cmd())) {
					aborted = command.cmd();
					awaiting_.remove(command);
					break;
				}
			more = !awaiting_.empty();
		}
		if (!aborted)
			break;
		target_complete_aborted(aborted);
	}
	if (more)
		aborts_.queue(abort_poll_ms);
}

/* The others ---------------------------------------------------------------------- */

bool Connection::nop_out(di::ControlPdu &pdu)
{
	const auto &request = pdu.bhs.as<iser::NopPdu>();
	u8 echo[longest_echo];
	const u32 length = pdu.data_length() < longest_echo ?
				   pdu.data_length() : longest_echo;
	const bool answer = request.ttt != iser::reserved_tag;
	iscsit_cmd *cmd = nullptr;

	/*
	 * What LIO would reject without a command of ours: it would wait for
	 * a tag, here in the completion worker (F-28).
	 */
	if (answer && (request.itt != iser::reserved_tag ||
		       !pdu.bhs.final() || !pdu.bhs.immediate()))
		return reject(pdu, RejectReason::ProtocolError);
	if (!pdu.copy_data(MutableBytes(echo).first(length))) {
		end(Cause::LengthLies);
		return true;
	}
	/*
	 * An answer to a ping of ours needs no command of its own.  LIO takes
	 * any command with that tag for the ping, and ends it with each answer.
	 */
	if (answer && !target_awaits_answer(conn_, request.ttt)) {
		datamover_.done(pdu.buffer);
		return true;
	}
	if (!answer) {
		cmd = target_command_allocate(conn_);
		if (!cmd)
			return false;
	}
	if (target_nop_out(conn_, cmd, pdu.bhs.bytes(), echo, length) < 0)
		count(pdu.bhs);
	datamover_.done(pdu.buffer);
	return true;
}

/*
 * A Text Request goes on with its task, @cmd.  Only one that has answered in
 * part may be asked for more, and once: LIO would answer any, at any time.
 */
Connection::TextTask Connection::take_up(u32 itt, iscsit_cmd *&cmd)
{
	base::MutexGuard excluding_its_end(text_mutex_);

	cmd = target_find_text(conn_, itt);
	if (!cmd)
		return TextTask::None;

	Command &command = Command::of(cmd);
	SpinGuard guard(lock_);

	if (command.phase != Command::Phase::Continue)
		return TextTask::Answering;
	if (command.sending)
		return TextTask::Sending;
	/*
	 * LIO looks at the request's text once more when it goes on with such
	 * an answer, but has freed it by then.
	 */
	if (target_text_is_of_one_target(cmd))
		return TextTask::Unfit;
	command.phase = Command::Phase::Idle;
	return TextTask::Waiting;
}

bool Connection::text(di::ControlPdu &pdu)
{
	const auto &request = pdu.bhs.as<iser::TextPdu>();
	const Bytes data = pdu.data_in_place();
	iscsit_cmd *cmd;

	if (data.size() != pdu.data_length()) {
		end(Cause::LengthLies);
		return true;
	}
	if (request.ttt == iser::reserved_tag) {
		cmd = target_command_allocate(conn_);
		if (!cmd)
			return false;
	} else {
		const TextTask at = take_up(request.itt, cmd);

		if (at == TextTask::Sending)
			return false;
		if (at == TextTask::Unfit)
			return reject(pdu, RejectReason::CommandNotSupported);
		if (at != TextTask::Waiting)
			return reject(pdu, RejectReason::ProtocolError);
	}
	if (session_.target_name && iser::asks_for_own_target(data))
		text_for_own_target(cmd, pdu);
	else
		take_text(cmd, pdu, data);
	datamover_.done(pdu.buffer);
	return true;
}

void Connection::take_text(iscsit_cmd *cmd, di::ControlPdu &pdu, Bytes text)
{
	if (target_text(conn_, cmd, pdu.bhs.bytes(), text.data(),
			static_cast<u32>(text.size())) < 0)
		count(pdu.bhs);
}

/* LIO wants it by name. */
void Connection::text_for_own_target(iscsit_cmd *cmd, di::ControlPdu &pdu)
{
	u8 buffer[256];
	iser::TextWriter writer(buffer);

	writer.append("SendTargets", session_.target_name);
	pdu.bhs.data_segment_length = static_cast<u32>(writer.text().size());
	take_text(cmd, pdu, writer.text());
}

bool Connection::task_management(di::ControlPdu &pdu)
{
	iscsit_cmd *cmd = target_command_allocate(conn_);

	if (!cmd)
		return false;
	/*
	 * One that is not immediate and that LIO answers itself, for a task
	 * that is gone say, keeps a reference for ever, and the connection's
	 * end waits for it.  Immediate ones do not.
	 */
	if (pdu.bhs.as<iser::TaskManagementPdu>().function() !=
		    TaskFunction::TaskReassign && count(pdu.bhs))
		pdu.bhs.set_immediate();
	if (target_task_management(conn_, cmd, pdu.bhs.bytes()) < 0)
		count(pdu.bhs);
	datamover_.done(pdu.buffer);
	return true;
}

bool Connection::logout(di::ControlPdu &pdu)
{
	bool another;
	{
		SpinGuard guard(lock_);

		another = logout_cmd_;
	}
	/* LIO would say nothing, and keep the command. */
	if ((pdu.bhs.flags & ~Bhs::final_bit) > logout_for_recovery)
		return reject(pdu, RejectReason::InvalidPduField);
	/*
	 * Nothing may follow a Logout Request (RFC 7143 11.14).  LIO would hold
	 * the connection once for each that it carries out, and let go of it
	 * for one.
	 */
	if (another)
		return reject(pdu, RejectReason::ProtocolError);

	iscsit_cmd *cmd = target_command_allocate(conn_);

	if (!cmd)
		return false;
	Command::of(cmd).remembered = true;
	{
		SpinGuard guard(lock_);

		logout_cmd_ = cmd;
	}
	if (target_logout(conn_, cmd, pdu.bhs.bytes()) < 0)
		count(pdu.bhs);
	datamover_.done(pdu.buffer);
	return true;
}

} // namespace lio
