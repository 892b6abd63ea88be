// SPDX-License-Identifier: GPL-2.0
/* LIO calls: each entry finds the object that it is about. */
#include "port/entry.h"

#include "lio/portal.h"
#include "lio/registry.h"

using base::Error;
using base::to_errno;
using lio::Connection;
using lio::Portal;
using lio::Registry;

namespace {

Connection &object(lio_connection *connection)
{
	return *reinterpret_cast<Connection *>(connection);
}

Portal &object(lio_portal *portal)
{
	return *reinterpret_cast<Portal *>(portal);
}

} // namespace

int lio_module_create(void)
{
	return to_errno(Registry::create());
}

void lio_module_destroy(void)
{
	Registry::destroy();
}

int lio_portal_create(struct iscsi_np *np, const struct port_address *address,
		      struct lio_portal **out)
{
	auto portal = Portal::create(np, *address);

	if (!portal.ok())
		return to_errno(portal.error());
	*out = reinterpret_cast<lio_portal *>(portal.value());
	return 0;
}

int lio_portal_accept(struct lio_portal *portal, struct iscsit_conn *conn)
{
	return to_errno(object(portal).accept(conn));
}

void lio_portal_destroy(struct lio_portal *portal)
{
	object(portal).destroy();
}

u32 lio_command_size(void)
{
	return sizeof(lio::Command);
}

int lio_get_login_rx(struct lio_connection *connection,
		     struct iscsi_login *login, int first)
{
	return to_errno(object(connection).get_login_rx(login, first));
}

int lio_put_login_tx(struct lio_connection *connection,
		     struct iscsi_login *login)
{
	return to_errno(object(connection).put_login_tx(login));
}

int lio_validate_params(struct lio_connection *connection)
{
	return to_errno(object(connection).validate_params());
}

void lio_get_rx_pdu(struct lio_connection *connection)
{
	object(connection).get_rx_pdu();
}

int lio_immediate_queue(struct lio_connection *connection,
			struct iscsit_cmd *cmd, enum target_state state)
{
	return to_errno(object(connection).immediate_queue(cmd, state));
}

int lio_response_queue(struct lio_connection *connection,
		       struct iscsit_cmd *cmd, enum target_state state)
{
	return to_errno(object(connection).response_queue(cmd, state));
}

void lio_get_dataout(struct lio_connection *connection, struct iscsit_cmd *cmd)
{
	object(connection).get_dataout(cmd);
}

void lio_queue_data_in(struct lio_connection *connection,
		       struct iscsit_cmd *cmd)
{
	object(connection).queue_data_in(cmd);
}

void lio_queue_status(struct lio_connection *connection,
		      struct iscsit_cmd *cmd)
{
	object(connection).queue_status(cmd);
}

void lio_aborted_task(struct lio_connection *connection,
		      struct iscsit_cmd *cmd)
{
	object(connection).aborted_task(cmd);
}

void lio_unmap_cmd(struct lio_connection *connection, struct iscsit_cmd *cmd)
{
	object(connection).unmap_cmd(cmd);
}

void lio_wait_conn(struct lio_connection *connection)
{
	object(connection).wait_conn();
}

void lio_free_conn(struct lio_connection *connection)
{
	object(connection).free_conn();
}

void lio_show_connections(void *reader)
{
	Registry::instance().show_connections(reader);
}

void lio_show_statistics(void *reader)
{
	Registry::instance().statistics().show(reader);
}

size_t lio_rewrite_send_targets(u8 *text, size_t length, size_t size)
{
	return Registry::instance().rewrite_send_targets({text, size}, length);
}
