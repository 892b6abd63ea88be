// SPDX-License-Identifier: GPL-2.0
/* port.h on Linux. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bottom_half.h>
#include <linux/inet.h>
#include <linux/ipv6.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/printk.h>
#include <linux/seq_file.h>
#include <linux/ratelimit.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "objects.h"
#include "port/port.h"

static_assert(sizeof(struct port_address) >= sizeof(struct sockaddr_storage));

struct workqueue_struct *lio_iser_wq;

int port_init(void)
{
	/* Unbound: what runs here waits for the peer, the core or a drain. */
	lio_iser_wq = alloc_workqueue("lio_iser", WQ_UNBOUND | WQ_MEM_RECLAIM,
				      0);
	return lio_iser_wq ? 0 : -ENOMEM;
}

void port_flush(void)
{
	flush_workqueue(lio_iser_wq);
}

void port_exit(void)
{
	destroy_workqueue(lio_iser_wq);
}

/* Memory ---------------------------------------------------------------- */

static atomic_long_t live_allocations;

void *count_allocation(void *memory)
{
	if (memory)
		atomic_long_inc(&live_allocations);
	return memory;
}

void *count_free(void *memory)
{
	if (memory)
		atomic_long_dec(&live_allocations);
	return memory;
}

u64 port_live_allocations(void)
{
	return atomic_long_read(&live_allocations);
}

void *port_alloc(size_t size, enum port_context context)
{
	gfp_t flags = context == PORT_ATOMIC ? GFP_ATOMIC : GFP_KERNEL;

	return count_allocation(kzalloc(size, flags));
}

void port_free(void *memory)
{
	kfree(count_free(memory));
}

/* Locks ----------------------------------------------------------------- */

/*
 * All locks are initialized at the same place here, so lockdep would take
 * them for one class.  @kind tells them apart: what the lock is called, or
 * what the work runs.
 */
static struct lock_class_key *class_of(const void *kind)
{
	static struct {
		const void *kind;
		struct lock_class_key key;
	} classes[64];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(classes) - 1; i++) {
		const void *other = cmpxchg(&classes[i].kind, NULL, kind);

		if (!other || other == kind)
			break;
	}
	WARN_ONCE(i == ARRAY_SIZE(classes) - 1, "too many classes of locks");
	return &classes[i].key;
}

void port_spin_init(void *lock, const char *name)
{
	spinlock_t *self = lock;

	spin_lock_init(self);
	if (IS_ENABLED(CONFIG_LOCKDEP))
		lockdep_set_class_and_name(self, class_of(name), name);
}

unsigned long port_spin_lock(void *lock)
	__acquires(lock)
{
	unsigned long flags;

	spin_lock_irqsave((spinlock_t *)lock, flags);
	return flags;
}

void port_spin_unlock(void *lock, unsigned long flags)
	__releases(lock)
{
	spin_unlock_irqrestore((spinlock_t *)lock, flags);
}

void port_softirqs_off(void)
{
	local_bh_disable();
}

void port_softirqs_on(void)
{
	local_bh_enable();
}

void port_mutex_init(void *mutex, const char *name)
{
	struct mutex *self = mutex;

	mutex_init(self);
	if (IS_ENABLED(CONFIG_LOCKDEP))
		lockdep_set_class_and_name(self, class_of(name), name);
}

void port_mutex_lock(void *mutex)
{
	mutex_lock(mutex);
}

void port_mutex_unlock(void *mutex)
{
	mutex_unlock(mutex);
}

/* Deferred work --------------------------------------------------------- */

static void port_work_run(struct work_struct *work)
{
	struct port_work *self = container_of(to_delayed_work(work),
					      struct port_work, work);

	/* May free the memory that @self lies in. */
	self->run(self->context);
}

void port_work_init(void *work, void (*run)(void *context), void *context)
{
	struct port_work *self = work;

	INIT_DELAYED_WORK(&self->work, port_work_run);
#ifdef CONFIG_LOCKDEP
	lockdep_init_map(&self->work.work.lockdep_map, "lio_iser_work",
			 class_of(run), 0);
#endif
	self->run = run;
	self->context = context;
}

void port_work_queue(void *work, unsigned int delay_ms)
{
	struct port_work *self = work;

	queue_delayed_work(lio_iser_wq, &self->work,
			   msecs_to_jiffies(delay_ms));
}

void port_work_postpone(void *work, unsigned int delay_ms)
{
	struct port_work *self = work;

	mod_delayed_work(lio_iser_wq, &self->work, msecs_to_jiffies(delay_ms));
}

