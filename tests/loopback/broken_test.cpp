// SPDX-License-Identifier: GPL-2.0
/* That the random runs can fail: a part is broken, and it is noticed. */
#include <gtest/gtest.h>

#include "loopback/script.h"

namespace {

using loopback::Broken;
using loopback::RandomRun;

constexpr u64 tries = 40;

/* What the first run said that noticed it; undisturbed, so that no cause of
 * another kind excuses it. */
std::string noticed(const Broken &broken)
{
	for (u64 seed = 0; seed < tries; ++seed) {
		RandomRun run = {.seed = seed, .broken = broken,
				 .undisturbed = true};
		const std::string words = run.go();

		if (!words.empty())
			return words;
	}
	return "nothing";
}

void expect_noticed(const Broken &broken, const char *words)
{
	const std::string said = noticed(broken);

	EXPECT_NE(said.find(words), std::string::npos) << said;
}

TEST(BrokenPart, NoneIsNotNoticed)
{
	EXPECT_EQ(noticed({}), "nothing");
}

TEST(BrokenPart, AnRdmaReadThatFetchesFromAnotherPlace)
{
	expect_noticed({.misplace_read = 4}, "data that was not written");
}

TEST(BrokenPart, AnRdmaWriteThatPlacesElsewhere)
{
	expect_noticed({.misplace_write = 4}, "data that was not written");
}

TEST(BrokenPart, AResponseAheadOfItsRdmaWrite)
{
	expect_noticed({.send_before_write = true},
		       "an RDMA Write to where the target may not");
}

TEST(BrokenPart, AMessageThatIsLost)
{
	expect_noticed({.lose_message = 20}, "no answer");
}

TEST(BrokenPart, AnotherStagThatIsInvalidated)
{
	expect_noticed({.invalidate_another = true}, "an STag that is not valid");
}

TEST(BrokenPartDeathTest, ACompletionThatIsLost)
{
	EXPECT_DEATH(noticed({.lose_send_completion = true}),
		     "waits for a drain|everybody waits|goes on and on");
}

TEST(BrokenPartDeathTest, AnAbortedCommandThatTheCoreKeeps)
{
	EXPECT_DEATH(noticed({.forget_aborted = true}),
		     "everybody waits|goes on and on");
}

} // namespace
