// SPDX-License-Identifier: GPL-2.0
#include <gtest/gtest.h>

#include <array>

#include "rcap/verbs/unsignalled_slots.h"

namespace {

struct Slot {
	base::ListNode node;
	u32 ordinal = 0;
};
using Slots = rcap::verbs::UnsignalledSlots<Slot>;

TEST(UnsignalledSlots, OneOfSeveralIsSignalled)
{
	std::array<Slot, 2 * Slots::sends_per_signal> slot;
	Slots slots;
	size_t next = 0;

	for (int batch = 0; batch < 2; ++batch) {
		for (u32 i = 1; i < Slots::sends_per_signal; ++i) {
			EXPECT_TRUE(slots.has_room());
			slots.posted(slot[next++]);
		}
		EXPECT_FALSE(slots.has_room());
		slots.posted_signalled(slot[next++]);
	}
	slots.clear();
}

TEST(UnsignalledSlots, ASignalFreesThoseInFrontOfIt)
{
	std::array<Slot, 5> slot;
	Slots slots;

	slots.posted(slot[0]);
	slots.posted(slot[1]);
	slots.posted_signalled(slot[2]);
	slots.posted(slot[3]);
	slots.posted_signalled(slot[4]);
	EXPECT_EQ(slots.pop_through(slot[2]), &slot[0]);
	EXPECT_EQ(slots.pop_through(slot[2]), &slot[1]);
	EXPECT_EQ(slots.pop_through(slot[2]), nullptr);
	EXPECT_EQ(slots.pop_through(slot[4]), &slot[3]);
	EXPECT_EQ(slots.pop_through(slot[4]), nullptr);
}

TEST(UnsignalledSlots, OneThatFailedIsFreeItself)
{
	std::array<Slot, 3> slot;
	Slots slots;

	for (Slot &each : slot)
		slots.posted(each);
	EXPECT_EQ(slots.pop_through(slot[1]), &slot[0]);
	EXPECT_EQ(slots.pop_through(slot[1]), &slot[1]);
	EXPECT_EQ(slots.pop_through(slot[1]), nullptr);
	/* Of an older one there is nothing to free any more. */
	EXPECT_EQ(slots.pop_through(slot[0]), nullptr);
	EXPECT_EQ(slots.pop_through(slot[2]), &slot[2]);
}

} // namespace
