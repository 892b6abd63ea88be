/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What kernel/lio may ask of LIO's iSCSI target (iscsi_target_mod) and of the
 * target core.  Implemented by kernel/linux/target.c, which translates and
 * decides nothing.  LIO's objects stay opaque: iscsit_conn is its connection,
 * iscsit_cmd one PDU's command, iscsi_np a portal, iscsi_login a login.
 */
#ifndef LIO_ISER_PORT_TARGET_H
#define LIO_ISER_PORT_TARGET_H

#include "port/port.h"

#ifdef __cplusplus
extern "C" {
#endif

struct iscsit_conn;
struct iscsit_cmd;
struct iscsi_np;
struct iscsi_login;

/* Portals --------------------------------------------------------------- */

/* Whether the portal group that the portal belongs to takes connections. */
int target_portal_enabled(struct iscsi_np *np);
/* Whether the portal's thread was told to stop or to start over. */
int target_portal_stopping(struct iscsi_np *np);
/* Tells LIO who is on the other end of @conn, and that @context is ours. */
void target_bind(struct iscsit_conn *conn, void *context,
		 const struct port_address *peer,
		 const struct port_address *local);

/* Login ----------------------------------------------------------------- */

/*
 * Puts a Login Request where LIO looks for it, and has LIO check it.  @text is
 * at most 8192 bytes.  @first: of this connection.  0, or <0 when LIO refused
 * it (and sent the response that says why).
 */
int target_login_request(struct iscsit_conn *conn, struct iscsi_login *login,
			 const u8 *bhs, const u8 *text, u32 length, int first);
struct target_login_response {
	const u8 *bhs;
	const u8 *text;
	int failed;	/* status class is not success */
	int complete;	/* it ends the login with success */
};
void target_get_login_response(struct iscsi_login *login,
			   struct target_login_response *out);
/* Has LIO's login worker call the transport's get_login_rx. */
void target_login_work(struct iscsit_conn *conn);
/* The number that the next response of the login carries. */
void target_set_stat_sn(struct iscsit_conn *conn, u32 stat_sn);
/* Sets "Key=Value" for this connection, before it is negotiated. */
int target_set_key(struct iscsit_conn *conn, const char *pair);

/* Full feature phase ---------------------------------------------------- */

struct target_session {
	int discovery;
	/* Commands that the initiator may have outstanding. */
	u32 command_window;
	/* Seconds; 0: no keepalive. */
	u32 nopin_timeout;
	u32 nopin_response_timeout;
	/* Of a normal session; as long as it lives. */
	const char *target_name;
};
void target_get_session(struct iscsit_conn *conn, struct target_session *out);
/* Bounds the data segments that LIO builds for this connection. */
void target_limit_data_segment(struct iscsit_conn *conn, u32 limit);

/*
 * A command for a PDU, or NULL when the session's tags are all in use; never
 * sleeps.  private: our part of it, zeroed when the command is allocated.
 */
struct iscsit_cmd *target_command_allocate(struct iscsit_conn *conn);
void *target_command_private(struct iscsit_cmd *cmd);
/*
 * The fabric's end of a command: off the connection's list, timers stopped,
 * reference dropped.  @cmd is gone.  Process context.
 */
void target_command_free(struct iscsit_conn *conn, struct iscsit_cmd *cmd);
/* Off the connection's list, data timer stopped; the core frees it. */
void target_command_aborted(struct iscsit_conn *conn, struct iscsit_cmd *cmd);
/* What LIO's transmit thread asks for (its ISTATE_ numbers). */
enum target_state {
	TARGET_STATE_OTHER,
	TARGET_SEND_STATUS,
	TARGET_SEND_LOGOUT_RESPONSE,
	TARGET_SEND_ASYNC_MESSAGE,
	TARGET_SEND_NOP_IN,
	TARGET_SEND_NOP_IN_PING,
	TARGET_SEND_NOP_IN_NO_REPLY,
	TARGET_SEND_REJECT,
	TARGET_SEND_TASK_MANAGEMENT_RESPONSE,
	TARGET_SEND_TEXT_RESPONSE,
	TARGET_REMOVE,
};
/* Sends @bhs back with a Reject of @reason; @cmd is LIO's from now on. */
void target_reject(struct iscsit_conn *conn, struct iscsit_cmd *cmd, u8 reason,
		   u8 *bhs);

/* SCSI commands.  Negative results: LIO answers by itself; @cmd is its. */
struct target_scsi {
	u32 immediate_length;
	int immediate;
	int unsolicited;	/* more comes in Data-Out PDUs */
	u32 data_length;
};
int target_scsi_setup(struct iscsit_conn *conn, struct iscsit_cmd *cmd, u8 *bhs,
		      struct target_scsi *out);
/*
 * Before target_scsi_process: the data lies in @data already, all of it; LIO
 * uses it where it is instead of allocating memory.
 */
void target_scsi_use_buffer(struct iscsit_cmd *cmd);
/* 0: go on; 1: the command failed early, its data is to be dropped; <0. */
int target_scsi_process(struct iscsit_conn *conn, struct iscsit_cmd *cmd,
			u8 *bhs);
/* Names the memory announced by target_scsi_use_buffer. */
void target_scsi_set_buffer(struct iscsit_cmd *cmd, void *scatterlist,
			    void *data, u32 length);
/* Copies data of the command to @offset; false: it has no such place. */
int target_copy_in(struct iscsit_cmd *cmd, u32 offset, const void *data,
		   u32 length);
/* @length bytes of immediate data are in place. */
void target_immediate_done(struct iscsit_cmd *cmd, u32 length);
/* Puts it in CmdSN order; it may run at once.  0: it is in order. */
int target_scsi_sequence(struct iscsit_conn *conn, struct iscsit_cmd *cmd,
			 u8 *bhs);
/* Starts LIO's timer for unsolicited data. */
void target_await_unsolicited(struct iscsit_cmd *cmd);
/* Drops the reference of a command that failed early, with its data. */
void target_scsi_put(struct iscsit_cmd *cmd);

/* The data of a command, as the core holds it. */
struct target_data {
	void *scatterlist;
	u32 entries;
	u32 length;
	u32 received;	/* of a write, in order from its start */
	int write;
};
void target_get_data(struct iscsit_cmd *cmd, struct target_data *out);
/* All data of a write has arrived: stops the timer and runs the command. */
void target_write_complete(struct iscsit_cmd *cmd);
/* The data comes by RDMA Read from now on; LIO's timer would be wrong. */
void target_stop_data_timer(struct iscsit_cmd *cmd);

/* Data-Out.  The connection's SCSI command with this tag, or NULL. */
struct iscsit_cmd *target_find_command(struct iscsit_conn *conn, u32 itt);
struct target_write {
	int write;
	int unsolicited;	/* Data-Outs are due */
	int waiting;		/* for data: the core has its memory ready */
	int out_of_order;	/* waits for its CmdSN */
	u32 data_length;
};
void target_get_write(struct iscsit_cmd *cmd, struct target_write *out);
/* 1: take the data; 0: drop it; <0: LIO answers by itself. */
int target_data_out_check(struct iscsit_conn *conn, struct iscsit_cmd *cmd,
			  u8 *bhs, u32 length);
int target_data_out_done(struct iscsit_cmd *cmd, u8 *bhs);
/* Whether task management ends a command that waits for data, and its end:
 * the core waits for the command, and would wait for the data too. */
int target_is_aborted(struct iscsit_cmd *cmd);
void target_complete_aborted(struct iscsit_cmd *cmd);

/* The others.  @data of @length bytes is copied.  <0: LIO answers. */
int target_nop_out(struct iscsit_conn *conn, struct iscsit_cmd *cmd, u8 *bhs,
		   const void *data, u32 length);
int target_text(struct iscsit_conn *conn, struct iscsit_cmd *cmd, u8 *bhs,
		const void *text, u32 length);
/* A Text Request that goes on with an earlier one; NULL: there is none. */
struct iscsit_cmd *target_find_text(struct iscsit_conn *conn, u32 itt);
int target_task_management(struct iscsit_conn *conn, struct iscsit_cmd *cmd,
			   u8 *bhs);
int target_logout(struct iscsit_conn *conn, struct iscsit_cmd *cmd, u8 *bhs);
/* Queues a NOP-In that asks for an answer.  -ENOMEM: no tag is free. */
int target_ping(struct iscsit_conn *conn);

/*
 * Responses.  Each fills the 48 bytes of @bhs and gives the next StatSN out;
 * the caller sends them in that order.
 */
struct target_payload {
	const u8 *data;
	u32 length;
};
void target_build_status(struct iscsit_conn *conn, struct iscsit_cmd *cmd,
			 u8 *bhs, struct target_payload *out);
void target_build_nop_in(struct iscsit_conn *conn, struct iscsit_cmd *cmd,
			 u8 *bhs, int answer, struct target_payload *out);
void target_build_logout(struct iscsit_conn *conn, struct iscsit_cmd *cmd,
			 u8 *bhs);
/*
 * Tasks that the task management request @tmr is about are not over: the core
 * was through with them before it came, but their responses have not left.
 */
int target_affects_unfinished(struct iscsit_conn *conn, struct iscsit_cmd *tmr);
void target_build_task_management(struct iscsit_conn *conn,
				  struct iscsit_cmd *cmd, u8 *bhs);
void target_build_reject(struct iscsit_conn *conn, struct iscsit_cmd *cmd,
			 u8 *bhs, struct target_payload *out);
/* Sleeps.  -errno: none was built. */
int target_build_text(struct iscsit_conn *conn, struct iscsit_cmd *cmd, u8 *bhs,
		      struct target_payload *out);
/* Event "connection dropped" for another connection (RFC 7143 11.9.1). */
void target_build_async(struct iscsit_conn *conn, struct iscsit_cmd *cmd,
			u8 *bhs);
/* A NOP-In that asks for an answer is on its way. */
void target_mark_pinged(struct iscsit_cmd *cmd);
/* Whether the Logout asks for the end of this connection. */
int target_logout_closes(struct iscsit_conn *conn, struct iscsit_cmd *cmd);
/* Closes what the Logout asked for; sleeps until that is done. */
void target_logout_sent(struct iscsit_conn *conn, struct iscsit_cmd *cmd);

/* The end of a connection ------------------------------------------------- */

/* Whether LIO has a session, and so commands, for the connection. */
int target_has_session(struct iscsit_conn *conn);
/* No command is accepted from now on. */
void target_stop_commands(struct iscsit_conn *conn);
/*
 * Frees commands that neither the core works on nor the stream: those that
 * wait for data or for their turn, or whose response LIO's thread, which is
 * gone, did not send.  Call when the stream is closed.
 */
void target_free_stranded(struct iscsit_conn *conn);
/* Waits until the core has released every command.  0 or -ETIMEDOUT. */
int target_wait_commands(struct iscsit_conn *conn, unsigned int timeout_ms);
/*
 * The connection that ends was the session's last one: then the session ends,
 * too.  LIO would keep it for Time2Retain after a logout of the connection,
 * though nobody can come back to it, and end it from a timer that takes the
 * locks of the portal group in an order that can deadlock.
 */
void target_keep_no_session(struct iscsit_conn *conn);
/* Waits until target_logout_sent has closed the session's door. */
void target_wait_logout(struct iscsit_conn *conn);

#ifdef __cplusplus
}
#endif

#endif
