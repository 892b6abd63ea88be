/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel generates its own; these are the sizes of host/port.cpp. */
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

/* The tests' streams keep nothing in there. */
#define VERBS_TRANSFER_SIZE 8
#define VERBS_TRANSFER_ALIGN 8

#endif
