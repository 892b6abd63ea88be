/* SPDX-License-Identifier: GPL-2.0 */
/* <rdma/rw.h> as the newest kernel has it. */
#ifndef LIO_ISER_LINUX_COMPAT_RDMA_RW_H
#define LIO_ISER_LINUX_COMPAT_RDMA_RW_H

#include <rdma/rw.h>

#include "linux/compat/config.h"

#if !COMPAT_RDMA_RW_MAX_SEND_WR
static inline unsigned int rdma_rw_max_send_wr(struct ib_device *device,
					       u32 port, unsigned int contexts,
					       u32 create_flags)
{
	/* One to register, one to operate, one to invalidate. */
	if (rdma_protocol_iwarp(device, port) || device->attrs.max_sgl_rd)
		return 3 * contexts;
	return contexts;
}
#endif

#endif
