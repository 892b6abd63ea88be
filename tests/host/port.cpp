// SPDX-License-Identifier: GPL-2.0
/*
 * port.h in one thread of a process: time stands still until a test moves it,
 * and work runs when the test says so.  Made to be strict rather than fast: it
 * aborts where the kernel would only misbehave.
 */
#include "port/port.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <netinet/in.h>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "host/host.h"
#include "port/layout.h"

namespace {

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

template <typename T, size_t Size, size_t Align>
T &object(void *storage)
{
	static_assert(sizeof(T) <= Size && alignof(T) <= Align);
	return *static_cast<T *>(storage);
}

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

constexpr size_t never = ~size_t{0};
constexpr size_t max_allocation = 8192;

std::set<void *> live;
size_t fail_after = never;
unsigned long spin_depth = 0;
u64 now = 1000;
std::vector<Work *> queue; /* by due time, then by order of queueing */
Work *running = nullptr;
bool interrupted = false;
std::string log_lines;

[[noreturn]] void die(const char *what)
{
	std::fprintf(stderr, "port: %s\n", what);
	std::abort();
}

void might_sleep(const char *what)
{
	if (spin_depth)
		die(what);
}

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

std::string format(const char *format, va_list args)
{
	char text[512];

	std::vsnprintf(text, sizeof(text), format, args);
	return text;
}

const sockaddr_storage &socket_address(const port_address *address)
{
	static_assert(sizeof(port_address) >= sizeof(sockaddr_storage));
	return *reinterpret_cast<const sockaddr_storage *>(address->bytes);
}

const sockaddr_in &ipv4(const port_address *address)
{
	return *reinterpret_cast<const sockaddr_in *>(address->bytes);
}

const sockaddr_in6 &ipv6(const port_address *address)
{
	return *reinterpret_cast<const sockaddr_in6 *>(address->bytes);
}

bool is_ipv6(const port_address *address)
{
	return socket_address(address).ss_family == AF_INET6;
}

} // namespace

namespace host {

void fail_allocation_after(size_t successes) { fail_after = successes; }
void fail_no_allocation() { fail_after = never; }
size_t live_allocations() { return live.size(); }

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

std::string take_log()
{
	std::string lines;

	lines.swap(log_lines);
	return lines;
}

port_address address(const char *text, u16 port)
{
	port_address address = {};
	auto *v4 = reinterpret_cast<sockaddr_in *>(address.bytes);
	auto *v6 = reinterpret_cast<sockaddr_in6 *>(address.bytes);

	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1)
		v4->sin_family = AF_INET;
	else if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1)
		v6->sin6_family = AF_INET6;
	else
		die("not an address");
	port_address_set_port(&address, port);
	return address;
}

} // namespace host

void *port_alloc(size_t size, port_context context)
{
	if (context == PORT_MAY_SLEEP)
		might_sleep("sleeping allocation under a spin lock");
	if (size > max_allocation)
		die("an allocation larger than the port grants");
	if (fail_after != never && fail_after-- == 0)
		return nullptr;

	void *memory = std::calloc(1, size);

	if (!memory)
		die("out of memory");
	live.insert(memory);
	return memory;
}

u64 port_live_allocations(void) { return live.size(); }

void port_free(void *memory)
{
	if (!memory)
		return;
	if (!live.erase(memory))
		die("memory is freed that was not allocated");
	std::free(memory);
}

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

void port_log(port_level level, const char *text, ...)
{
	va_list args;

	va_start(args, text);
	std::string line = format(text, args);
	va_end(args);
	if (line.find('\n') != std::string::npos)
		die("a log line with a line break in it");
	log_lines += line + "\n";
	if (std::getenv("PORT_LOG"))
		std::fprintf(stderr, "<%d>%s\n", level, line.c_str());
}

void port_log_limited(port_level level, const char *text, ...)
{
	va_list args;

	va_start(args, text);
	std::string line = format(text, args);
	va_end(args);
	port_log(level, "%s", line.c_str());
}

void port_emit(void *reader, const char *text, ...)
{
	va_list args;

	va_start(args, text);
	*static_cast<std::string *>(reader) += format(text, args);
	va_end(args);
}

int port_format(char *buffer, size_t size, const char *text, ...)
{
	va_list args;

	va_start(args, text);
	int length = std::vsnprintf(buffer, size, text, args);
	va_end(args);
	if (size == 0)
		return 0;
	return std::min(length, static_cast<int>(size - 1));
}

void port_address_text(const port_address *address, char *text, size_t size)
{
	char host[INET6_ADDRSTRLEN] = "?";
	u16 port = port_address_port(address);

	if (is_ipv6(address)) {
		inet_ntop(AF_INET6, &ipv6(address).sin6_addr, host,
			  sizeof(host));
		std::snprintf(text, size, "[%s]:%u", host, port);
	} else {
		inet_ntop(AF_INET, &ipv4(address).sin_addr, host,
			  sizeof(host));
		std::snprintf(text, size, "%s:%u", host, port);
	}
}

u16 port_address_port(const port_address *address)
{
	/* sin_port and sin6_port lie at the same place. */
	return ntohs(ipv4(address).sin_port);
}

void port_address_set_port(port_address *address, u16 port)
{
	reinterpret_cast<sockaddr_in *>(address->bytes)->sin_port = htons(port);
}

int port_address_same_host(const port_address *a, const port_address *b)
{
	if (is_ipv6(a) != is_ipv6(b))
		return 0;
	if (is_ipv6(a))
		return !std::memcmp(&ipv6(a).sin6_addr, &ipv6(b).sin6_addr,
				    sizeof(in6_addr));
	return ipv4(a).sin_addr.s_addr == ipv4(b).sin_addr.s_addr;
}
