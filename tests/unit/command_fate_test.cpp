// SPDX-License-Identifier: GPL-2.0
#include "lio/command_fate.h"

#include <gtest/gtest.h>

namespace lio {
namespace {

target_command_state in_core()
{
	target_command_state state = {};

	state.in_core = true;
	return state;
}

target_command_state scsi()
{
	target_command_state state = in_core();

	state.scsi = true;
	return state;
}

TEST(CommandFate, TheCoreGivesUpWhatItRuns)
{
	EXPECT_FALSE(core_never_had_it(scsi()));
	EXPECT_FALSE(is_unsent(scsi()));
	EXPECT_FALSE(is_unsubmitted(scsi()));
}

TEST(CommandFate, AWriteThatWaitsForDataWasNeverTheCores)
{
	target_command_state state = scsi();

	state.waiting = true;
	EXPECT_TRUE(core_never_had_it(state));
	EXPECT_TRUE(is_unsubmitted(state));
}

TEST(CommandFate, TaskManagementThatLioAnswersInItsTurnKeepsAReference)
{
	target_command_state state = in_core();

	state.by_lio = true;
	EXPECT_TRUE(core_never_had_it(state));
	state.immediate = true;
	EXPECT_FALSE(core_never_had_it(state));
}

TEST(CommandFate, WhatLioRemovesItHasGivenUp)
{
	target_command_state state = in_core();

	state.by_lio = true;
	state.removed = true;
	EXPECT_FALSE(core_never_had_it(state));
}

TEST(CommandFate, WhatIsNotInTheCoreIsLeftToLio)
{
	target_command_state state = {};

	state.scsi = state.by_lio = state.waiting = state.out_of_order = true;
	state.response_queued = state.immediate_queued = state.removed = true;
	EXPECT_FALSE(core_never_had_it(state));
	EXPECT_FALSE(is_unsent(state));
	EXPECT_FALSE(is_unsubmitted(state));
}

TEST(CommandFate, AResponseThatWasNotSent)
{
	target_command_state state = scsi();

	state.response_queued = true;
	EXPECT_TRUE(is_unsent(state));
	/* Even if it waits: its end is not for data, but for the response. */
	state.waiting = true;
	EXPECT_TRUE(is_unsent(state));
	EXPECT_FALSE(is_unsubmitted(state));
}

TEST(CommandFate, ARemovalThatWasNotDone)
{
	target_command_state state = scsi();

	state.immediate_queued = true;
	EXPECT_FALSE(is_unsent(state));
	state.removed = true;
	EXPECT_TRUE(is_unsent(state));
}

TEST(CommandFate, ACommandThatWaitsForItsTurn)
{
	target_command_state state = scsi();

	state.out_of_order = true;
	EXPECT_TRUE(is_unsubmitted(state));
}

} // namespace
} // namespace lio
