// SPDX-License-Identifier: GPL-2.0
/*
 * The target core: references, execution, abort.  Whatever the core does in a
 * worker of its own is posted, so that it comes when the scheduler says so.
 */
#include <algorithm>
#include <cstring>

#include "host/host.h"
#include "loopback/lio.h"

using iser::IscsiOpcode;
using iser::TaskFunction;
using loopback::Disk;
using loopback::Scheduler;
using loopback::Segment;
using loopback::function_complete;
using loopback::no_such_task;

namespace {

constexpr u8 task_aborted = 0x40;
constexpr u8 check_condition = 0x02;
constexpr u32 page = 4096;

Scheduler &scheduler() { return Scheduler::instance(); }

/* What INQUIRY reads: no disk has it by accident. */
void inquire(iscsit_cmd &cmd)
{
	u8 next = 0;

	for (u32 i = 0; i < cmd.entries; ++i)
		for (u32 at = 0; at < cmd.data[i].length; ++at)
			cmd.data[i].data[at] = next++;
}

/* Reads or writes the disk; the data stands in pages of its own. */
void transfer(iscsit_cmd &cmd)
{
	if (cmd.request.as<iser::ScsiCommandPdu>().cdb[0] == 0x12) {
		inquire(cmd);
		return;
	}
	std::span<u8> disk = cmd.disk().at(
		cmd.lba, (cmd.data_length + Disk::block - 1) / Disk::block);
	size_t offset = 0;

	for (u32 i = 0; i < cmd.entries; ++i) {
		const Segment &segment = cmd.data[i];
		u8 *there = disk.data() + offset;

		if (cmd.write)
			std::memcpy(there, segment.data, segment.length);
		else
			std::memcpy(segment.data, there, segment.length);
		offset += segment.length;
	}
}

/* Ends @cmd in a worker of the core: target_abort_work(). */
void handle_abort(iscsit_cmd *cmd)
{
	++cmd->conn.lio.aborts;
	cmd->in_state_list = false;
	lio_aborted_task(cmd->conn.transport(), cmd);
	if (cmd->conn.lio.forget_aborted)
		return;
	if (cmd->put())
		host::die("an aborted command has no reference of the core");
	cmd->put();
}

/* target_complete_ok_work() */
void handle_complete(iscsit_cmd *cmd)
{
	cmd->in_state_list = false;
	if (cmd->status == 0 && !cmd->write && cmd->data_length > 0)
		lio_queue_data_in(cmd->conn.transport(), cmd);
	else
		cmd->queue_status();
	cmd->put();
}

} // namespace

/* target_init_cmd(), target_get_sess_cmd(): the fabric's and the core's. */
void iscsit_cmd::begin(bool tmr)
{
	if (conn.core_stopped)
		host::die("a command begins after target_stop_commands()");
	core = true;
	references = 2;
	++conn.core_commands;
	in_state_list = false;
	call_transport = tmr;
}

/* target_put_sess_cmd(); 1: it is gone. */
int iscsit_cmd::put()
{
	if (--references > 0)
		return 0;
	if (references < 0)
		host::die("a reference of a command is dropped twice");
	if (listed)
		host::die("a command goes that is on its connection's list");
	--conn.core_commands;
	if (released)
		*released = true;
	delete this;
	return 1;
}

/* transport_generic_new_cmd() */
void iscsit_cmd::new_command()
{
	if (!no_allocation) {
		for (u32 offset = 0; offset < data_length; offset += page) {
			const u32 length = std::min(page, data_length - offset);

			pages.emplace_back(new u8[length]());
			segments.push_back({pages.back().get(), length});
		}
		data = segments.data();
		entries = static_cast<u32>(segments.size());
	}
	in_state_list = true;
	if (!write || data_length == 0) {
		execute();
		return;
	}
	write_pending = true;
	/* lio_write_pending() */
	if (!immediate_data && !unsolicited)
		lio_get_dataout(conn.transport(), this);
}

/* target_execute_cmd(); the backstore takes its time. */
void iscsit_cmd::execute()
{
	write_pending = false;
	if (aborted) {
		scheduler().post([this] { handle_abort(this); });
		return;
	}
	const u32 longest = conn.lio.settings.disk_ms;

	scheduler().post([this] {
		if (data_length > 0)
			transfer(*this);
		complete(0);
	}, scheduler().chance(128) ? scheduler().random().below(longest + 1) :
				     longest);
}

/* target_complete_cmd() */
void iscsit_cmd::complete(u8 scsi_status)
{
	write_pending = false;
	if (aborted) {
		scheduler().post([this] { handle_abort(this); });
		return;
	}
	status = scsi_status;
	is_complete = true;
	scheduler().post([this] { handle_complete(this); });
}

/* The CDB cannot be executed; CHECK CONDITION in its turn. */
void iscsit_cmd::fail(u16 asc_ascq, u8 key)
{
	sense_key = key;
	sense_code = asc_ascq;
}

/* lio_queue_status() */
void iscsit_cmd::queue_status()
{
	if (sense_key)
		status = check_condition;
	if (status)
		conn.add_response(this, TARGET_SEND_STATUS);
	else
		lio_queue_status(conn.transport(), this);
}

/* target_tmr_work(): ABORT TASK and LOGICAL UNIT RESET. */
void iscsit_cmd::handle_tmr()
{
	std::vector<iscsit_cmd *> found;

	for (iscsit_cmd *cmd : conn.commands) {
		const bool meant = function == TaskFunction::AbortTask ?
					   cmd->itt == ref_tag : true;

		/* __target_check_io_state() */
		if (cmd->opcode != IscsiOpcode::ScsiCommand || !meant ||
		    !cmd->in_state_list || cmd->is_complete)
			continue;
		cmd->aborted = true;
		cmd->in_state_list = false;
		++cmd->references;
		found.push_back(cmd);
	}
	response = function == TaskFunction::AbortTask && found.empty() ?
			   no_such_task : function_complete;
	for (iscsit_cmd *cmd : found) {
		auto done = std::make_shared<bool>(false);

		/* target_put_cmd_and_wait() */
		cmd->released = done;
		cmd->put();
		scheduler().wait("an aborted command to end",
				 [done] { return *done; });
	}
	conn.add_response(this, TARGET_SEND_TASK_MANAGEMENT_RESPONSE);
	put();
}

/* port/target.h ------------------------------------------------------------ */

void target_write_complete(struct iscsit_cmd *cmd)
{
	cmd->received = cmd->data_length;
	cmd->got_last = true;
	cmd->execute();
}

int target_is_aborted(struct iscsit_cmd *cmd)
{
	return cmd->write_pending && cmd->aborted;
}

void target_complete_aborted(struct iscsit_cmd *cmd)
{
	cmd->complete(task_aborted);
}
