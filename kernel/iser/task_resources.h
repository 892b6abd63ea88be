// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "iser/header.h"
#include "rcap/operation.h"

namespace iser {

/*
 * What iSER keeps for one task (RFC 7145 2.1): the buffers that the peer
 * advertised, the response, and the RDMA operation under way.  Lives in the
 * iSCSI layer's command; the iSCSI layer must not free that while the
 * Datamover has an operation of it, which ends with control_sent() or
 * data_completion_notify().
 */
struct TaskResources {
	RemoteMapping mapping;
	/* Bytes of write data that come without being asked for. */
	u32 unsolicited = 0;
	/* Set before get_data() and send_control(): no other task is under way. */
	bool alone = false;
	rcap::Send control;
	rcap::Transfer data;
};

} // namespace iser
