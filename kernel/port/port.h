/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the C++ code may ask of the system it runs in: memory, locks, deferred
 * work, waiting, time, log.
 *
 * Two implementations: kernel/linux/port.c (Linux) and tests/host (a process).
 * Only plain C types cross this line, so that neither side needs the other's
 * headers.  Kernel objects are handed over as storage whose size and alignment
 * come from the generated port/layout.h.
 */
#ifndef LIO_ISER_PORT_PORT_H
#define LIO_ISER_PORT_PORT_H

#include "port/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether the caller may be put to sleep. */
enum port_context { PORT_MAY_SLEEP = 0, PORT_ATOMIC = 1 };

enum port_level { PORT_ERROR = 3, PORT_WARNING = 4, PORT_INFO = 6 };

/* Memory, zeroed.  NULL when there is none.  Aligned to PORT_KMALLOC_MINALIGN.
 * Any size up to 8 KiB; callable from any context with PORT_ATOMIC. */
void *port_alloc(size_t size, enum port_context context);
void port_free(void *memory);
/* How many pieces of memory the module has, those of streams included. */
u64 port_live_allocations(void);

/* Spin locks; @lock points at PORT_SPINLOCK_SIZE bytes.  @name tells lockdep
 * which kind of lock it is: one string literal for each kind. */
void port_spin_init(void *lock, const char *name);
unsigned long port_spin_lock(void *lock);
void port_spin_unlock(void *lock, unsigned long flags);

/*
 * What the system put off to a softirq meanwhile, runs in port_softirqs_on(),
 * on this processor and stack: without the wait for a thread that does it.
 * Process context, no spin lock held; pairs may nest.
 */
void port_softirqs_off(void);
void port_softirqs_on(void);

/* Mutexes; @mutex points at PORT_MUTEX_SIZE bytes.  Process context only. */
void port_mutex_init(void *mutex, const char *name);
void port_mutex_lock(void *mutex);
void port_mutex_unlock(void *mutex);

/*
 * Deferred work; @work points at PORT_WORK_SIZE bytes.  @run is called in
 * process context, never by two threads at once for one work item.  Queueing
 * an item that is queued already changes nothing.  cancel_sync also waits for
 * a run that has begun; it must not be called from that run.
 */
void port_work_init(void *work, void (*run)(void *context), void *context);
void port_work_queue(void *work, unsigned int delay_ms);
/* Queue, or move what is queued to @delay_ms from now. */
void port_work_postpone(void *work, unsigned int delay_ms);
void port_work_cancel_sync(void *work);
/* Takes it off the queue if it did not begin; does not wait.  1 if it did. */
int port_work_cancel(void *work);

/*
 * A gate that threads wait at until it is opened; @gate points at
 * PORT_GATE_SIZE bytes.  Opening wakes all, and it stays open until closed.
 * wait_interruptible returns 0 or -EINTR (the core ends its threads by
 * SIGINT); wait_timeout returns 0 or -ETIMEDOUT.
 */
void port_gate_init(void *gate);
void port_gate_open(void *gate);
void port_gate_close(void *gate);
int port_gate_wait_interruptible(void *gate);
int port_gate_wait_timeout(void *gate, unsigned int timeout_ms);
void port_gate_wait(void *gate);

/* Milliseconds since some moment in the past. */
u64 port_now_ms(void);

/* One line of the kernel log; no newline at the end of @format. */
void port_log(enum port_level level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The same for what a peer can cause: a flood of them is thinned out. */
void port_log_limited(enum port_level level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A line for a reader of debugfs; @reader is what the reader's entry got. */
void port_emit(void *reader, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* As snprintf, but returns what was really written. */
int port_format(char *buffer, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* An address of a peer or of a portal: a struct sockaddr_storage. */
struct port_address {
	u8 bytes[128];
} __attribute__((aligned(8)));

/* "10.0.0.1:3260" or "[fe80::1]:3260"; always terminated. */
void port_address_text(const struct port_address *address, char *text,
		       size_t size);
u16 port_address_port(const struct port_address *address);
void port_address_set_port(struct port_address *address, u16 port);
/* Whether the addresses, ports aside, are the same. */
int port_address_same_host(const struct port_address *a,
			   const struct port_address *b);

#ifdef __cplusplus
}
#endif

#endif
