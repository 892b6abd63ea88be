// SPDX-License-Identifier: GPL-2.0
/*
 * port/target.h on Linux: each function is one step of LIO's iSCSI target or
 * of the target core, with its types translated.  What step comes next is
 * decided in kernel/lio.
 */
#include <linux/percpu-refcount.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include <scsi/iscsi_proto.h>
#include <target/target_core_base.h>
#include <target/target_core_backend.h>
#include <target/target_core_fabric.h>
#include <target/iscsi/iscsi_target_core.h>
#include <target/iscsi/iscsi_transport.h>

#include "linux/compat/login_timer.h"
#include "linux/compat/task_attributes.h"
#include "linux/compat/unaligned.h"
#include "port/entry.h"

/* Portals ----------------------------------------------------------------- */

int target_portal_enabled(struct iscsi_np *np)
{
	int enabled;

	spin_lock_bh(&np->np_thread_lock);
	enabled = np->enabled;
	spin_unlock_bh(&np->np_thread_lock);
	return enabled;
}

int target_portal_stopping(struct iscsi_np *np)
{
	int stopping;

	spin_lock_bh(&np->np_thread_lock);
	stopping = np->np_thread_state >= ISCSI_NP_THREAD_RESET;
	spin_unlock_bh(&np->np_thread_lock);
	return stopping;
}

void target_bind(struct iscsit_conn *conn, void *context,
		 const struct port_address *peer,
		 const struct port_address *local)
{
	BUILD_BUG_ON(sizeof(*peer) < sizeof(conn->login_sockaddr));
	conn->context = context;
	memcpy(&conn->login_sockaddr, peer, sizeof(conn->login_sockaddr));
	memcpy(&conn->local_sockaddr, local, sizeof(conn->local_sockaddr));
	conn->login_family = conn->local_sockaddr.ss_family;
}

/* Login ------------------------------------------------------------------- */

static void note_first_request(struct iscsi_login *login,
			       const struct iscsi_login_req *request)
{
	login->leading_connection = !request->tsih;
	login->current_stage = ISCSI_LOGIN_CURRENT_STAGE(request->flags);
	login->version_min = request->min_version;
	login->version_max = request->max_version;
	memcpy(login->isid, request->isid, sizeof(request->isid));
	login->cmd_sn = be32_to_cpu(request->cmdsn);
	login->init_task_tag = request->itt;
	login->initial_exp_statsn = be32_to_cpu(request->exp_statsn);
	login->cid = be16_to_cpu(request->cid);
	login->tsih = be16_to_cpu(request->tsih);
}

int target_stop_login_timer(struct iscsit_conn *conn)
{
	return stop_login_timer(conn) ? 0 : -ETIMEDOUT;
}

int target_login_request(struct iscsit_conn *conn, struct iscsi_login *login,
			 const u8 *bhs, const u8 *text, u32 length, int first)
{
	if (length > MAX_KEY_VALUE_PAIRS)
		return -EMSGSIZE;
	if (first)
		note_first_request(login,
				   (const struct iscsi_login_req *)bhs);
	memcpy(login->req, bhs, ISCSI_HDR_LEN);
	memcpy(login->req_buf, text, length);
	if (length < MAX_KEY_VALUE_PAIRS)
		login->req_buf[length] = '\0';
	return iscsi_target_check_login_request(conn, login) < 0 ? -EPROTO : 0;
}

void target_get_login_response(struct iscsi_login *login,
			   struct target_login_response *out)
{
	out->bhs = login->rsp;
	out->text = login->rsp_buf;
	out->failed = login->login_failed;
	out->complete = !login->login_failed && login->login_complete;
}

void target_login_work(struct iscsit_conn *conn)
{
	schedule_delayed_work(&conn->login_work, 0);
}

void target_set_stat_sn(struct iscsit_conn *conn, u32 stat_sn)
{
	conn->stat_sn = stat_sn;
}

int target_set_key(struct iscsit_conn *conn, const char *pair)
{
	return iscsi_change_param_sprintf(conn, "%s", pair) < 0 ? -EINVAL : 0;
}

