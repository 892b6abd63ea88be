// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "port/types.h"

namespace rcap {

/* Why a stream does not carry messages any more. */
enum class Fault : u8 {
	Disconnected,		/* the peer closed the connection */
	ConnectFailed,		/* the connection never came up */
	AddressChanged,		/* the network below moved (RDMA_CM) */
	DeviceRemoved,
	QueuePairFailed,	/* asynchronous error of the queue pair */
	ReceiveFailed,
	SendFailed,
	ReadFailed,
	WriteFailed,
	OutOfMemory,
};

} // namespace rcap
