// SPDX-License-Identifier: GPL-2.0
/* LIO's commands: what becomes of each PDU. */
#include <algorithm>
#include <cstring>

#include "host/host.h"
#include "loopback/lio.h"

using iser::Bhs;
using iser::IscsiOpcode;
using iser::TaskFunction;
using libiser::RequestPdu;
using loopback::Disk;
using loopback::Scheduler;
using loopback::bhs_of;
using loopback::no_such_task;
using loopback::not_supported;

namespace {

/* Sense keys and codes (SPC-4 4.5). */
constexpr u8 illegal_request = 0x05;
constexpr u16 invalid_operation = 0x2000;
constexpr u16 out_of_range = 0x2100;
constexpr u16 invalid_field = 0x2400;
constexpr u16 no_such_lun = 0x2500;

Scheduler &scheduler() { return Scheduler::instance(); }

RequestPdu &request_of(Bhs &bhs) { return bhs.as<RequestPdu>(); }

u32 big_endian(const u8 *bytes, u32 count)
{
	u32 value = 0;

	for (u32 i = 0; i < count; ++i)
		value = value << 8 | bytes[i];
	return value;
}

/* Of what LIO counts itself: a PDU that is no command of the target core. */
void begin_pdu(iscsit_cmd &cmd, u8 *bhs)
{
	RequestPdu &request = request_of(bhs_of(bhs));

	cmd.request = bhs_of(bhs);
	cmd.opcode = bhs_of(bhs).opcode();
	cmd.immediate = bhs_of(bhs).immediate();
	cmd.itt = request.itt;
	cmd.cmd_sn = request.cmd_sn;
}

} // namespace

iscsit_cmd::iscsit_cmd(iscsit_conn &owner)
	: conn(owner), memory((lio_command_size() + 7) / 8)
{
	++conn.lio.commands;
	++conn.session->tags_used;
}

/* iscsit_release_cmd() */
iscsit_cmd::~iscsit_cmd()
{
	*gone = true;
	conn.forget_queued(this);
	--conn.session->tags_used;
	--conn.lio.commands;
}

Disk &iscsit_cmd::disk() { return conn.lio.disk; }

void iscsit_cmd::list()
{
	conn.commands.push_back(this);
	listed = true;
}

void iscsit_cmd::unlist()
{
	if (listed)
		conn.commands.remove(this);
	listed = false;
}

/* iscsit_increment_maxcmdsn() */
void iscsit_cmd::count()
{
	if (immediate || counted)
		return;
	counted = true;
	++conn.session->max_cmd_sn;
}

/* iscsit_free_cmd() */
void iscsit_cmd::free(bool shutdown)
{
	if (listed)
		host::die("a command is freed that is on its list");
	if (shutdown)
		conn.forget_queued(this);
	lio_unmap_cmd(conn.transport(), this);
	if (!core) {
		delete this;
		return;
	}
	if (!put() && shutdown) {
		lio_unmap_cmd(conn.transport(), this);
		put();
	}
}

/* iscsit_sequence_cmd(); reliable connections keep the order of CmdSN. */
void iscsit_cmd::sequence()
{
	if (immediate) {
		take_turn();
		return;
	}
	if (cmd_sn != conn.session->exp_cmd_sn)
		host::die("a CmdSN is out of order");
	if (static_cast<s32>(conn.session->max_cmd_sn - cmd_sn) < 0)
		host::die("a command is beyond the window");
	++conn.session->exp_cmd_sn;
	take_turn();
}

/* iscsit_execute_cmd() */
void iscsit_cmd::take_turn()
{
	switch (opcode) {
	case IscsiOpcode::ScsiCommand:
		if (sense_key)
			queue_status();
		else if (!immediate_data)
			new_command();
		else if (got_last)
			execute();
		else if (!was_unsolicited && !aborted)
			lio_get_dataout(conn.transport(), this);
		break;
	case IscsiOpcode::NopOut:
		conn.add_response(this, TARGET_SEND_NOP_IN);
		break;
	case IscsiOpcode::TextRequest:
		conn.add_response(this, TARGET_SEND_TEXT_RESPONSE);
		break;
	case IscsiOpcode::LogoutRequest:
		conn.logout_pending = true;
		++conn.uses;
		conn.add_response(this, TARGET_SEND_LOGOUT_RESPONSE);
		break;
	default:
		host::die("a turn of what has none");
	}
}