/* Full feature phase ------------------------------------------------------- */

void target_get_session(struct iscsit_conn *conn, struct target_session *out)
{
	struct se_node_acl *acl = conn->sess->se_sess->se_node_acl;

	memset(out, 0, sizeof(*out));
	out->discovery = conn->sess->sess_ops->SessionType;
	if (out->discovery || !acl)
		return;
	out->target_name = conn->tpg->tpg_tiqn->tiqn;
	out->command_window = acl->queue_depth;
	out->nopin_timeout = to_iscsi_nacl(acl)->node_attrib.nopin_timeout;
	out->nopin_response_timeout =
		to_iscsi_nacl(acl)->node_attrib.nopin_response_timeout;
}

void target_limit_data_segment(struct iscsit_conn *conn, u32 limit)
{
	if (conn->conn_ops->MaxRecvDataSegmentLength > limit)
		conn->conn_ops->MaxRecvDataSegmentLength = limit;
}

struct iscsit_cmd *target_command_allocate(struct iscsit_conn *conn)
{
	/* TASK_RUNNING: do not wait for a tag. */
	return iscsit_allocate_cmd(conn, TASK_RUNNING);
}

void *target_command_private(struct iscsit_cmd *cmd)
{
	return iscsit_priv_cmd(cmd);
}

static void list_command(struct iscsit_conn *conn, struct iscsit_cmd *cmd)
{
	spin_lock_bh(&conn->cmd_lock);
	list_add_tail(&cmd->i_conn_node, &conn->conn_cmd_list);
	spin_unlock_bh(&conn->cmd_lock);
}

void target_command_unlist(struct iscsit_conn *conn, struct iscsit_cmd *cmd)
{
	spin_lock_bh(&conn->cmd_lock);
	if (!list_empty(&cmd->i_conn_node))
		list_del_init(&cmd->i_conn_node);
	spin_unlock_bh(&conn->cmd_lock);
}

void target_get_command_state(struct iscsit_cmd *cmd,
			      struct target_command_state *out)
{
	const struct se_cmd *se_cmd = &cmd->se_cmd;
	const struct se_tmr_req *tmr = se_cmd->se_tmr_req;

	out->in_core = !!se_cmd->se_tfo;
	out->scsi = cmd->iscsi_opcode == ISCSI_OP_SCSI_CMD;
	out->by_lio = cmd->iscsi_opcode == ISCSI_OP_SCSI_TMFUNC && tmr &&
		      !tmr->call_transport;
	out->immediate = cmd->immediate_cmd;
	out->out_of_order = !!(cmd->cmd_flags & ICF_OOO_CMDSN);
	out->waiting = se_cmd->t_state == TRANSPORT_WRITE_PENDING;
	out->failed = !!cmd->sense_reason;
	out->removed = cmd->i_state == ISTATE_REMOVE;
	out->response_queued = atomic_read(&cmd->response_queue_count) > 0;
	out->immediate_queued = atomic_read(&cmd->immed_queue_count) > 0;
}

void target_command_put(struct iscsit_cmd *cmd)
{
	target_put_sess_cmd(&cmd->se_cmd);
}

void target_command_free(struct iscsit_conn *conn, struct iscsit_cmd *cmd,
			 int wait)
{
	target_command_unlist(conn, cmd);
	iscsit_free_cmd(cmd, wait);
}

u32 target_window_left(struct iscsit_conn *conn)
{
	const struct iscsit_session *sess = conn->sess;

	return atomic_read(&sess->max_cmd_sn) - READ_ONCE(sess->exp_cmd_sn) + 1;
}

void target_advance_max_cmd_sn(struct iscsit_conn *conn, struct iscsit_cmd *cmd)
{
	iscsit_increment_maxcmdsn(cmd, conn->sess);
}

void target_command_aborted(struct iscsit_conn *conn, struct iscsit_cmd *cmd)
{
	target_command_unlist(conn, cmd);
	end_task_attribute(&cmd->se_cmd);
	if (cmd->data_direction == DMA_TO_DEVICE)
		iscsit_stop_dataout_timer(cmd);
}

