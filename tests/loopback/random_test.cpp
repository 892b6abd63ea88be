// SPDX-License-Identifier: GPL-2.0
/*
 * Random runs.  LOOPBACK_SEED=n replays one, LOOPBACK_SEEDS=n makes n of them
 * in place of each thousand; both make so many from that one on.
 */
#include <gtest/gtest.h>

#include <cstdlib>

#include "loopback/sanitizer.h"
#include "loopback/script.h"

#ifdef HAS_ASAN
/* A run allocates much and lives for milliseconds. */
const char *__asan_default_options()
{
	return "malloc_context_size=8:quarantine_size_mb=16";
}
#endif

namespace {

using loopback::RandomRun;

constexpr u64 share = 1000;
constexpr int shares = 10;

u64 number(const char *variable, u64 otherwise)
{
	const char *value = std::getenv(variable);

	return value ? std::strtoull(value, nullptr, 0) : otherwise;
}

class Interleavings : public ::testing::TestWithParam<int> {};

TEST_P(Interleavings, DataIsRightAndNothingIsLeft)
{
	const bool one = std::getenv("LOOPBACK_SEED");
	const u64 first = number("LOOPBACK_SEED",
				 static_cast<u64>(GetParam()) * share);
	const u64 count = number("LOOPBACK_SEEDS", one ? 1 : share);
	RandomRun all = {.seed = 0};

	for (u64 seed = first; seed < first + count; ++seed) {
		RandomRun run = {.seed = seed};

		loopback::note_seed(seed);
		ASSERT_EQ(run.go(), "") << "LOOPBACK_SEED=" << seed;
		all.steps += run.steps;
		all.responses += run.responses;
		all.aborts += run.aborts;
		all.logins += run.logins;
		all.logouts += run.logouts;
		all.lost += run.lost;
	}
	std::printf("%llu runs: %llu steps, %llu logins, %llu logouts, "
		    "%llu connections lost, %llu responses, %llu aborts\n",
		    count, all.steps, all.logins, all.logouts, all.lost,
		    all.responses, all.aborts);
}

INSTANTIATE_TEST_SUITE_P(Loopback, Interleavings,
			 ::testing::Range(0, shares));

} // namespace