/* target_cmd_parse_cdb(), target_cmd_size_check(). */
void iscsit_cmd::parse_cdb()
{
	const auto &scsi = request.as<iser::ScsiCommandPdu>();
	const u32 expected = scsi.expected_data_transfer_length;
	const u8 operation = scsi.cdb[0];
	u32 length = 0;

	write = scsi.write();
	data_length = expected;
	if (lun != 0) {
		fail(no_such_lun, illegal_request);
		return;
	}
	switch (operation) {
	case 0x00: /* TEST UNIT READY */
		break;
	case 0x12: /* INQUIRY */
		length = std::min(big_endian(scsi.cdb + 3, 2), Disk::block);
		break;
	case 0x28: /* READ (10) */
	case 0x2a: /* WRITE (10) */
		lba = big_endian(scsi.cdb + 2, 4);
		length = big_endian(scsi.cdb + 7, 2) * Disk::block;
		if (!disk().has(lba, length / Disk::block))
			fail(out_of_range, illegal_request);
		break;
	default:
		fail(invalid_operation, illegal_request);
		return;
	}
	if (length == expected)
		return;
	if (write)
		fail(invalid_field, illegal_request);
	overflow = length > expected;
	underflow = length < expected;
	residual = overflow ? length - expected : expected - length;
	data_length = std::min(length, expected);
}

/* port/target.h: commands -------------------------------------------------- */

struct iscsit_cmd *target_command_allocate(struct iscsit_conn *conn)
{
	if (conn->session->tags_used >= conn->lio.settings.tags)
		return nullptr;
	return new iscsit_cmd(*conn);
}

void *target_command_private(struct iscsit_cmd *cmd)
{
	return cmd->memory.data();
}

void target_get_command_state(struct iscsit_cmd *cmd,
			      struct target_command_state *out)
{
	*out = {
		.in_core = cmd->core,
		.scsi = cmd->opcode == IscsiOpcode::ScsiCommand,
		.by_lio = cmd->opcode == IscsiOpcode::TaskManagementRequest &&
			  !cmd->call_transport,
		.immediate = cmd->immediate,
		.out_of_order = false,
		.waiting = cmd->write_pending,
		.failed = cmd->sense_key != 0,
		.removed = cmd->to_remove,
		.response_queued = cmd->responses_queued > 0,
		.immediate_queued = cmd->immediates_queued > 0,
	};
}

void target_command_put(struct iscsit_cmd *cmd)
{
	cmd->put();
}

void target_command_unlist(struct iscsit_conn *, struct iscsit_cmd *cmd)
{
	cmd->unlist();
}

void target_command_free(struct iscsit_conn *, struct iscsit_cmd *cmd,
			 int wait)
{
	cmd->unlist();
	cmd->free(wait);
}

struct iscsit_cmd *
target_take_command(struct iscsit_conn *conn,
		    int (*wanted)(const struct target_command_state *state))
{
	for (iscsit_cmd *cmd : conn->commands) {
		target_command_state state;

		target_get_command_state(cmd, &state);
		if (wanted(&state)) {
			cmd->unlist();
			return cmd;
		}
	}
	return nullptr;
}

int target_use_up_cmd_sn(struct iscsit_conn *conn, u32 cmd_sn)
{
	if (cmd_sn != conn->session->exp_cmd_sn)
		return false;
	++conn->session->exp_cmd_sn;
	++conn->session->max_cmd_sn;
	return true;
}

u32 target_window_left(struct iscsit_conn *conn)
{
	return conn->session->max_cmd_sn - conn->session->exp_cmd_sn + 1;
}

void target_advance_max_cmd_sn(struct iscsit_conn *, struct iscsit_cmd *cmd)
{
	cmd->count();
}

void target_command_aborted(struct iscsit_conn *, struct iscsit_cmd *cmd)
{
	cmd->unlist();
}

void target_reject(struct iscsit_conn *conn, struct iscsit_cmd *cmd, u8 reason,
		   u8 *bhs)
{
	cmd->list();
	cmd->opcode = IscsiOpcode::Reject;
	cmd->immediate = true;
	cmd->reason = reason;
	cmd->buffer.assign(bhs, bhs + sizeof(Bhs));
	conn->add_response(cmd, TARGET_SEND_REJECT);
}

/* SCSI commands ------------------------------------------------------------ */

int target_scsi_setup(struct iscsit_conn *, struct iscsit_cmd *cmd, u8 *bhs,
		      struct target_scsi *out)
{
	const u32 length = bhs_of(bhs).data_segment_length;