int target_use_up_cmd_sn(struct iscsit_conn *conn, u32 cmd_sn)
{
	struct iscsit_session *sess = conn->sess;
	bool next;

	mutex_lock(&sess->cmdsn_mutex);
	next = cmd_sn == sess->exp_cmd_sn;
	if (next) {
		sess->exp_cmd_sn++;
		atomic_inc(&sess->max_cmd_sn);
	}
	mutex_unlock(&sess->cmdsn_mutex);
	return next;
}

void target_reject(struct iscsit_conn *conn, struct iscsit_cmd *cmd, u8 reason,
		   u8 *bhs)
{
	list_command(conn, cmd);
	iscsit_reject_cmd(cmd, reason, bhs);
}

/* SCSI commands ------------------------------------------------------------- */

int target_scsi_setup(struct iscsit_conn *conn, struct iscsit_cmd *cmd, u8 *bhs,
		      struct target_scsi *out)
{
	if (iscsit_setup_scsi_cmd(conn, cmd, bhs) < 0)
		return -EPROTO;
	out->immediate = cmd->immediate_data;
	out->immediate_length = cmd->first_burst_len;
	out->unsolicited = cmd->unsolicited_data;
	out->data_length = cmd->se_cmd.data_length;
	return 0;
}

void target_scsi_use_buffer(struct iscsit_cmd *cmd)
{
	cmd->se_cmd.se_cmd_flags |= SCF_PASSTHROUGH_SG_TO_MEM_NOALLOC;
}

void target_scsi_set_buffer(struct iscsit_cmd *cmd, void *scatterlist,
			    void *data, u32 length)
{
	struct scatterlist *sg = scatterlist;

	sg_init_one(sg, data, length);
	cmd->se_cmd.t_data_sg = sg;
	cmd->se_cmd.t_data_nents = 1;
}

int target_scsi_process(struct iscsit_conn *conn, struct iscsit_cmd *cmd,
			u8 *bhs)
{
	return iscsit_process_scsi_cmd(conn, cmd,
				       (struct iscsi_scsi_req *)bhs);
}

int target_copy_in(struct iscsit_cmd *cmd, u32 offset, const void *data,
		   u32 length)
{
	struct se_cmd *se_cmd = &cmd->se_cmd;

	if (offset > se_cmd->data_length)
		return 0;
	length = min(length, se_cmd->data_length - offset);
	return sg_pcopy_from_buffer(se_cmd->t_data_sg, se_cmd->t_data_nents,
				    data, length, offset) == length;
}

void target_immediate_done(struct iscsit_cmd *cmd, u32 length)
{
	cmd->write_data_done += length;
	if (cmd->write_data_done < cmd->se_cmd.data_length)
		return;
	spin_lock_bh(&cmd->istate_lock);
	cmd->cmd_flags |= ICF_GOT_LAST_DATAOUT;
	cmd->i_state = ISTATE_RECEIVED_LAST_DATAOUT;
	spin_unlock_bh(&cmd->istate_lock);
}

int target_scsi_sequence(struct iscsit_conn *conn, struct iscsit_cmd *cmd,
			 u8 *bhs)
{
	return iscsit_sequence_cmd(conn, cmd, bhs,
				   ((struct iscsi_scsi_req *)bhs)->cmdsn);
}

void target_await_unsolicited(struct iscsit_cmd *cmd)
{
	iscsit_set_unsolicited_dataout(cmd);
}

void target_get_data(struct iscsit_cmd *cmd, struct target_data *out)
{
	out->scatterlist = cmd->se_cmd.t_data_sg;
	out->entries = cmd->se_cmd.t_data_nents;
	out->length = cmd->se_cmd.data_length;
	out->received = cmd->write_data_done;
	out->write = cmd->data_direction == DMA_TO_DEVICE;
}

void target_stop_data_timer(struct iscsit_cmd *cmd)
{
	iscsit_stop_dataout_timer(cmd);
}

