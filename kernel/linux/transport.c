// SPDX-License-Identifier: GPL-2.0
/*
 * LIO's transport operations (struct iscsit_transport): each hands over to
 * kernel/lio with its types translated.
 */
#include <linux/module.h>

#include <scsi/iscsi_proto.h>
#include <target/target_core_base.h>
#include <target/iscsi/iscsi_target_core.h>
#include <target/iscsi/iscsi_transport.h>

#include "linux/objects.h"
#include "port/entry.h"

/* Portals: configfs writer, then LIO's thread of the portal. */

static int transport_setup_np(struct iscsi_np *np,
			      struct sockaddr_storage *address)
{
	struct lio_portal *portal;
	struct port_address copy;
	int rc;

	BUILD_BUG_ON(sizeof(copy) < sizeof(*address));
	memset(&copy, 0, sizeof(copy));
	memcpy(&copy, address, sizeof(*address));
	memcpy(&np->np_sockaddr, address, sizeof(*address));
	rc = lio_portal_create(np, &copy, &portal);
	if (rc < 0)
		return rc;
	np->np_context = portal;
	return 0;
}

static int transport_accept_np(struct iscsi_np *np, struct iscsit_conn *conn)
{
	return lio_portal_accept(np->np_context, conn);
}

static void transport_free_np(struct iscsi_np *np)
{
	lio_portal_destroy(np->np_context);
	np->np_context = NULL;
}

/* Login: LIO's thread of the portal, then its login worker. */

static int transport_get_login_rx(struct iscsit_conn *conn,
				  struct iscsi_login *login)
{
	return lio_get_login_rx(conn->context, login, login->first_request);
}

static int transport_put_login_tx(struct iscsit_conn *conn,
				  struct iscsi_login *login, u32 length)
{
	return lio_put_login_tx(conn->context, login);
}

static int transport_validate_params(struct iscsit_conn *conn)
{
	return lio_validate_params(conn->context);
}

static enum target_prot_op transport_get_sup_prot_ops(struct iscsit_conn *conn)
{
	return TARGET_PROT_NORMAL;
}

/* Full feature phase: LIO's receive and transmit thread. */

static void transport_get_rx_pdu(struct iscsit_conn *conn)
{
	lio_get_rx_pdu(conn->context);
}

static const struct {
	int istate;
	enum target_state state;
} states[] = {
	{ ISTATE_SEND_STATUS, TARGET_SEND_STATUS },
	{ ISTATE_SEND_STATUS_RECOVERY, TARGET_SEND_STATUS },
	{ ISTATE_SEND_LOGOUTRSP, TARGET_SEND_LOGOUT_RESPONSE },
	{ ISTATE_SEND_ASYNCMSG, TARGET_SEND_ASYNC_MESSAGE },
	{ ISTATE_SEND_NOPIN, TARGET_SEND_NOP_IN },
	{ ISTATE_SEND_NOPIN_WANT_RESPONSE, TARGET_SEND_NOP_IN_PING },
	{ ISTATE_SEND_NOPIN_NO_RESPONSE, TARGET_SEND_NOP_IN_NO_REPLY },
	{ ISTATE_SEND_REJECT, TARGET_SEND_REJECT },
	{ ISTATE_SEND_TASKMGTRSP, TARGET_SEND_TASK_MANAGEMENT_RESPONSE },
	{ ISTATE_SEND_TEXTRSP, TARGET_SEND_TEXT_RESPONSE },
	{ ISTATE_REMOVE, TARGET_REMOVE },
};

static enum target_state to_target_state(int istate)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(states); i++)
		if (states[i].istate == istate)
			return states[i].state;
	return TARGET_STATE_OTHER;
}

static int transport_immediate_queue(struct iscsit_conn *conn,
				     struct iscsit_cmd *cmd, int istate)
{
	return lio_immediate_queue(conn->context, cmd, to_target_state(istate));
}

static int transport_response_queue(struct iscsit_conn *conn,
				    struct iscsit_cmd *cmd, int istate)
{
	return lio_response_queue(conn->context, cmd, to_target_state(istate));
}

/* The target core's calls, in whatever process context it has. */

static int transport_get_dataout(struct iscsit_conn *conn,
				 struct iscsit_cmd *cmd, bool recovery)
{
	lio_get_dataout(conn->context, cmd);
	return 0;
}

static int transport_queue_data_in(struct iscsit_conn *conn,
				   struct iscsit_cmd *cmd)
{
	lio_queue_data_in(conn->context, cmd);
	return 0;
}

static int transport_queue_status(struct iscsit_conn *conn,
				  struct iscsit_cmd *cmd)
{
	lio_queue_status(conn->context, cmd);
	return 0;
}

static void transport_aborted_task(struct iscsit_conn *conn,
				   struct iscsit_cmd *cmd)
{
	lio_aborted_task(conn->context, cmd);
}

static void transport_unmap_cmd(struct iscsit_conn *conn,
				struct iscsit_cmd *cmd)
{
	lio_unmap_cmd(conn->context, cmd);
}

/* The end: whichever thread of LIO closes the connection. */

static void transport_wait_conn(struct iscsit_conn *conn)
{
	lio_wait_conn(conn->context);
}

static void transport_free_conn(struct iscsit_conn *conn)
{
	lio_free_conn(conn->context);
}

static struct iscsit_transport transport = {
	.name = "lio_iser",
	.transport_type = ISCSI_INFINIBAND,
	/* A Logout ends in lio/, when its response was sent. */
	.rdma_shutdown = true,
	.owner = THIS_MODULE,
	.iscsit_setup_np = transport_setup_np,
	.iscsit_accept_np = transport_accept_np,
	.iscsit_free_np = transport_free_np,
	.iscsit_get_login_rx = transport_get_login_rx,
	.iscsit_put_login_tx = transport_put_login_tx,
	.iscsit_validate_params = transport_validate_params,
	.iscsit_get_sup_prot_ops = transport_get_sup_prot_ops,
	.iscsit_get_rx_pdu = transport_get_rx_pdu,
	.iscsit_immediate_queue = transport_immediate_queue,
	.iscsit_response_queue = transport_response_queue,
	.iscsit_get_dataout = transport_get_dataout,
	.iscsit_queue_data_in = transport_queue_data_in,
	.iscsit_queue_status = transport_queue_status,
	.iscsit_aborted_task = transport_aborted_task,
	.iscsit_unmap_cmd = transport_unmap_cmd,
	.iscsit_wait_conn = transport_wait_conn,
	.iscsit_free_conn = transport_free_conn,
};

void transport_register(void)
{
	transport.priv_size = lio_command_size();
	iscsit_register_transport(&transport);
}

void transport_unregister(void)
{
	iscsit_unregister_transport(&transport);
}
