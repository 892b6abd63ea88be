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
 * Has LIO not limit the time of this login any more; from LIO's thread, with
 * the first request.  0, or -ETIMEDOUT when the time is over already.
 */
int target_stop_login_timer(struct iscsit_conn *conn);
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
/*
 * Has LIO's login worker call the transport's get_login_rx.  Not while LIO may
 * be dropping the login: the worker would run for what is freed.
 */
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
/* What LIO and the core have of a command; each but truth and falsehood. */
struct target_command_state {
	int in_core;		/* it has a part that is the core's */
	int scsi;		/* a SCSI command */
	int by_lio;		/* task management that LIO answered itself */
	int immediate;
	int out_of_order;	/* waits for its CmdSN */
	int waiting;		/* for data: the core has its memory ready */
	int failed;		/* before the core could run it */
	int removed;		/* LIO ends it without a response */
	int response_queued;	/* for LIO's transmit thread */
	int immediate_queued;	/* likewise */
};
void target_get_command_state(struct iscsit_cmd *cmd,
			      struct target_command_state *out);
/*
 * A command in the core has a reference for the fabric and one for the core.
 * This drops the core's, in its place.
 */
void target_command_put(struct iscsit_cmd *cmd);
/* Off the connection's list, where the functions that find one look. */
void target_command_unlist(struct iscsit_conn *conn, struct iscsit_cmd *cmd);
/*
 * The fabric's end of a command: off the connection's list, timers stopped,
 * reference dropped.  @cmd is gone.  Process context.  @wait: until the core
 * is through with it.
 */
void target_command_free(struct iscsit_conn *conn, struct iscsit_cmd *cmd,
			 int wait);
/* How many more commands the session lets the initiator send, about. */
u32 target_window_left(struct iscsit_conn *conn);
/* Lets the initiator send one more for this command, once; LIO does so too. */
void target_advance_max_cmd_sn(struct iscsit_conn *conn,
			       struct iscsit_cmd *cmd);
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
/*
 * Counts the PDU with this CmdSN, as LIO does with one that it carries out, if
 * it is the next one in order.  Whether it was.
 */
int target_use_up_cmd_sn(struct iscsit_conn *conn, u32 cmd_sn);
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

/* Data-Out. */
struct target_write {
	int write;
	int unsolicited;	/* Data-Outs are due */
	int waiting;		/* for data: the core has its memory ready */
	int out_of_order;	/* waits for its CmdSN */
	u32 data_length;
};
/*
 * The connection's SCSI command with this tag, and what it is at this moment;
 * or NULL.  One that is not waiting may be gone when this returns.
 */
struct iscsit_cmd *target_find_write(struct iscsit_conn *conn, u32 itt,
				     struct target_write *out);
/* 1: take the data; 0: drop it; <0: LIO answers by itself. */
int target_data_out_check(struct iscsit_conn *conn, struct iscsit_cmd *cmd,
			  u8 *bhs, u32 length);
int target_data_out_done(struct iscsit_cmd *cmd, u8 *bhs);
/* Whether task management ends a command that waits for data, and its end:
 * the core waits for the command, and would wait for the data too. */
int target_is_aborted(struct iscsit_cmd *cmd);
void target_complete_aborted(struct iscsit_cmd *cmd);

/*
 * The others.  @data of @length bytes is copied.  <0: LIO rejects it, and has
 * not counted its CmdSN.
 */
int target_nop_out(struct iscsit_conn *conn, struct iscsit_cmd *cmd, u8 *bhs,
		   const void *data, u32 length);
int target_text(struct iscsit_conn *conn, struct iscsit_cmd *cmd, u8 *bhs,
		const void *text, u32 length);
/* A Text Request that goes on with an earlier one; NULL: there is none. */
struct iscsit_cmd *target_find_text(struct iscsit_conn *conn, u32 itt);
/* Whether it asked about one target, by name. */
int target_text_is_of_one_target(struct iscsit_cmd *cmd);
int target_task_management(struct iscsit_conn *conn, struct iscsit_cmd *cmd,
			   u8 *bhs);
int target_logout(struct iscsit_conn *conn, struct iscsit_cmd *cmd, u8 *bhs);
/* Whether a NOP-In with this TTT waits for its answer, which has not come. */
int target_awaits_answer(struct iscsit_conn *conn, u32 ttt);
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
/* What came of a task management request. */
struct target_task_result {
	int by_core;		/* it was the core's to carry out */
	int carried_out;
	int no_such_task;
	u8 function;		/* RFC 7143 11.5.1 */
	u32 referenced_task_tag;
	u64 lun;
	u32 cmd_sn;
};
void target_get_task_management(struct iscsit_cmd *cmd,
				struct target_task_result *out);
struct target_task {
	u32 itt;
	u32 cmd_sn;
	u64 lun;
	int out_of_order;	/* waits for its CmdSN */
};
/*
 * Whether @matches holds for one of the connection's SCSI commands that are
 * not over, their responses included.  It is called in atomic context.
 */
int target_any_scsi_command(struct iscsit_conn *conn,
			    int (*matches)(const struct target_task *task,
					   const void *context),
			    const void *context);
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

/*
 * Whether the connection has come to a session, and so may have commands.
 * Before, what LIO takes for its session may be another one's, or gone.
 */
int target_is_logged_in(struct iscsit_conn *conn);
/* No command is accepted from now on. */
void target_stop_commands(struct iscsit_conn *conn);
/*
 * Takes the first command that is @wanted off the connection's list; NULL:
 * there is none.  @wanted is called in atomic context.
 */
struct iscsit_cmd *
target_take_command(struct iscsit_conn *conn,
		    int (*wanted)(const struct target_command_state *state));
/* Waits until the core has released every command.  0 or -ETIMEDOUT. */
int target_wait_commands(struct iscsit_conn *conn, unsigned int timeout_ms);
/* Whether the session, which is not logged out, has no other connection. */
int target_is_last_of_session(struct iscsit_conn *conn);
/* The session ends with this connection, and is not kept for Time2Retain. */
void target_keep_no_session(struct iscsit_conn *conn);
/* Waits until target_logout_sent has closed the session's door. */
void target_wait_logout(struct iscsit_conn *conn);

#ifdef __cplusplus
}
#endif

#endif