void target_write_complete(struct iscsit_cmd *cmd)
{
	iscsit_stop_dataout_timer(cmd);
	cmd->write_data_done = cmd->se_cmd.data_length;
	spin_lock_bh(&cmd->istate_lock);
	cmd->cmd_flags |= ICF_GOT_LAST_DATAOUT;
	cmd->i_state = ISTATE_RECEIVED_LAST_DATAOUT;
	spin_unlock_bh(&cmd->istate_lock);
	target_execute_cmd(&cmd->se_cmd);
}

/* Data-Out -------------------------------------------------------------------- */

/*
 * The latest one: the initiator may use a tag again as soon as it has the
 * response, and the command before is listed until that is known to be sent.
 * cmd_lock held: as long as it is listed it is there.
 */
static struct iscsit_cmd *find_listed(struct iscsit_conn *conn, u32 itt,
				      u8 opcode)
{
	struct iscsit_cmd *cmd;

	list_for_each_entry_reverse(cmd, &conn->conn_cmd_list, i_conn_node)
		if (be32_to_cpu((__force __be32)cmd->init_task_tag) == itt &&
		    cmd->iscsi_opcode == opcode)
			return cmd;
	return NULL;
}

struct iscsit_cmd *target_find_write(struct iscsit_conn *conn, u32 itt,
				     struct target_write *out)
{
	struct iscsit_cmd *cmd;

	spin_lock_bh(&conn->cmd_lock);
	cmd = find_listed(conn, itt, ISCSI_OP_SCSI_CMD);
	if (cmd) {
		out->write = cmd->data_direction == DMA_TO_DEVICE;
		out->unsolicited = cmd->unsolicited_data;
		out->waiting = cmd->se_cmd.t_state == TRANSPORT_WRITE_PENDING;
		out->out_of_order = !!(cmd->cmd_flags & ICF_OOO_CMDSN);
		out->data_length = cmd->se_cmd.data_length;
	}
	spin_unlock_bh(&conn->cmd_lock);
	return cmd;
}

int target_data_out_check(struct iscsit_conn *conn, struct iscsit_cmd *cmd,
			  u8 *bhs, u32 length)
{
	bool take = false;

	if (__iscsit_check_dataout_hdr(conn, bhs, cmd, length, &take) < 0)
		return -EPROTO;
	return take;
}

int target_is_aborted(struct iscsit_cmd *cmd)
{
	return cmd->se_cmd.t_state == TRANSPORT_WRITE_PENDING &&
	       (READ_ONCE(cmd->se_cmd.transport_state) & CMD_T_ABORTED);
}

void target_complete_aborted(struct iscsit_cmd *cmd)
{
	iscsit_stop_dataout_timer(cmd);
	target_complete_cmd(&cmd->se_cmd, SAM_STAT_TASK_ABORTED);
}

int target_data_out_done(struct iscsit_cmd *cmd, u8 *bhs)
{
	return iscsit_check_dataout_payload(cmd, (struct iscsi_data *)bhs,
					    false);
}

/* The others -------------------------------------------------------------------- */

/* A copy that is padded to words, and so zero-terminated: LIO frees it. */
static void *copy_segment(const void *data, u32 length)
{
	void *copy = kzalloc(ALIGN(length + 1, 4), GFP_KERNEL);

	if (copy)
		memcpy(copy, data, length);
	return copy;
}

int target_nop_out(struct iscsit_conn *conn, struct iscsit_cmd *cmd, u8 *bhs,
		   const void *data, u32 length)
{
	struct iscsi_nopout *hdr = (struct iscsi_nopout *)bhs;

	if (iscsit_setup_nop_out(conn, cmd, hdr) < 0)
		return -EPROTO;
	if (cmd && length > 0) {
		cmd->buf_ptr = copy_segment(data, length);
		if (cmd->buf_ptr)
			cmd->buf_ptr_size = length;
	}
	iscsit_process_nop_out(conn, cmd, hdr);
	return 0;
}

struct iscsit_cmd *target_find_text(struct iscsit_conn *conn, u32 itt)
{
	struct iscsit_cmd *cmd;

