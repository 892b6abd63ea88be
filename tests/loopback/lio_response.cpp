// SPDX-License-Identifier: GPL-2.0
/* LIO's responses: each fills a BHS and gives the next StatSN out. */
#include <algorithm>
#include <cstring>

#include "loopback/lio.h"

using iser::Bhs;
using iser::IscsiOpcode;
using libiser::ResponsePdu;
using loopback::bhs_of;
using loopback::function_complete;
using loopback::no_such_task;

namespace {

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

} // namespace

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
		.function = static_cast<u8>(cmd->function),
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

	const auto end = left.begin() + static_cast<long>(part);

	cmd->buffer.assign(left.begin(), end);
	left.erase(left.begin(), end);
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
