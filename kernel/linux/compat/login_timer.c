// SPDX-License-Identifier: GPL-2.0
/* Tells whether LIO limits a login as a whole; newer kernels. */
#include <target/iscsi/iscsi_target_core.h>

struct timer_list *probe(struct iscsit_conn *conn);
struct timer_list *probe(struct iscsit_conn *conn)
{
	return &conn->login_timer;
}
