/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIO_ISER_LINUX_COMPAT_LOGIN_TIMER_H
#define LIO_ISER_LINUX_COMPAT_LOGIN_TIMER_H

#include <linux/timer.h>

#include <target/iscsi/iscsi_target_core.h>

#include "linux/compat/config.h"

/*
 * Stops the timer by which LIO limits a login as a whole, for good; whether it
 * had not expired.  Kernels without one have nothing that could expire.
 */
static inline bool stop_login_timer(struct iscsit_conn *conn)
{
#if COMPAT_LOGIN_TIMER
	timer_delete_sync(&conn->login_timer);
	return !conn->login->login_failed;
#else
	return true;
#endif
}

#endif
