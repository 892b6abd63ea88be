// SPDX-License-Identifier: GPL-2.0
/*
 * The part of port.h where time passes, on the one stack of the test: time
 * stands still until the test moves it, and work runs when the test says so.
 */
#include "port/port.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

#include "host/host.h"
#include "port/layout.h"

namespace {

using host::die;
using host::might_sleep;
using host::object;

/* For both kinds: in one thread, who waits for a holder waits for ever. */
struct Lock {
	const char *name;
	bool held;
};

struct Work {
	void (*run)(void *context);
	void *context;
	u64 due;
	bool queued;
};

struct Gate {
	bool open;
};

Lock &spin(void *lock)
{
	return object<Lock, PORT_SPINLOCK_SIZE, PORT_SPINLOCK_ALIGN>(lock);
}

Lock &mutex(void *lock)
{
	return object<Lock, PORT_MUTEX_SIZE, PORT_MUTEX_ALIGN>(lock);
}

Work &work_item(void *work)
{
	return object<Work, PORT_WORK_SIZE, PORT_WORK_ALIGN>(work);
}

Gate &gate_object(void *gate)
{
	return object<Gate, PORT_GATE_SIZE, PORT_GATE_ALIGN>(gate);
}

unsigned long spin_depth = 0;
u64 now = 1000;
std::vector<Work *> queue; /* by due time, then by order of queueing */
Work *running = nullptr;
bool interrupted = false;

void take(Lock &lock)
{
	if (lock.held) {
		std::fprintf(stderr, "port: lock %s: ", lock.name);
		die("taken twice");
	}
	lock.held = true;
}

void release(Lock &lock)
{
	if (!lock.held)
		die("a lock is released that nobody holds");
	lock.held = false;
}

void dequeue(Work &work)
{
	std::erase(queue, &work);
	work.queued = false;
}

/* Runs the first work due until @until; false if there is none. */
bool run_one(u64 until)
{
	if (queue.empty() || queue.front()->due > until)
		return false;

	Work &work = *queue.front();
	Work *outer = running;

	now = std::max(now, work.due);
	dequeue(work);
	running = &work;
	work.run(work.context);
	running = outer;
	return true;
}

} // namespace

namespace host {

void might_sleep(const char *what)
{
	if (spin_depth)
		die(what);
}

void run_work()
{
	while (run_one(now))
		;
}

void advance(unsigned int ms)
{
	u64 end = now + ms;

	while (run_one(end))
		;
	now = end;
}

size_t queued_work() { return queue.size(); }
void interrupt() { interrupted = true; }

} // namespace host

void port_spin_init(void *lock, const char *name)
{
	new (&spin(lock)) Lock{name, false};
}

unsigned long port_spin_lock(void *lock)
{
	take(spin(lock));
	return ++spin_depth;
}

void port_spin_unlock(void *lock, unsigned long flags)
{
	if (flags != spin_depth)
		die("spin locks released out of order");
	--spin_depth;
	release(spin(lock));
}

void port_mutex_init(void *lock, const char *name)
{
	new (&mutex(lock)) Lock{name, false};
}

void port_mutex_lock(void *lock)
{
	might_sleep("a mutex taken under a spin lock");
	take(mutex(lock));
}

void port_mutex_unlock(void *lock)
{
	release(mutex(lock));
}

void port_work_init(void *work, void (*run)(void *), void *context)
{
	new (&work_item(work)) Work{run, context, 0, false};
}

void port_work_queue(void *work, unsigned int delay_ms)
{
	Work &item = work_item(work);

	if (item.queued)
		return;
	item.due = now + delay_ms;
	item.queued = true;
	queue.insert(std::upper_bound(queue.begin(), queue.end(), &item,
				      [](const Work *a, const Work *b) {
					      return a->due < b->due;
				      }),
		     &item);
}

void port_work_postpone(void *work, unsigned int delay_ms)
{
	dequeue(work_item(work));
	port_work_queue(work, delay_ms);
}

void port_work_cancel_sync(void *work)
{
	might_sleep("waiting for work under a spin lock");
	if (running == &work_item(work))
		die("work waits for itself");
	dequeue(work_item(work));
}

int port_work_cancel(void *work)
{
	bool queued = work_item(work).queued;

	dequeue(work_item(work));
	return queued;
}

void port_gate_init(void *gate)
{
	new (&gate_object(gate)) Gate{false};
}

void port_gate_open(void *gate) { gate_object(gate).open = true; }
void port_gate_close(void *gate) { gate_object(gate).open = false; }

/* Who waits lets the others work; when none is left, nobody will open. */
int port_gate_wait_interruptible(void *gate)
{
	might_sleep("waiting under a spin lock");
	while (!gate_object(gate).open) {
		if (interrupted) {
			interrupted = false;
			return -EINTR;
		}
		if (!run_one(~u64{0}))
			die("a wait that nobody ends");
	}
	return 0;
}

int port_gate_wait_timeout(void *gate, unsigned int timeout_ms)
{
	u64 end = now + timeout_ms;

	might_sleep("waiting under a spin lock");
	while (!gate_object(gate).open) {
		if (!run_one(end)) {
			now = end;
			return -ETIMEDOUT;
		}
	}
	return 0;
}

void port_gate_wait(void *gate)
{
	might_sleep("waiting under a spin lock");
	while (!gate_object(gate).open)
		if (!run_one(~u64{0}))
			die("a wait that nobody ends");
}

u64 port_now_ms(void) { return now; }