void port_work_cancel_sync(void *work)
{
	struct port_work *self = work;

	cancel_delayed_work_sync(&self->work);
}

int port_work_cancel(void *work)
{
	struct port_work *self = work;

	return cancel_delayed_work(&self->work);
}

/* Waiting --------------------------------------------------------------- */

void port_gate_init(void *gate)
{
	struct port_gate *self = gate;

	init_completion(&self->opened);
}

void port_gate_open(void *gate)
{
	struct port_gate *self = gate;

	complete_all(&self->opened);
}

void port_gate_close(void *gate)
{
	struct port_gate *self = gate;

	reinit_completion(&self->opened);
}

void port_gate_wait(void *gate)
{
	struct port_gate *self = gate;

	wait_for_completion(&self->opened);
}

int port_gate_wait_interruptible(void *gate)
{
	struct port_gate *self = gate;

	/* What it returns for a signal is for system calls only. */
	return wait_for_completion_interruptible(&self->opened) ? -EINTR : 0;
}

int port_gate_wait_timeout(void *gate, unsigned int timeout_ms)
{
	struct port_gate *self = gate;

	return wait_for_completion_timeout(&self->opened,
					   msecs_to_jiffies(timeout_ms)) ?
		0 : -ETIMEDOUT;
}

u64 port_now_ms(void)
{
	return ktime_to_ms(ktime_get());
}

/* Text ------------------------------------------------------------------ */

static void log_line(enum port_level level, const char *format, va_list *args)
{
	struct va_format line = { .fmt = format, .va = args };

	switch (level) {
	case PORT_ERROR:
		pr_err("%pV\n", &line);
		break;
	case PORT_WARNING:
		pr_warn("%pV\n", &line);
		break;
	case PORT_INFO:
		pr_info("%pV\n", &line);
		break;
	}
}

void port_log(enum port_level level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_line(level, format, &args);
	va_end(args);
}

void port_log_limited(enum port_level level, const char *format, ...)
{
	static DEFINE_RATELIMIT_STATE(limit, DEFAULT_RATELIMIT_INTERVAL,
				      2 * DEFAULT_RATELIMIT_BURST);
	va_list args;

	if (!__ratelimit(&limit))
		return;
	va_start(args, format);
	log_line(level, format, &args);
	va_end(args);
}

void port_emit(void *reader, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	seq_vprintf(reader, format, args);
	va_end(args);
}

int port_format(char *buffer, size_t size, const char *format, ...)
{
	va_list args;
	int written;

	va_start(args, format);
	written = vscnprintf(buffer, size, format, args);
	va_end(args);
	return written;
}

/* Addresses ------------------------------------------------------------- */

void port_address_text(const struct port_address *address, char *text,
		       size_t size)
{
	snprintf(text, size, "%pISpc", address->bytes);
}

/* Of either family; NULL if it is of neither. */
static __be16 *port_of(const struct port_address *address)
{
	struct sockaddr *any = (struct sockaddr *)address->bytes;

	switch (any->sa_family) {
	case AF_INET:
		return &((struct sockaddr_in *)any)->sin_port;
	case AF_INET6:
		return &((struct sockaddr_in6 *)any)->sin6_port;
	default:
		return NULL;
	}
}

u16 port_address_port(const struct port_address *address)
{
	__be16 *port = port_of(address);

	return port ? be16_to_cpu(*port) : 0;
}

void port_address_set_port(struct port_address *address, u16 port)
{
	__be16 *place = port_of(address);

	if (place)
		*place = cpu_to_be16(port);
}

static bool same_host6(const struct sockaddr_in6 *a,
		       const struct sockaddr_in6 *b)
{
	if (!ipv6_addr_equal(&a->sin6_addr, &b->sin6_addr))
		return false;
	/* A link-local address means a host only together with its link. */
	return !(ipv6_addr_type(&a->sin6_addr) & IPV6_ADDR_LINKLOCAL) ||
	       a->sin6_scope_id == b->sin6_scope_id;
}

int port_address_same_host(const struct port_address *a,
			   const struct port_address *b)
{
	const struct sockaddr *one = (const struct sockaddr *)a->bytes;
	const struct sockaddr *other = (const struct sockaddr *)b->bytes;

	if (one->sa_family != other->sa_family)
		return false;
	switch (one->sa_family) {
	case AF_INET:
		return ((const struct sockaddr_in *)one)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)other)->sin_addr.s_addr;
	case AF_INET6:
		return same_host6((const struct sockaddr_in6 *)one,
				  (const struct sockaddr_in6 *)other);
	default:
		return false;
	}
}