	begin_pdu(*cmd, bhs);
	cmd->lun = bhs_of(bhs).lun[1];
	cmd->begin(false);
	cmd->immediate_data = length > 0;
	cmd->first_burst = length;
	cmd->parse_cdb();
	cmd->unsolicited = cmd->was_unsolicited =
		cmd->write && !bhs_of(bhs).final();
	cmd->list();
	out->immediate = cmd->immediate_data;
	out->immediate_length = cmd->first_burst;
	out->unsolicited = cmd->unsolicited;
	out->data_length = cmd->data_length;
	return 0;
}

void target_scsi_use_buffer(struct iscsit_cmd *cmd)
{
	cmd->no_allocation = true;
}

/* iscsit_process_scsi_cmd() */
int target_scsi_process(struct iscsit_conn *conn, struct iscsit_cmd *cmd, u8 *)
{
	if (!cmd->immediate_data) {
		const std::shared_ptr<bool> gone = cmd->gone;
		const bool failed = cmd->sense_key;

		cmd->sequence();
		/*
		 * LIO takes a lock, and looks at the command again.  Its memory
		 * is not freed, but may be another command's by then.
		 */
		if (conn->lio.settings.lock_ms > 0)
			scheduler().wait("a lock of LIO", nullptr,
					 scheduler().now() +
						 conn->lio.settings.lock_ms);
		conn->lio.looked_too_late += *gone;
		/* The core will not give up what it did not get. */
		if (failed)
			cmd->put();
		return 0;
	}
	if (cmd->sense_key)
		return 1;
	cmd->new_command();
	return 0;
}

void target_scsi_set_buffer(struct iscsit_cmd *cmd, void *scatterlist,
			    void *data, u32 length)
{
	cmd->data = static_cast<loopback::Segment *>(scatterlist);
	*cmd->data = {static_cast<u8 *>(data), length};
	cmd->entries = 1;
}

int target_copy_in(struct iscsit_cmd *cmd, u32 offset, const void *data,
		   u32 length)
{
	auto *from = static_cast<const u8 *>(data);

	if (offset > cmd->data_length)
		return 0;
	length = std::min(length, cmd->data_length - offset);
	for (u32 i = 0; i < cmd->entries && length > 0; ++i) {
		const loopback::Segment &segment = cmd->data[i];

		if (offset >= segment.length) {
			offset -= segment.length;
			continue;
		}
		const u32 part = std::min(segment.length - offset, length);

		std::memcpy(segment.data + offset, from, part);
		from += part;
		length -= part;
		offset = 0;
	}
	return length == 0;
}

void target_immediate_done(struct iscsit_cmd *cmd, u32 length)
{
	cmd->received += length;
	cmd->got_last = cmd->received >= cmd->data_length;
}

int target_scsi_sequence(struct iscsit_conn *, struct iscsit_cmd *cmd, u8 *)
{
	cmd->sequence();
	return 0;
}

void target_await_unsolicited(struct iscsit_cmd *) {}
void target_stop_data_timer(struct iscsit_cmd *) {}

void target_get_data(struct iscsit_cmd *cmd, struct target_data *out)
{
	out->scatterlist = cmd->data;
	out->entries = cmd->entries;
	out->length = cmd->data_length;
	out->received = cmd->received;
	out->write = cmd->write;
}

/* Data-Out ----------------------------------------------------------------- */

/* As linux/target.c has it: the latest one. */
static iscsit_cmd *find_listed(iscsit_conn &conn, u32 itt, IscsiOpcode opcode)
{
	const auto found = std::find_if(
		conn.commands.rbegin(), conn.commands.rend(),
		[=](const iscsit_cmd *cmd) {
			return cmd->itt == itt && cmd->opcode == opcode;
		});

	return found == conn.commands.rend() ? nullptr : *found;
}

struct iscsit_cmd *target_find_write(struct iscsit_conn *conn, u32 itt,
				     struct target_write *out)
{
	iscsit_cmd *cmd = find_listed(*conn, itt, IscsiOpcode::ScsiCommand);

	if (!cmd)
		return nullptr;
	out->write = cmd->write;
	out->unsolicited = cmd->unsolicited;
	out->waiting = cmd->write_pending;
	out->out_of_order = false;
	out->data_length = cmd->data_length;
	return cmd;
}

