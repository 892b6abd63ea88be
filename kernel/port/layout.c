// SPDX-License-Identifier: GPL-2.0
/*
 * Compiled to assembly only; Kbuild turns the marked lines into layout.h, the
 * way the kernel makes asm-offsets.h.  The C++ side reads the result.
 */
#include <linux/kbuild.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "linux/objects.h"

#define STORAGE(name, type)						\
	do {								\
		DEFINE(name ## _SIZE, sizeof(type));			\
		DEFINE(name ## _ALIGN, __alignof__(type));		\
	} while (0)

int main(void)
{
	STORAGE(PORT_SPINLOCK, spinlock_t);
	STORAGE(PORT_MUTEX, struct mutex);
	STORAGE(PORT_WORK, struct port_work);
	STORAGE(PORT_GATE, struct port_gate);
	DEFINE(PORT_KMALLOC_MINALIGN, ARCH_KMALLOC_MINALIGN);
	BLANK();
	STORAGE(VERBS_RECEIVE, struct verbs_receive);
	STORAGE(VERBS_SEND, struct verbs_send);
	STORAGE(VERBS_TRANSFER, struct verbs_transfer);
	STORAGE(TARGET_SCATTERLIST, struct scatterlist);
	BLANK();
	DEFINE(VERBS_RECEIVE_PIECES, VERBS_RECEIVE_PIECES);
	DEFINE(VERBS_SEND_PIECES, VERBS_SEND_PIECES);
	return 0;
}
