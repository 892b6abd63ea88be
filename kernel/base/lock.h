// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/utility.h"
#include "port/layout.h"
#include "port/port.h"

/* Checked by clang -Wthread-safety; comments to gcc. */
#ifdef __clang__
#define CAPABILITY(name) __attribute__((capability(name)))
#define SCOPED_CAPABILITY __attribute__((scoped_lockable))
#define GUARDED_BY(lock) __attribute__((guarded_by(lock)))
#define REQUIRES(lock) __attribute__((requires_capability(lock)))
#define ACQUIRE(...) __attribute__((acquire_capability(__VA_ARGS__)))
#define RELEASE(...) __attribute__((release_capability(__VA_ARGS__)))
#define UNCHECKED __attribute__((no_thread_safety_analysis))
#else
#define CAPABILITY(name)
#define SCOPED_CAPABILITY
#define GUARDED_BY(lock)
#define REQUIRES(lock)
#define ACQUIRE(...)
#define RELEASE(...)
#define UNCHECKED
#endif

namespace base {

/* A kernel spinlock_t, held with interrupts off. */
class CAPABILITY("spinlock") SpinLock : Immovable {
public:
	explicit SpinLock(const char *name) { port_spin_init(storage_, name); }

private:
	friend class SpinGuard;
	alignas(PORT_SPINLOCK_ALIGN) u8 storage_[PORT_SPINLOCK_SIZE];
};

class SCOPED_CAPABILITY [[nodiscard]] SpinGuard : Immovable {
public:
	explicit SpinGuard(SpinLock &lock) ACQUIRE(lock)
		: lock_(lock), flags_(port_spin_lock(lock.storage_))
	{
	}
	~SpinGuard() RELEASE() { port_spin_unlock(lock_.storage_, flags_); }

private:
	SpinLock &lock_;
	unsigned long flags_;
};

/* A kernel struct mutex: process context only. */
class CAPABILITY("mutex") Mutex : Immovable {
public:
	explicit Mutex(const char *name) { port_mutex_init(storage_, name); }

private:
	friend class MutexGuard;
	alignas(PORT_MUTEX_ALIGN) u8 storage_[PORT_MUTEX_SIZE];
};

class SCOPED_CAPABILITY [[nodiscard]] MutexGuard : Immovable {
public:
	explicit MutexGuard(Mutex &mutex) ACQUIRE(mutex) : mutex_(mutex)
	{
		port_mutex_lock(mutex_.storage_);
	}
	~MutexGuard() RELEASE() { port_mutex_unlock(mutex_.storage_); }

private:
	Mutex &mutex_;
};

/*
 * If @wanted, softirqs that come up meanwhile run at the end, by whoever holds
 * this: see port_softirqs_on().
 */
class [[nodiscard]] SoftirqsAtTheEnd : Immovable {
public:
	explicit SoftirqsAtTheEnd(bool wanted) : wanted_(wanted)
	{
		if (wanted_)
			port_softirqs_off();
	}
	~SoftirqsAtTheEnd()
	{
		if (wanted_)
			port_softirqs_on();
	}

private:
	const bool wanted_;
};

} // namespace base
