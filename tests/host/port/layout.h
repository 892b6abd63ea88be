/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel generates its own; these are the sizes of the tests' port. */
#ifndef LIO_ISER_PORT_LAYOUT_H
#define LIO_ISER_PORT_LAYOUT_H

#define PORT_SPINLOCK_SIZE 32
#define PORT_SPINLOCK_ALIGN 8
#define PORT_MUTEX_SIZE 32
#define PORT_MUTEX_ALIGN 8
#define PORT_WORK_SIZE 48
#define PORT_WORK_ALIGN 8
#define PORT_GATE_SIZE 8
#define PORT_GATE_ALIGN 8
#define PORT_KMALLOC_MINALIGN 8

/* Of loopback/verbs.cpp and loopback/lio.h; other streams leave it alone. */
#define VERBS_RECEIVE_SIZE 96
#define VERBS_RECEIVE_ALIGN 8
#define VERBS_SEND_SIZE 64
#define VERBS_SEND_ALIGN 8
#define VERBS_TRANSFER_SIZE 96
#define VERBS_TRANSFER_ALIGN 8
#define TARGET_SCATTERLIST_SIZE 16
#define TARGET_SCATTERLIST_ALIGN 8

#endif
