// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <cstddef>
#include <string>

#include "port/port.h"

/* What a test can see and do of the fake system behind port.h. */
namespace host {

/* The allocation after @successes more fails; the ones after it succeed. */
void fail_allocation_after(size_t successes);
void fail_no_allocation();
/* Whether the one that fails is still to come. */
bool allocation_is_to_fail();

/* @look runs in each allocation that may sleep, as another thread may. */
void look_in_allocations(void (*look)());

/* Allocations not freed yet. */
size_t live_allocations();

/* Runs the work that is due, and what it queues to run at once. */
void run_work();
/* Lets time pass, and runs the work that comes due, in its order. */
void advance(unsigned int ms);
/* Work that is queued, due or not. */
size_t queued_work();

/* The next interruptible wait that finds its gate closed is interrupted. */
void interrupt();

/* What was logged since the last call, a line each. */
std::string take_log();

/* For port_emit(): the reader is the string that the lines go to. */
inline void *reader(std::string &lines) { return &lines; }

/* Ends the test, and says why. */
[[noreturn]] void die(const char *what);
/* Dies if a spin lock is held; @what says what was about to sleep. */
void might_sleep(const char *what);

/* What this system keeps in the @storage of a kernel object. */
template <typename T, size_t Size, size_t Align>
T &object(void *storage)
{
	static_assert(sizeof(T) <= Size && alignof(T) <= Align);
	return *static_cast<T *>(storage);
}

/* An address from a test's text: "10.0.0.1" or "fe80::1". */
port_address address(const char *text, u16 port);

} // namespace host
