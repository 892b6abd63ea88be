// SPDX-License-Identifier: GPL-2.0
#include "lio/portal.h"

#include "lio/registry.h"

namespace lio {

using base::Error;
using base::Result;
using base::SpinGuard;
using iser::Cause;

namespace {

/* How long one waits for an initiator's next request while others wait. */
constexpr u32 longest_patience_ms = 2000;
constexpr u32 shortest_patience_ms = 200;

/* What to do about a portal that cannot listen. */
const char *remedy(Error error)
{
	switch (error) {
	case Error::NoDevice:
		return "no RDMA device has this address; check with 'rdma link', and add a link for its network interface";
	case Error::AddressNotAvailable:
		return "no network interface has this address";
	case Error::AddressInUse:
		return "another RDMA listener has the port, and the ports above it; if ib_isert is loaded, disable iser on its portals and unload it";
	case Error::NoMemory:
		return "out of memory";
	default:
		return "see the error number";
	}
}

} // namespace

Portal::Portal(iscsi_np *np, const port_address &address)
	: np_(np), address_(address), lock_("portal"), hurry_(*this)
{
	port_address_text(&address, name_, sizeof(name_));
	empty_.open();
	Registry::instance().add(*this);
}

Portal::~Portal()
{
	Registry::instance().remove(*this);
}

Result<Portal *> Portal::create(iscsi_np *np, const port_address &address)
{
	Portal *portal =
		TRY(base::make<Portal>(PORT_MAY_SLEEP, np, address)).release();
	auto listener = rcap::listen_verbs(address, *portal);

	if (!listener.ok()) {
		port_log(PORT_ERROR, "portal %s: cannot listen: %s (%d)",
			 portal->name_, remedy(listener.error()),
			 base::to_errno(listener.error()));
		portal->put();
		return listener.error();
	}
	portal->listener_ = base::move(listener).value();
	portal->listening(portal->listener_->address(), true);
	return portal;
}

u16 Portal::listening_port()
{
	SpinGuard guard(lock_);

	return listening_port_;
}

void Portal::listening(const port_address &address, bool up)
{
	{
		SpinGuard guard(lock_);

		listening_port_ = up ? port_address_port(&address) : 0;
	}
	if (!up) {
		port_log(PORT_WARNING,
			 "portal %s: its address moved or its RDMA device went away; listening again as soon as that is possible",
			 name_);
		return;
	}
	if (port_address_port(&address) == port_address_port(&address_))
		port_log(PORT_INFO, "portal %s: listening for iSER", name_);
	else
		port_log(PORT_INFO,
			 "portal %s: the TCP port is taken on this kind of RDMA device; listening for iSER on port %u instead, and discovery over iSER says so",
			 name_, port_address_port(&address));
}

/* Requests ------------------------------------------------------------------ */

bool Portal::connection_requested(rcap::ConnectionRequest &request)
{
	char peer[64];
	Cause cause = Cause::None;
	Error error = Error::None;

	if (!target_portal_enabled(np_))
		cause = Cause::PortalDisabled;
	else
		error = Connection::create(*this, request);
	if (cause == Cause::None && error == Error::None)
		return true;

	if (error == Error::Busy)
		cause = Cause::TooManyPending;
	else if (error == Error::NoMemory)
		cause = Cause::OutOfMemory;
	else if (error != Error::None)
		cause = Cause::NoQueuePair;

	const char *why = iser::text(cause);

	request.reject({reinterpret_cast<const u8 *>(why),
			__builtin_strlen(why)});
	Registry::instance().statistics().connection_ended(cause);
	port_address_text(&request.peer(), peer, sizeof(peer));
	port_log_limited(PORT_WARNING,
			 "%s: connection to portal %s refused: %s (%d)", peer,
			 name_, why, base::to_errno(error));
	return false;
}

Cause Portal::adopt(Connection &connection)
{
	SpinGuard guard(lock_);

	if (stopping_)
		return Cause::PortalRemoved;
	if (pending_ >= lio_settings.max_pending)
		return Cause::TooManyPending;
	if (pending_++ == 0)
		empty_.close();
	waiting_.push_back(connection);
	return Cause::None;
}

void Portal::offer(Connection &connection)
{
	SpinGuard guard(lock_);

	if (!connection.portal_node.linked())
		return;
	waiting_.remove(connection);
	/*
	 * The latest comes first (F-40): who has just asked is there, while of
	 * those that pile up most have stalled, or will have given up.
	 */
	offered_.push_front(connection);
	offered_gate_.open();
	hurry_if_contended();
}

void Portal::forget(Connection &connection)
{
	SpinGuard guard(lock_);

	if (!connection.portal_node.linked())
		return;
	/* One node, whichever list it is on. */
	waiting_.remove(connection);
	if (--pending_ == 0)
		empty_.open();
}

/* LIO's thread -------------------------------------------------------------- */

Connection *Portal::take_offered()
{
	SpinGuard guard(lock_);
	Connection *connection = offered_.pop_front();

	if (!connection) {
		offered_gate_.close();
		return nullptr;
	}
	connection->get();
	if (--pending_ == 0)
		empty_.open();
	return connection;
}

void Portal::thread_left()
{
	Connection *connection;
	{
		SpinGuard guard(lock_);

		connection = in_thread_;
		in_thread_ = nullptr;
	}
	if (!connection)
		return;
	connection->thread_left();
	connection->put();
}

Error Portal::accept(iscsit_conn *conn)
{
	thread_left();
	for (;;) {
		if (offered_gate_.wait_interruptible() != Error::None ||
		    target_portal_stopping(np_))
			return Error::NoDevice;

		Connection *connection = take_offered();

		if (!connection)
			continue;
		if (connection->accept(conn)) {
			SpinGuard guard(lock_);

			in_thread_ = connection;
			logging_in_.push_back(*connection);
			hurry_if_contended();
			return Error::None;
		}
		connection->put();
	}
}

/* Logins that wait for their turn -------------------------------------------- */

void Portal::login_ended(Connection &connection)
{
	SpinGuard guard(lock_);

	if (connection.login_node.linked())
		logging_in_.remove(connection);
}

void Portal::hurry_if_contended()
{
	size_t waiting = 0;

	for (Connection &connection : logging_in_) {
		static_cast<void>(connection);
		++waiting;
	}
	if (waiting > 1 || (waiting == 1 && !offered_.empty()))
		hurry_.queue(shortest_patience_ms / 2);
}

/*
 * LIO lets one login of a portal group through at a time, and keeps the others
 * waiting until it has ended.  So while others wait, an initiator that lets LIO
 * wait for its next request is not waited for long: the shorter, the more they
 * are (F-40).
 */
void Portal::hurry()
{
	SpinGuard guard(lock_);
	u32 waiting = 0;

	for (Connection &connection : logging_in_)
		waiting += connection.idle_ms() == 0;
	for (Connection &connection : offered_) {
		static_cast<void>(connection);
		++waiting;
	}
	if (waiting == 0)
		return;
	u32 patience = longest_patience_ms / waiting;

	if (patience < shortest_patience_ms)
		patience = shortest_patience_ms;
	for (Connection &connection : logging_in_)
		if (connection.idle_ms() > patience)
			connection.end(Cause::LoginTimedOut,
				       "others were waiting");
	hurry_if_contended();
}

void Portal::destroy()
{
	listener_ = {};
	thread_left();
	{
		SpinGuard guard(lock_);

		stopping_ = true;
		for (Connection &connection : waiting_)
			connection.end(Cause::PortalRemoved);
		for (Connection &connection : offered_)
			connection.end(Cause::PortalRemoved);
	}
	empty_.wait();
	put();
}

} // namespace lio
