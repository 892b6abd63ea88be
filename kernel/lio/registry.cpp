// SPDX-License-Identifier: GPL-2.0
#include "lio/registry.h"

#include "iser/send_targets.h"
#include "lio/portal.h"

namespace lio {

using base::Error;
using base::MutableBytes;
using base::MutexGuard;
using base::SpinGuard;

struct Registry::Lists : public base::Allocated {
	base::List<Connection, &Connection::registry_node> connections;
	base::List<Portal, &Portal::registry_node> portals;
	base::List<Connection, &Connection::grave_node> grave;
};

Registry *Registry::instance_;

Registry::Registry()
	: mutex_("registry"), grave_lock_("grave"), reaper_(*this)
{
}

Registry::~Registry() = default;

Error Registry::create()
{
	auto registry = TRY(base::make<Registry>(PORT_MAY_SLEEP));

	registry->lists_ = TRY(base::make<Lists>(PORT_MAY_SLEEP));
	instance_ = registry.release();
	return Error::None;
}

void Registry::destroy()
{
	/* Nobody makes connections any more; the last ones may lie here. */
	instance_->reaper_.cancel_sync();
	instance_->reap();
	delete instance_;
	instance_ = nullptr;
}

void Registry::add(Connection &connection)
{
	MutexGuard guard(mutex_);

	lists_->connections.push_back(connection);
}

void Registry::remove(Connection &connection)
{
	MutexGuard guard(mutex_);

	if (connection.registry_node.linked())
		lists_->connections.remove(connection);
}

void Registry::bury(Connection &connection)
{
	SpinGuard guard(grave_lock_);

	lists_->grave.push_back(connection);
	reaper_.queue();
}

void Registry::reap()
{
	for (;;) {
		Connection *connection;
		{
			SpinGuard guard(grave_lock_);

			connection = lists_->grave.pop_front();
		}
		if (!connection)
			return;
		delete connection;
	}
}

void Registry::add(Portal &portal)
{
	MutexGuard guard(mutex_);

	lists_->portals.push_back(portal);
}

void Registry::remove(Portal &portal)
{
	MutexGuard guard(mutex_);

	lists_->portals.remove(portal);
}

void Registry::show_connections(void *reader)
{
	MutexGuard guard(mutex_);

	for (Connection &connection : lists_->connections)
		connection.show(reader);
}

size_t Registry::rewrite_send_targets(MutableBytes text, size_t length)
{
	MutexGuard guard(mutex_);

	for (Portal &portal : lists_->portals) {
		const u16 port = port_address_port(&portal.address());
		const u16 listening_port = portal.listening_port();
		base::Bytes name(reinterpret_cast<const u8 *>(portal.name()),
				 __builtin_strlen(portal.name()));

		if (port == listening_port || listening_port == 0)
			continue;
		/* The name is ADDRESS:PORT; the rule wants the address. */
		while (!name.empty() && name[name.size() - 1] != ':')
			name = name.first(name.size() - 1);
		if (name.empty())
			continue;
		const iser::PortRule rule = {
			.address = name.first(name.size() - 1),
			.port = port,
			.listening_port = listening_port,
		};
		length = iser::rewrite_ports(text, length, {&rule, 1});
	}
	return length;
}

} // namespace lio