	spin_lock_bh(&conn->cmd_lock);
	cmd = find_listed(conn, itt, ISCSI_OP_TEXT);
	spin_unlock_bh(&conn->cmd_lock);
	return cmd;
}

int target_text_is_of_one_target(struct iscsit_cmd *cmd)
{
	return !!(cmd->cmd_flags & ICF_SENDTARGETS_SINGLE);
}

int target_text(struct iscsit_conn *conn, struct iscsit_cmd *cmd, u8 *bhs,
		const void *text, u32 length)
{
	struct iscsi_text *hdr = (struct iscsi_text *)bhs;

	kfree(cmd->text_in_ptr);
	cmd->text_in_ptr = NULL;
	if (iscsit_setup_text_cmd(conn, cmd, hdr) < 0)
		return -EPROTO;
	if (length > 0) {
		cmd->text_in_ptr = copy_segment(text, length);
		if (!cmd->text_in_ptr)
			return iscsit_reject_cmd(
				cmd, ISCSI_REASON_BOOKMARK_NO_RESOURCES, bhs);
	}
	return iscsit_process_text_cmd(conn, cmd, hdr);
}

int target_task_management(struct iscsit_conn *conn, struct iscsit_cmd *cmd,
			   u8 *bhs)
{
	return iscsit_handle_task_mgt_cmd(conn, cmd, bhs);
}

int target_logout(struct iscsit_conn *conn, struct iscsit_cmd *cmd, u8 *bhs)
{
	return iscsit_handle_logout_cmd(conn, cmd, bhs);
}

int target_awaits_answer(struct iscsit_conn *conn, u32 ttt)
{
	struct iscsit_cmd *cmd;
	int awaits = 0;

	spin_lock_bh(&conn->cmd_lock);
	list_for_each_entry(cmd, &conn->conn_cmd_list, i_conn_node) {
		if (cmd->targ_xfer_tag == ttt &&
		    cmd->iscsi_opcode == ISCSI_OP_NOOP_IN &&
		    cmd->i_state != ISTATE_REMOVE) {
			awaits = 1;
			break;
		}
	}
	spin_unlock_bh(&conn->cmd_lock);
	return awaits;
}

int target_ping(struct iscsit_conn *conn)
{
	struct iscsit_cmd *cmd = target_command_allocate(conn);

	if (!cmd)
		return -ENOMEM;
	cmd->iscsi_opcode = ISCSI_OP_NOOP_IN;
	cmd->init_task_tag = RESERVED_ITT;
	cmd->targ_xfer_tag = session_get_next_ttt(conn->sess);
	cmd->i_state = ISTATE_SEND_NOPIN_WANT_RESPONSE;
	list_command(conn, cmd);
	iscsit_add_cmd_to_immediate_queue(cmd, conn, cmd->i_state);
	return 0;
}

/* Responses ------------------------------------------------------------------------ */

void target_build_status(struct iscsit_conn *conn, struct iscsit_cmd *cmd,
			 u8 *bhs, struct target_payload *out)
{
	struct iscsi_scsi_rsp *hdr = (struct iscsi_scsi_rsp *)bhs;
	struct se_cmd *se_cmd = &cmd->se_cmd;
	u32 length;

	/* Aborted, and the initiator is told. */
	end_task_attribute(se_cmd);
	iscsit_build_rsp_pdu(cmd, conn, true, hdr);
	if (!se_cmd->sense_buffer ||
	    !(se_cmd->se_cmd_flags & (SCF_TRANSPORT_TASK_SENSE |
				      SCF_EMULATED_TASK_SENSE)))
		return;
	put_unaligned_be16(se_cmd->scsi_sense_length, cmd->sense_buffer);
	length = se_cmd->scsi_sense_length + sizeof(__be16);
	hton24(hdr->dlength, length);
	out->data = cmd->sense_buffer;
	out->length = ALIGN(length, 4);
}

void target_build_nop_in(struct iscsit_conn *conn, struct iscsit_cmd *cmd,
			 u8 *bhs, int answer, struct target_payload *out)
{
	iscsit_build_nopin_rsp(cmd, conn, (struct iscsi_nopin *)bhs, answer);
	out->data = cmd->buf_ptr;
	out->length = ALIGN(cmd->buf_ptr_size, 4);
}

