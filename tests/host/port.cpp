// SPDX-License-Identifier: GPL-2.0
/*
 * port.h in a process: memory, text and addresses.  Locks, work, waiting and
 * time are in one_stack.cpp, or wherever a test has them from.  Made to be
 * strict rather than fast: it aborts where the kernel would only misbehave.
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
#include <set>
#include <string>

#include "host/host.h"

namespace {

using host::die;
using host::might_sleep;

constexpr size_t never = ~size_t{0};
constexpr size_t max_allocation = 8192;

std::set<void *> live;
size_t fail_after = never;
void (*look)();
std::string log_lines;

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

void die(const char *what)
{
	std::fprintf(stderr, "port: %s\n", what);
	std::abort();
}

void fail_allocation_after(size_t successes) { fail_after = successes; }
void fail_no_allocation() { fail_after = never; }
bool allocation_is_to_fail() { return fail_after != never; }
void look_in_allocations(void (*what)()) { look = what; }
size_t live_allocations() { return live.size(); }

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
	if (context == PORT_MAY_SLEEP) {
		might_sleep("sleeping allocation under a spin lock");
		if (look)
			look();
	}
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

/* Nothing is put off to a softirq here. */
void port_softirqs_off(void) { might_sleep("softirqs off under a spin lock"); }
void port_softirqs_on(void) { might_sleep("softirqs on under a spin lock"); }

u64 port_live_allocations(void) { return live.size(); }

void port_free(void *memory)
{
	if (!memory)
		return;
	if (!live.erase(memory))
		die("memory is freed that was not allocated");
	std::free(memory);
}

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
