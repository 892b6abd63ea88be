// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/lock.h"
#include "base/work.h"
#include "port/verbs.h"
#include "rcap/listener.h"

namespace rcap::verbs {

/*
 * An rdma_cm listener that is rebuilt, in process context, when its address
 * changed or its device went away (F-13, F-15).
 *
 * An iWARP device without a port mapper shares the TCP port space with the
 * kernel, where LIO's own TCP portal has the port already (F-44).  The rule
 * then: the next port above that is free.
 */
class Listener final : public rcap::Listener, public base::Allocated,
		       base::Immovable {
public:
	Listener(const port_address &address, ListenerUser &user);
	~Listener() override;

	/* Once; NoDevice, AddressInUse: see verbs_listener_create. */
	base::Error start();
	port_address address() const override;

	void event(enum verbs_listener_event event);
	bool connect_request(const verbs_request &request);

private:
	void rebuild();
	base::Error listen_somewhere();
	base::Error listen_at(const port_address &address);

	const port_address wanted_;
	ListenerUser &user_;
	verbs_listener *handle_ = nullptr;

	/* Guards what follows. */
	mutable base::SpinLock lock_;
	port_address actual_ GUARDED_BY(lock_);
	u32 tries_ GUARDED_BY(lock_) = 0;
	bool stopping_ GUARDED_BY(lock_) = false;
	/* Last, so that it ends before anything else goes. */
	base::Work<Listener, &Listener::rebuild> rebuild_;
};

} // namespace rcap::verbs
