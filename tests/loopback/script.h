// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <optional>
#include <string>

#include "loopback/machine.h"

namespace loopback {

/*
 * A random run, and all of it follows from the seed: what the machine is like,
 * what each of some initiators does, what befalls their connections, and in
 * which order all of that happens.  Returns what was wrong, in words; empty:
 * nothing.
 */
struct RandomRun {
	u64 seed;
	/* Parts that are broken, to see that it is noticed. */
	Broken broken = {};
	/* Piece of memory that cannot be had, counted from the first; and all
	 * the others can. */
	std::optional<size_t> no_memory_for = {};
	/* No connection is to end before its logout. */
	bool undisturbed = false;

	u32 initiators = 0;
	/* What was done, for whoever wants to know what a run is worth. */
	u64 steps = 0;
	u64 responses = 0;
	u64 aborts = 0;
	u64 logins = 0;
	u64 logouts = 0;
	u64 lost = 0;

	std::string go();

private:
	std::string play(Machine &machine, Random &random);
};

/* Whatever ends the process from now on says which seed it was. */
void note_seed(u64 seed);

} // namespace loopback
