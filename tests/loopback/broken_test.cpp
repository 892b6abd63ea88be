// SPDX-License-Identifier: GPL-2.0
/* That the random runs can fail: a part is broken, and it is noticed. */
#include <gtest/gtest.h>

#include "host/host.h"
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

/* For what is noticed by a check that ends the process, or else in words. */
void die_of(const std::string &words)
{
	if (words != "nothing")
		host::die(words.c_str());
}

TEST(BrokenPart, NoneIsNotNoticed)
{
	EXPECT_EQ(noticed({}), "nothing");
}

TEST(BrokenPart, AnRdmaReadThatFetchesFromAnotherPlace)
{
	expect_noticed({.misplace_read = 4}, "what was not written");
}

TEST(BrokenPart, AnRdmaWriteThatPlacesElsewhere)
{
	expect_noticed({.misplace_write = 4}, "data that was not written");
}

TEST(BrokenPart, AnotherStagThatIsInvalidated)
{
	expect_noticed({.invalidate_another = true},
		       "an STag that is not valid");
}

TEST(BrokenPart, ACompletionThatIsLost)
{
	expect_noticed({.lose_send_completion = true}, "no answer");
}

/* Either the initiator looks too early, or the command has ended too early. */
TEST(BrokenPartDeathTest, AResponseAheadOfItsRdmaWrite)
{
	EXPECT_DEATH(die_of(noticed({.send_before_write = true})),
		     "data that was not written|the device may still work on");
}

TEST(BrokenPartDeathTest, AMessageThatIsLost)
{
	EXPECT_DEATH(die_of(noticed({.lose_message = 20})),
		     "a CmdSN is out of order|no answer|has no response");
}

TEST(BrokenPartDeathTest, AnAbortedCommandThatTheCoreKeeps)
{
	EXPECT_DEATH(noticed({.forget_aborted = true}),
		     "everybody waits|goes on and on");
}

} // namespace
