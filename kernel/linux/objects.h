/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernel objects that C++ objects embed as opaque storage: their sizes reach
 * C++ through port/layout.c.
 */
#ifndef LIO_ISER_LINUX_OBJECTS_H
#define LIO_ISER_LINUX_OBJECTS_H

#include <linux/completion.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include <rdma/rw.h>

/* Where the module's deferred work runs. */
extern struct workqueue_struct *lio_iser_wq;

/* Before and after everything else of the module. */
int port_init(void);
void port_exit(void);
/* Waits for all deferred work that is queued or runs. */
void port_flush(void);

/* Both count @memory, if it is any, and return it. */
void *count_allocation(void *memory);
void *count_free(void *memory);

/* transport.c: LIO sees us, or does not any more. */
void transport_register(void);
void transport_unregister(void);

void debugfs_create(void);
void debugfs_destroy(void);

struct port_work {
	struct delayed_work work;
	void (*run)(void *context);
	void *context;
};

/*
 * A completion rather than a wait queue: a waiter takes its lock, so whoever
 * waited may free the gate while the opener is still returning.
 */
struct port_gate {
	struct completion opened;
};

/* Pieces of a receive buffer and of a Send. */
#define VERBS_RECEIVE_PIECES	4
#define VERBS_SEND_PIECES	2

struct verbs_receive {
	struct ib_cqe cqe;
	struct ib_recv_wr wr;
	struct ib_sge sge[VERBS_RECEIVE_PIECES];
	void *context;
};

struct verbs_send {
	struct ib_cqe cqe;
	/* Of an RDMA Write that it is chained to, which completes in error only. */
	struct ib_cqe data;
	struct ib_send_wr wr;
	struct ib_sge sge[VERBS_SEND_PIECES];
	void *context;
};

struct verbs_transfer {
	/* Of the work request whose completion ends the operation. */
	struct ib_cqe last;
	/* Of the others, which complete in error only. */
	struct ib_cqe early;
	struct rdma_rw_ctx rw;
	/* What was mapped: a part of the caller's list, or all of @copy. */
	struct scatterlist *list;
	u32 entries;
	struct sg_table copy;
	enum dma_data_direction direction;
	/* The first error since the post. */
	enum ib_wc_status failure;
	void *context;
};

#endif
