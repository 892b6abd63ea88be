/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the C side may ask of the C++ side: LIO's transport operations
 * (struct iscsit_transport), load and unload, and what debugfs shows.
 * Contexts and duties are those that LIO gives each operation; see
 * kernel/linux/transport.c.
 */
#ifndef LIO_ISER_PORT_ENTRY_H
#define LIO_ISER_PORT_ENTRY_H

#include "port/port.h"
#include "port/target.h"

#ifdef __cplusplus
extern "C" {
#endif

struct lio_portal;
struct lio_connection;

/* Parameters of the module; read when a connection is made. */
struct lio_settings {
	u32 max_pending;	/* connections without a finished login */
	u32 login_timeout;	/* seconds for a login, all in all */
	u32 receive_data;	/* TargetRecvDataSegmentLength */
	u32 silent_write_base;	/* 1: behind the unsolicited data (Linux) */
};
extern struct lio_settings lio_settings;

/* Load and unload; create before, destroy after everything else. */
CALLED_BY_C int lio_module_create(void);
CALLED_BY_C void lio_module_destroy(void);

/* Portals */
CALLED_BY_C int lio_portal_create(struct iscsi_np *np,
				  const struct port_address *address,
				  struct lio_portal **out);
CALLED_BY_C int lio_portal_accept(struct lio_portal *portal,
				  struct iscsit_conn *conn);
CALLED_BY_C void lio_portal_destroy(struct lio_portal *portal);

/* Size of our part of each LIO command. */
CALLED_BY_C u32 lio_command_size(void);

/* Connections */
CALLED_BY_C int lio_get_login_rx(struct lio_connection *connection,
				 struct iscsi_login *login, int first);
CALLED_BY_C int lio_put_login_tx(struct lio_connection *connection,
				 struct iscsi_login *login);
CALLED_BY_C int lio_validate_params(struct lio_connection *connection);
CALLED_BY_C void lio_get_rx_pdu(struct lio_connection *connection);
CALLED_BY_C int lio_immediate_queue(struct lio_connection *connection,
				    struct iscsit_cmd *cmd,
				    enum target_state state);
CALLED_BY_C int lio_response_queue(struct lio_connection *connection,
				   struct iscsit_cmd *cmd,
				   enum target_state state);
CALLED_BY_C void lio_get_dataout(struct lio_connection *connection,
				 struct iscsit_cmd *cmd);
CALLED_BY_C void lio_queue_data_in(struct lio_connection *connection,
				   struct iscsit_cmd *cmd);
CALLED_BY_C void lio_queue_status(struct lio_connection *connection,
				  struct iscsit_cmd *cmd);
CALLED_BY_C void lio_aborted_task(struct lio_connection *connection,
				  struct iscsit_cmd *cmd);
CALLED_BY_C void lio_unmap_cmd(struct lio_connection *connection,
			       struct iscsit_cmd *cmd);
CALLED_BY_C void lio_wait_conn(struct lio_connection *connection);
CALLED_BY_C void lio_free_conn(struct lio_connection *connection);

/*
 * Before a SendTargets answer of @length bytes leaves: names the ports that
 * portals really listen on.  Returns the new length, at most @size.
 */
CALLED_BY_C size_t lio_rewrite_send_targets(u8 *text, size_t length,
					    size_t size);

/* debugfs */
CALLED_BY_C void lio_show_connections(void *reader);
CALLED_BY_C void lio_show_statistics(void *reader);

#ifdef __cplusplus
}
#endif

#endif
