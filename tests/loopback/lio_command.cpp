// SPDX-License-Identifier: GPL-2.0
/* LIO's commands: what becomes of each PDU, and its response. */
#include <algorithm>
#include <cstring>

#include "host/host.h"
#include "loopback/lio.h"

using iser::Bhs;
using iser::IscsiOpcode;
using libiser::RequestPdu;
using libiser::ResponsePdu;
using loopback::Disk;
using loopback::Scheduler;

namespace {

/* Sense keys and codes (SPC-4 4.5). */
constexpr u8 illegal_request = 0x05;
constexpr u16 invalid_operation = 0x2000;
constexpr u16 out_of_range = 0x2100;
constexpr u16 invalid_field = 0x2400;
constexpr u16 no_such_lun = 0x2500;

constexpr u8 abort_task = 1;
constexpr u8 logical_unit_reset = 5;
/* Responses of task management (RFC 7143 11.6.1). */
constexpr u8 function_complete = 0;
constexpr u8 no_such_task = 1;
constexpr u8 not_supported = 5;

Scheduler &scheduler() { return Scheduler::instance(); }

RequestPdu &request_of(Bhs &bhs) { return bhs.as<RequestPdu>(); }
Bhs &bhs_of(u8 *bytes) { return *reinterpret_cast<Bhs *>(bytes); }

u32 big_endian(const u8 *bytes, u32 count)
{
	u32 value = 0;

	for (u32 i = 0; i < count; ++i)
		value = value << 8 | bytes[i];
	return value;
}

/* What all responses have; the next StatSN, unless it only shows it. */
ResponsePdu &begin_response(iscsit_conn &conn, iscsit_cmd &cmd, u8 *bhs,
			    IscsiOpcode opcode, bool counts = true)
{
	auto &response = bhs_of(bhs).as<ResponsePdu>();

	cmd.count();
	std::memset(bhs, 0, sizeof(Bhs));
	response.opcode = static_cast<u8>(opcode);
	response.flags = Bhs::final_bit;
	response.itt = cmd.itt;
	response.stat_sn = counts ? conn.stat_sn++ : conn.stat_sn;
	response.exp_cmd_sn = conn.session->exp_cmd_sn;
	response.max_cmd_sn = conn.session->max_cmd_sn;
	++conn.lio.responses;
	return response;
}

/* @buffer is the data segment, padded. */
void set_payload(ResponsePdu &response, std::vector<u8> &buffer,
		 target_payload *out)
{
	response.data_segment_length = static_cast<u32>(buffer.size());
	buffer.resize((buffer.size() + 3) & ~size_t{3});
	out->data = buffer.data();
	out->length = static_cast<u32>(buffer.size());
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

/* port/target.h: commands ------------------------------------------------------------ */

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

/* SCSI commands ------------------------------------------------------------------------ */

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
int target_scsi_process(struct iscsit_conn *, struct iscsit_cmd *cmd, u8 *)
{
	if (!cmd->immediate_data) {
		const bool failed = cmd->sense_key;

		cmd->sequence();
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

/* Data-Out -------------------------------------------------------------------------------- */

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

struct iscsit_cmd *target_find_command(struct iscsit_conn *conn, u32 itt)
{
	return find_listed(*conn, itt, IscsiOpcode::ScsiCommand);
}

void target_get_write(struct iscsit_cmd *cmd, struct target_write *out)
{
	out->write = cmd->write;
	out->unsolicited = cmd->unsolicited;
	out->waiting = cmd->write_pending;
	out->out_of_order = false;
	out->data_length = cmd->data_length;
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

/* The others --------------------------------------------------------------------------------- */

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
	cmd->function = request.flags & ~Bhs::final_bit;
	cmd->ref_tag = request.specific_20;
	cmd->begin(true);
	cmd->list();
	if (cmd->function == abort_task &&
	    !target_find_command(conn, cmd->ref_tag)) {
		cmd->response = no_such_task;
		cmd->call_transport = false;
	} else if (cmd->function != abort_task &&
		   cmd->function != logical_unit_reset) {
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

/* Responses ------------------------------------------------------------------------------------ */

void target_build_status(struct iscsit_conn *conn, struct iscsit_cmd *cmd,
			 u8 *bhs, struct target_payload *out)
{
	ResponsePdu &response =
		begin_response(*conn, *cmd, bhs, IscsiOpcode::ScsiResponse);

	response.status = cmd->status;
	if (cmd->overflow)
		response.flags |= ResponsePdu::overflow_bit;
	if (cmd->underflow)
		response.flags |= ResponsePdu::underflow_bit;
	response.residual = cmd->residual;
	if (!cmd->sense_key)
		return;
	/* Fixed format, behind its length (RFC 7143 11.4.7). */
	cmd->buffer.assign(20, 0);
	cmd->buffer[1] = 18;
	cmd->buffer[2] = 0x70;
	cmd->buffer[4] = cmd->sense_key;
	cmd->buffer[9] = 10;
	cmd->buffer[14] = static_cast<u8>(cmd->sense_code >> 8);
	cmd->buffer[15] = static_cast<u8>(cmd->sense_code);
	set_payload(response, cmd->buffer, out);
}

void target_build_nop_in(struct iscsit_conn *conn, struct iscsit_cmd *cmd,
			 u8 *bhs, int answer, struct target_payload *out)
{
	ResponsePdu &response = begin_response(*conn, *cmd, bhs,
					       IscsiOpcode::NopIn, answer);

	response.ttt = answer ? iser::reserved_tag : cmd->ttt;
	if (answer)
		set_payload(response, cmd->buffer, out);
}

void target_build_logout(struct iscsit_conn *conn, struct iscsit_cmd *cmd,
			 u8 *bhs)
{
	begin_response(*conn, *cmd, bhs, IscsiOpcode::LogoutResponse);
}

void target_get_task_management(struct iscsit_cmd *cmd,
				struct target_task_result *out)
{
	*out = {
		.by_core = cmd->call_transport,
		.carried_out = cmd->response == function_complete,
		.no_such_task = cmd->response == no_such_task,
		.function = cmd->function,
		.referenced_task_tag = cmd->ref_tag,
		.lun = cmd->lun,
		.cmd_sn = cmd->cmd_sn,
	};
}

int target_any_scsi_command(struct iscsit_conn *conn,
			    int (*matches)(const struct target_task *task,
					   const void *context),
			    const void *context)
{
	return std::ranges::any_of(conn->commands, [=](iscsit_cmd *cmd) {
		const target_task task = {
			.itt = cmd->itt,
			.cmd_sn = cmd->cmd_sn,
			.lun = cmd->lun,
			.out_of_order = false,
		};

		return cmd->opcode == IscsiOpcode::ScsiCommand &&
		       matches(&task, context);
	});
}

void target_build_task_management(struct iscsit_conn *conn,
				  struct iscsit_cmd *cmd, u8 *bhs)
{
	begin_response(*conn, *cmd, bhs, IscsiOpcode::TaskManagementResponse)
		.response = cmd->response;
}

void target_build_reject(struct iscsit_conn *conn, struct iscsit_cmd *cmd,
			 u8 *bhs, struct target_payload *out)
{
	ResponsePdu &response =
		begin_response(*conn, *cmd, bhs, IscsiOpcode::Reject);

	response.response = cmd->reason;
	response.itt = iser::reserved_tag;
	set_payload(response, cmd->buffer, out);
}

/* SendTargets; whatever else is asked has no answer. */
static void answer_text(iscsit_cmd &cmd)
{
	static constexpr char asked[] = "SendTargets=";
	/* What the module may make of an address. */
	constexpr size_t room = 32;
	libiser::TextKeys answer;

	if (cmd.buffer.size() > sizeof(asked) &&
	    !std::memcmp(cmd.buffer.data(), asked, sizeof(asked) - 1))
		answer = {{"TargetName", loopback::Lio::target_name},
			  {"TargetAddress", "10.0.0.1:3260,1"}};
	cmd.buffer = libiser::to_text(answer);

	const size_t length = cmd.buffer.size();

	cmd.buffer.resize(length + room);
	cmd.buffer.resize(lio_rewrite_send_targets(cmd.buffer.data(), length,
						   length + room));
	cmd.text_left = std::move(cmd.buffer);
	cmd.answered = true;
}

int target_build_text(struct iscsit_conn *conn, struct iscsit_cmd *cmd, u8 *bhs,
		      struct target_payload *out)
{
	if (!cmd->answered)
		answer_text(*cmd);

	std::vector<u8> &left = cmd->text_left;
	const size_t part = std::min<size_t>(
		left.size(), std::min(conn->lio.settings.text_part,
				      conn->max_recv_data_segment_length));
	ResponsePdu &response =
		begin_response(*conn, *cmd, bhs, IscsiOpcode::TextResponse);

	cmd->buffer.assign(left.begin(), left.begin() + static_cast<long>(part));
	left.erase(left.begin(), left.begin() + static_cast<long>(part));
	response.ttt = iser::reserved_tag;
	if (!left.empty()) {
		response.flags = iser::TextPdu::continue_bit;
		response.ttt = conn->session->next_ttt++;
	}
	set_payload(response, cmd->buffer, out);
	return 0;
}

void target_build_async(struct iscsit_conn *conn, struct iscsit_cmd *cmd,
			u8 *bhs)
{
	constexpr u8 connection_dropped = 2;

	begin_response(*conn, *cmd, bhs, IscsiOpcode::AsyncMessage);

	auto &async = bhs_of(bhs).as<iser::AsyncMessagePdu>();

	std::memset(async.lun, 0, sizeof(async.lun));
	async.all_ones = 0xffffffff;
	async.async_event = connection_dropped;
	async.parameter_1 = u16{2};
}

void target_mark_pinged(struct iscsit_cmd *) {}
