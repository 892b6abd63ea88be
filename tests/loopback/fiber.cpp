// SPDX-License-Identifier: GPL-2.0
#include "loopback/fiber.h"

#include <sys/mman.h>

#include "host/host.h"
#include "loopback/sanitizer.h"

/* The two functions that change the stack: neither has a frame to check. */
#define UNSANITIZED \
	__attribute__((noinline, no_sanitize("address", "undefined")))

namespace loopback {

namespace {

/* The sanitizers make frames large. */
constexpr std::size_t stack_size = 512 * 1024;
constexpr std::size_t guard_size = 4096;

/* Who begins, and who handed over to him: begin() has no argument. */
Fiber *beginning;
Fiber *leaving;

} // namespace

Fiber::Fiber() : begun_(true) {}

Fiber::Fiber(void (*entry)(void *argument), void *argument)
	: entry_(entry), argument_(argument)
{
	memory_ = mmap(nullptr, guard_size + stack_size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory_ == MAP_FAILED || mprotect(memory_, guard_size, PROT_NONE))
		host::die("no memory for a stack");
	bottom_ = static_cast<char *>(memory_) + guard_size;
	size_ = stack_size;
	getcontext(&context_);
	context_.uc_stack.ss_sp = const_cast<void *>(bottom_);
	context_.uc_stack.ss_size = size_;
	makecontext(&context_, &Fiber::begin, 0);
}

Fiber::~Fiber()
{
	if (memory_)
		munmap(memory_, guard_size + stack_size);
}

/* Once, and then whenever somebody has handed over to us. */
void Fiber::arrive(Fiber *from)
{
#ifdef HAS_ASAN
	const void *bottom;
	std::size_t size;

	__sanitizer_finish_switch_fiber(fake_stack_, &bottom, &size);
	if (!from->bottom_) {
		from->bottom_ = bottom;
		from->size_ = size;
	}
#else
	static_cast<void>(from);
#endif
}

void Fiber::begin()
{
	Fiber &self = *beginning;

	self.arrive(leaving);
	self.entry_(self.argument_);
	host::die("a fiber returned");
}

void Fiber::run(Fiber &from)
{
	beginning = this;
	leaving = &from;
#ifdef HAS_ASAN
	__sanitizer_start_switch_fiber(&from.fake_stack_, bottom_, size_);
#endif
	switch_from(from);
	from.arrive(leaving);
}

/*
 * Not swapcontext(), which makes a system call, and whose guard in the address
 * sanitizer clears what it knows of the whole stack.
 */
UNSANITIZED void Fiber::switch_from(Fiber &from)
{
	if (!__builtin_setjmp(from.place_))
		leap();
}

UNSANITIZED void Fiber::leap()
{
	if (begun_)
		__builtin_longjmp(place_, 1);
	begun_ = true;
	setcontext(&context_);
}

} // namespace loopback
