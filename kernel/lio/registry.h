// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/list.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/span.h"
#include "base/work.h"
#include "lio/statistics.h"

namespace lio {

class Connection;
class Portal;

/*
 * All portals and connections of the module, for those who need to see them
 * together: debugfs, and the answer to SendTargets.  Also ends connections'
 * lives: a connection whose last owner is one of its own works cannot be
 * deleted there.
 *
 * One, from load to unload.
 */
class Registry : public base::Allocated, base::Immovable {
public:
	static base::Error create();
	static void destroy();
	/* Valid from create() to destroy(). */
	static Registry &instance() { return *instance_; }

	Registry();
	~Registry();

	Statistics &statistics() { return statistics_; }

	void add(Connection &connection);
	void remove(Connection &connection);
	/* Deletes @connection, later, in process context. */
	void bury(Connection &connection);
	void add(Portal &portal);
	void remove(Portal &portal);

	void show_connections(void *reader);
	/* Ports that differ from what LIO tells initiators; see F-44. */
	size_t rewrite_send_targets(base::MutableBytes text, size_t length);

private:
	/* Defined with the classes that they link. */
	struct Lists;
	void reap();

	static Registry *instance_;

	Statistics statistics_;
	/* Guards the lists; held while a reader prints them. */
	base::Mutex mutex_;
	/* Guards those that wait to be deleted; taken in any context. */
	base::SpinLock grave_lock_;
	base::OwnPtr<Lists> lists_;
	base::Work<Registry, &Registry::reap> reaper_;
};

} // namespace lio