void target_build_logout(struct iscsit_conn *conn, struct iscsit_cmd *cmd,
			 u8 *bhs)
{
	iscsit_build_logout_rsp(cmd, conn, (struct iscsi_logout_rsp *)bhs);
}

void target_get_task_management(struct iscsit_cmd *cmd,
				struct target_task_result *out)
{
	const struct se_tmr_req *request = cmd->se_cmd.se_tmr_req;

	BUILD_BUG_ON((int)TMR_ABORT_TASK != ISCSI_TM_FUNC_ABORT_TASK ||
		     (int)TMR_LUN_RESET !=
			     ISCSI_TM_FUNC_LOGICAL_UNIT_RESET ||
		     (int)TMR_TARGET_COLD_RESET !=
			     ISCSI_TM_FUNC_TARGET_COLD_RESET);
	memset(out, 0, sizeof(*out));
	if (!request)
		return;
	out->by_core = request->call_transport;
	out->carried_out = request->response == TMR_FUNCTION_COMPLETE;
	out->no_such_task = request->response == TMR_TASK_DOES_NOT_EXIST;
	out->function = request->function;
	out->referenced_task_tag =
		be32_to_cpu((__force __be32)request->ref_task_tag);
	out->lun = cmd->se_cmd.orig_fe_lun;
	out->cmd_sn = cmd->cmd_sn;
}

int target_any_scsi_command(struct iscsit_conn *conn,
			    int (*matches)(const struct target_task *task,
					   const void *context),
			    const void *context)
{
	struct iscsit_cmd *cmd;
	int found = 0;

	spin_lock_bh(&conn->cmd_lock);
	list_for_each_entry(cmd, &conn->conn_cmd_list, i_conn_node) {
		const struct target_task task = {
			.itt = be32_to_cpu((__force __be32)cmd->init_task_tag),
			.cmd_sn = cmd->cmd_sn,
			.lun = cmd->se_cmd.orig_fe_lun,
			.out_of_order = !!(cmd->cmd_flags & ICF_OOO_CMDSN),
		};

		if (cmd->iscsi_opcode == ISCSI_OP_SCSI_CMD &&
		    matches(&task, context)) {
			found = 1;
			break;
		}
	}
	spin_unlock_bh(&conn->cmd_lock);
	return found;
}

void target_build_task_management(struct iscsit_conn *conn,
				  struct iscsit_cmd *cmd, u8 *bhs)
{
	struct iscsi_tm_rsp *hdr = (struct iscsi_tm_rsp *)bhs;
	struct se_tmr_req *request = cmd->se_cmd.se_tmr_req;

	iscsit_build_task_mgt_rsp(cmd, conn, hdr);
	/*
	 * LIO takes every response for one of the target core, but what it
	 * answered itself (no such task, no such LUN) has iSCSI's numbers.
	 */
	if (!request->call_transport)
		hdr->response = request->response;
}

void target_build_reject(struct iscsit_conn *conn, struct iscsit_cmd *cmd,
			 u8 *bhs, struct target_payload *out)
{
	iscsit_build_reject(cmd, conn, (struct iscsi_reject *)bhs);
	out->data = cmd->buf_ptr;
	out->length = ISCSI_HDR_LEN;
}

int target_build_text(struct iscsit_conn *conn, struct iscsit_cmd *cmd, u8 *bhs,
		      struct target_payload *out)
{
	struct iscsi_text_rsp *hdr = (struct iscsi_text_rsp *)bhs;
	u32 length;
	int rc;

	rc = iscsit_build_text_rsp(cmd, conn, hdr, ISCSI_INFINIBAND);
	if (rc < 0)
		return rc;
	length = lio_rewrite_send_targets(
		cmd->buf_ptr, ntoh24(hdr->dlength),
		conn->conn_ops->MaxRecvDataSegmentLength & ~3u);
	hton24(hdr->dlength, length);
	out->data = cmd->buf_ptr;
	out->length = ALIGN(length, 4);
	return 0;
}

