// SPDX-License-Identifier: GPL-2.0
/*
 * The part of port.h where time passes, by a scheduler: who waits gives the
 * processor away, and work is one choice of several.
 */
#include "port/port.h"

#include <cerrno>
#include <new>

#include "host/host.h"
#include "loopback/scheduler.h"
#include "port/layout.h"

namespace {

using host::die;
using host::might_sleep;
using host::object;
using loopback::Scheduler;
using loopback::Work;

struct Spin {
	const char *name;
	bool held;
};

struct Mutex {
	const char *name;
	const void *holder;
};

struct Gate {
	bool open;
};

Spin &spin(void *lock)
{
	return object<Spin, PORT_SPINLOCK_SIZE, PORT_SPINLOCK_ALIGN>(lock);
}

Mutex &mutex(void *lock)
{
	return object<Mutex, PORT_MUTEX_SIZE, PORT_MUTEX_ALIGN>(lock);
}

Work &work_item(void *work)
{
	return object<Work, PORT_WORK_SIZE, PORT_WORK_ALIGN>(work);
}

Gate &gate_object(void *gate)
{
	return object<Gate, PORT_GATE_SIZE, PORT_GATE_ALIGN>(gate);
}

Scheduler &scheduler() { return Scheduler::instance(); }

unsigned long spin_depth = 0;

bool wait_for(const Gate &gate, u64 deadline, bool interruptible)
{
	return scheduler().wait("a gate", [&gate] { return gate.open; },
				deadline, interruptible);
}

} // namespace

namespace host {

void might_sleep(const char *what)
{
	if (spin_depth)
		die(what);
}

} // namespace host

void port_spin_init(void *lock, const char *name)
{
	new (&spin(lock)) Spin{name, false};
}

/* Nobody else runs while one is held, so it is always free. */
unsigned long port_spin_lock(void *lock)
{
	Spin &self = spin(lock);

	if (spin_depth == 0)
		scheduler().maybe_hold_up();
	if (self.held)
		die(self.name);
	self.held = true;
	return ++spin_depth;
}

void port_spin_unlock(void *lock, unsigned long flags)
{
	if (flags != spin_depth || !spin(lock).held)
		die("spin locks released out of order");
	--spin_depth;
	spin(lock).held = false;
}

void port_mutex_init(void *lock, const char *name)
{
	new (&mutex(lock)) Mutex{name, nullptr};
}

void port_mutex_lock(void *lock)
{
	Mutex &self = mutex(lock);

	might_sleep("a mutex taken under a spin lock");
	if (self.holder == scheduler().runner())
		die(self.name);
	scheduler().maybe_hold_up();
	if (self.holder)
		scheduler().wait(self.name, [&self] { return !self.holder; });
	self.holder = scheduler().runner();
}

void port_mutex_unlock(void *lock)
{
	if (mutex(lock).holder != scheduler().runner())
		die("a mutex is released by who has not got it");
	mutex(lock).holder = nullptr;
}

void port_work_init(void *work, void (*run)(void *), void *context)
{
	new (&work_item(work)) Work{run, context, 0, 0, false};
}

void port_work_queue(void *work, unsigned int delay_ms)
{
	scheduler().queue(work_item(work), delay_ms);
}

void port_work_postpone(void *work, unsigned int delay_ms)
{
	scheduler().cancel(work_item(work));
	port_work_queue(work, delay_ms);
}

void port_work_cancel_sync(void *work)
{
	Work &item = work_item(work);

	might_sleep("waiting for work under a spin lock");
	if (scheduler().runs(item))
		die("work waits for itself");
	if (scheduler().running(item))
		scheduler().wait("work to end", [&item] {
			return !scheduler().running(item);
		});
	scheduler().cancel(item);
}

int port_work_cancel(void *work)
{
	return scheduler().cancel(work_item(work));
}

void port_gate_init(void *gate)
{
	new (&gate_object(gate)) Gate{false};
}

void port_gate_open(void *gate) { gate_object(gate).open = true; }
void port_gate_close(void *gate) { gate_object(gate).open = false; }

int port_gate_wait_interruptible(void *gate)
{
	return wait_for(gate_object(gate), loopback::never, true) ? 0 : -EINTR;
}

int port_gate_wait_timeout(void *gate, unsigned int timeout_ms)
{
	return wait_for(gate_object(gate), scheduler().now() + timeout_ms,
			false) ? 0 : -ETIMEDOUT;
}

void port_gate_wait(void *gate)
{
	wait_for(gate_object(gate), loopback::never, false);
}

u64 port_now_ms(void) { return scheduler().now(); }