int target_data_out_check(struct iscsit_conn *, struct iscsit_cmd *cmd, u8 *bhs,
			  u32 length)
{
	const auto &data_out = bhs_of(bhs).as<iser::DataOutPdu>();

	if (cmd->got_last)
		return 0;
	if (data_out.buffer_offset != cmd->received ||
	    length > cmd->data_length - cmd->received)
		host::die("unsolicited data is out of order");
	return 1;
}

/* iscsit_check_dataout_payload() */
int target_data_out_done(struct iscsit_cmd *cmd, u8 *bhs)
{
	cmd->received += bhs_of(bhs).data_segment_length;
	if (!bhs_of(bhs).final())
		return 0;
	cmd->unsolicited = false;
	if (cmd->received == cmd->data_length) {
		cmd->got_last = true;
		cmd->execute();
	} else {
		lio_get_dataout(cmd->conn.transport(), cmd);
	}
	return 0;
}

/* The others --------------------------------------------------------------- */

int target_nop_out(struct iscsit_conn *conn, struct iscsit_cmd *cmd, u8 *bhs,
		   const void *data, u32 length)
{
	auto *bytes = static_cast<const u8 *>(data);

	if (cmd) {
		begin_pdu(*cmd, bhs);
		cmd->buffer.assign(bytes, bytes + length);
		cmd->list();
		cmd->sequence();
		return 0;
	}
	const u32 ttt = bhs_of(bhs).as<iser::NopPdu>().ttt;

	for (iscsit_cmd *ping : conn->commands)
		if (ping->ttt == ttt && !ping->to_remove) {
			ping->to_remove = true;
			conn->add_immediate(ping, TARGET_REMOVE);
			return 0;
		}
	return 0;
}

int target_text(struct iscsit_conn *, struct iscsit_cmd *cmd, u8 *bhs,
		const void *text, u32 length)
{
	auto *bytes = static_cast<const u8 *>(text);

	begin_pdu(*cmd, bhs);
	cmd->buffer.assign(bytes, bytes + length);
	/* Each part of an answer is asked for, and counts. */
	cmd->counted = false;
	if (!cmd->listed)
		cmd->list();
	cmd->sequence();
	return 0;
}

int target_text_is_of_one_target(struct iscsit_cmd *)
{
	return false;
}

int target_awaits_answer(struct iscsit_conn *conn, u32 ttt)
{
	return std::ranges::any_of(conn->commands, [ttt](iscsit_cmd *cmd) {
		return cmd->opcode == IscsiOpcode::NopIn && cmd->ttt == ttt &&
		       !cmd->to_remove;
	});
}

struct iscsit_cmd *target_find_text(struct iscsit_conn *conn, u32 itt)
{
	return find_listed(*conn, itt, IscsiOpcode::TextRequest);
}

/* iscsit_handle_task_mgt_cmd() */
int target_task_management(struct iscsit_conn *conn, struct iscsit_cmd *cmd,
			   u8 *bhs)
{
	RequestPdu &request = request_of(bhs_of(bhs));

	begin_pdu(*cmd, bhs);
	cmd->function = bhs_of(bhs).as<iser::TaskManagementPdu>().function();
	cmd->ref_tag = request.specific_20;
	cmd->begin(true);
	cmd->list();
	if (cmd->function == TaskFunction::AbortTask &&
	    !find_listed(*conn, cmd->ref_tag, IscsiOpcode::ScsiCommand)) {
		cmd->response = no_such_task;
		cmd->call_transport = false;
	} else if (cmd->function != TaskFunction::AbortTask &&
		   cmd->function != TaskFunction::LogicalUnitReset) {
		cmd->response = not_supported;
		cmd->call_transport = false;
	}
	if (cmd->call_transport) {
		scheduler().post([cmd] { cmd->handle_tmr(); });
		return 0;
	}
	conn->add_response(cmd, TARGET_SEND_TASK_MANAGEMENT_RESPONSE);
	cmd->put();
	return 0;
}

int target_logout(struct iscsit_conn *, struct iscsit_cmd *cmd, u8 *bhs)
{
	begin_pdu(*cmd, bhs);
	cmd->list();
	cmd->sequence();
	return 0;
}

int target_ping(struct iscsit_conn *conn)
{
	iscsit_cmd *cmd = target_command_allocate(conn);

	if (!cmd)
		return -12;
	cmd->opcode = IscsiOpcode::NopIn;
	cmd->immediate = true;
	cmd->ttt = conn->session->next_ttt++;
	cmd->list();
	conn->add_immediate(cmd, TARGET_SEND_NOP_IN_PING);
	return 0;
}
