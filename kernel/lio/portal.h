// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/gate.h"
#include "base/lock.h"
#include "base/reference.h"
#include "base/work.h"
#include "lio/connection.h"
#include "rcap/listener.h"

namespace lio {

/*
 * A network portal of LIO (struct iscsi_np) with iSER enabled: listens, and
 * keeps the connections whose login LIO has not taken over yet.
 *
 * LIO has one thread for each portal, which handles one login request at a
 * time.  So a connection is offered to it only once its first request is
 * complete: who connects and says nothing holds up nobody (F-40).
 *
 * Owners: LIO, until destroy(), and each connection.
 */
class Portal final : public rcap::ListenerUser, public base::Allocated,
		     public base::ReferenceCounted<Portal> {
public:
	static base::Result<Portal *> create(iscsi_np *np,
					     const port_address &address);
	explicit Portal(iscsi_np *np, const port_address &address);
	~Portal();

	/*
	 * LIO's thread waits here for a connection to log in.  Returning here
	 * also says that it is through with the one before.
	 */
	base::Error accept(iscsit_conn *conn);
	/* No more connections; ends those that LIO does not know. Sleeps. */
	void destroy();

	bool connection_requested(rcap::ConnectionRequest &request) override;
	void listening(const port_address &address, bool up) override;

	void last_put() { delete this; }

	/* From a connection, about itself.  Refused: the portal is full. */
	iser::Cause adopt(Connection &connection);
	void offer(Connection &connection);
	/* From accept on, until its login has ended one way or the other. */
	void login_ended(Connection &connection);
	void forget(Connection &connection);

	const char *name() const { return name_; }
	const port_address &address() const { return address_; }
	/* Where it really listens; 0: nowhere just now. */
	u16 listening_port();

	base::ListNode registry_node;

private:
	using ConnectionList = base::List<Connection, &Connection::portal_node>;

	Connection *take_offered();
	void hurry();
	void hurry_if_contended() REQUIRES(lock_);
	void thread_left();

	iscsi_np *np_;
	port_address address_;
	char name_[64];
	base::OwnPtr<rcap::Listener> listener_;
	/* Open while a connection is offered. */
	base::Gate offered_gate_;
	/* Open while none is pending. */
	base::Gate empty_;

	/* Guards what follows. */
	base::SpinLock lock_;
	bool stopping_ GUARDED_BY(lock_) = false;
	u16 listening_port_ GUARDED_BY(lock_) = 0;
	/* Connections that LIO does not know: connecting, silent, offered. */
	u32 pending_ GUARDED_BY(lock_) = 0;
	ConnectionList waiting_ GUARDED_BY(lock_);
	ConnectionList offered_ GUARDED_BY(lock_);
	/* LIO has them, but not in full feature phase yet. */
	base::List<Connection, &Connection::login_node>
		logging_in_ GUARDED_BY(lock_);
	/* What LIO's thread works on; it may still look at it. */
	Connection *in_thread_ GUARDED_BY(lock_) = nullptr;
	/* Last, so that it ends before anything else goes. */
	base::Work<Portal, &Portal::hurry> hurry_;
};

} // namespace lio
