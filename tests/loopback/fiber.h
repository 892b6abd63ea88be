// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <cstddef>
#include <ucontext.h>

namespace loopback {

/*
 * A stack that runs until it hands over to another one.  All of them share the
 * one thread of the test, so that nothing happens that the test did not choose.
 */
class Fiber {
public:
	/* The stack of the caller. */
	Fiber();
	/* A new one; begins with entry(@argument) and never returns from it. */
	Fiber(void (*entry)(void *argument), void *argument);
	~Fiber();
	Fiber(const Fiber &) = delete;
	Fiber &operator=(const Fiber &) = delete;

	/* Hands over from @from, which is the one that runs. */
	void run(Fiber &from);

private:
	static void begin();
	void arrive(Fiber *from);
	void leap();
	void switch_from(Fiber &from);

	/* How it begins, and where it goes on. */
	ucontext_t context_ = {};
	void *place_[5] = {};
	bool begun_ = false;
	void (*entry_)(void *argument) = nullptr;
	void *argument_ = nullptr;
	void *memory_ = nullptr;
	/* What the address sanitizer has to know of a stack. */
	const void *bottom_ = nullptr;
	std::size_t size_ = 0;
	void *fake_stack_ = nullptr;
};

} // namespace loopback
