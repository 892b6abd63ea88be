// SPDX-License-Identifier: GPL-2.0
/* Tells how many work requests rdma_rw adds to a send queue; newer kernels. */
#include <rdma/rw.h>

unsigned int probe(struct ib_device *device);
unsigned int probe(struct ib_device *device)
{
	return rdma_rw_max_send_wr(device, 1, 1, 0);
}