void target_build_async(struct iscsit_conn *conn, struct iscsit_cmd *cmd,
			u8 *bhs)
{
	struct iscsi_async *hdr = (struct iscsi_async *)bhs;

	hdr->opcode = ISCSI_OP_ASYNC_EVENT;
	hdr->flags = ISCSI_FLAG_CMD_FINAL;
	put_unaligned_be32(0xffffffff, hdr->rsvd4);
	put_unaligned_be32(0xffffffff, hdr->rsvd4 + 4);
	cmd->stat_sn = conn->stat_sn++;
	hdr->statsn = cpu_to_be32(cmd->stat_sn);
	hdr->exp_cmdsn = cpu_to_be32(conn->sess->exp_cmd_sn);
	hdr->max_cmdsn = cpu_to_be32(atomic_read(&conn->sess->max_cmd_sn));
	hdr->async_event = ISCSI_ASYNC_MSG_DROPPING_CONNECTION;
	hdr->param1 = cpu_to_be16(cmd->logout_cid);
	hdr->param2 = cpu_to_be16(conn->sess->sess_ops->DefaultTime2Wait);
	hdr->param3 = cpu_to_be16(conn->sess->sess_ops->DefaultTime2Retain);
}

void target_mark_pinged(struct iscsit_cmd *cmd)
{
	spin_lock_bh(&cmd->istate_lock);
	cmd->i_state = ISTATE_SENT_NOPIN_WANT_RESPONSE;
	spin_unlock_bh(&cmd->istate_lock);
}

int target_logout_closes(struct iscsit_conn *conn, struct iscsit_cmd *cmd)
{
	return cmd->logout_reason == ISCSI_LOGOUT_REASON_CLOSE_SESSION ||
	       (cmd->logout_reason == ISCSI_LOGOUT_REASON_CLOSE_CONNECTION &&
		cmd->logout_cid == conn->cid);
}

void target_logout_sent(struct iscsit_conn *conn, struct iscsit_cmd *cmd)
{
	iscsit_logout_post_handler(cmd, conn);
}

/* The end of a connection ------------------------------------------------------------ */

int target_is_logged_in(struct iscsit_conn *conn)
{
	return conn->conn_state >= TARG_CONN_STATE_LOGGED_IN;
}

void target_stop_commands(struct iscsit_conn *conn)
{
	target_stop_cmd_counter(conn->cmd_cnt);
}

struct iscsit_cmd *
target_take_command(struct iscsit_conn *conn,
		    int (*wanted)(const struct target_command_state *state))
{
	struct target_command_state state;
	struct iscsit_cmd *cmd, *found = NULL;

	spin_lock_bh(&conn->cmd_lock);
	list_for_each_entry(cmd, &conn->conn_cmd_list, i_conn_node) {
		target_get_command_state(cmd, &state);
		if (wanted(&state)) {
			list_del_init(&cmd->i_conn_node);
			found = cmd;
			break;
		}
	}
	spin_unlock_bh(&conn->cmd_lock);
	return found;
}

int target_wait_commands(struct iscsit_conn *conn, unsigned int timeout_ms)
{
	struct target_cmd_counter *counter = conn->cmd_cnt;

	if (!wait_event_timeout(counter->refcnt_wq,
				percpu_ref_is_zero(&counter->refcnt),
				msecs_to_jiffies(timeout_ms)))
		return -ETIMEDOUT;
	target_wait_for_cmds(counter);
	return 0;
}

int target_is_last_of_session(struct iscsit_conn *conn)
{
	struct iscsit_session *sess = conn->sess;

	return !atomic_read(&sess->session_logout) &&
	       atomic_read(&sess->nconn) == 1;
}

void target_keep_no_session(struct iscsit_conn *conn)
{
	atomic_set(&conn->sess->session_fall_back_to_erl0, 1);
}

void target_wait_logout(struct iscsit_conn *conn)
{
	wait_for_completion_timeout(&conn->conn_logout_comp,
				    SECONDS_FOR_LOGOUT_COMP * HZ);
}
