// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/result.h"
#include "port/layout.h"
#include "port/port.h"

namespace base {

/* Where threads wait until something is so; see port_gate_*. */
class Gate : Immovable {
public:
	Gate() { port_gate_init(storage_); }

	void open() { port_gate_open(storage_); }
	void close() { port_gate_close(storage_); }
	void wait() { port_gate_wait(storage_); }
	/* Interrupted when a signal ends the wait. */
	Error wait_interruptible()
	{
		return from_errno(port_gate_wait_interruptible(storage_));
	}
	Error wait_ms(unsigned int timeout)
	{
		return from_errno(port_gate_wait_timeout(storage_, timeout));
	}

private:
	alignas(PORT_GATE_ALIGN) u8 storage_[PORT_GATE_SIZE];
};

} // namespace base
