// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/utility.h"
#include "port/layout.h"
#include "port/port.h"

namespace base {

/*
 * Calls @Method on @owner later, in process context.  The destructor waits for
 * a call that has begun, so the owner must not die inside it.
 */
template <typename Owner, void (Owner::*Method)()>
class Work : Immovable {
public:
	explicit Work(Owner &owner)
	{
		port_work_init(storage_, &Work::run, &owner);
	}
	~Work() { port_work_cancel_sync(storage_); }

	void queue(unsigned int delay_ms = 0)
	{
		port_work_queue(storage_, delay_ms);
	}
	void postpone(unsigned int delay_ms)
	{
		port_work_postpone(storage_, delay_ms);
	}
	void cancel_sync() { port_work_cancel_sync(storage_); }
	/* True if it was queued, and now will not run. */
	bool cancel() { return port_work_cancel(storage_); }

private:
	static void run(void *owner) { (static_cast<Owner *>(owner)->*Method)(); }

	alignas(PORT_WORK_ALIGN) u8 storage_[PORT_WORK_SIZE];
};

} // namespace base
