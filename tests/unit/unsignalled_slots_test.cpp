// SPDX-License-Identifier: GPL-2.0
#include <gtest/gtest.h>

#include <array>

#include "rcap/verbs/unsignalled_slots.h"

namespace {

struct Slot {
	bool holds_data() const { return data; }

	base::ListNode node;
	u32 ordinal = 0;
	bool data = false;
};
using Slots = rcap::verbs::UnsignalledSlots<Slot>;

void empty(Slots &slots)
{
	while (slots.pop_through(slots.last()))
		;
}

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
		slots.posted_signalled();
	}
	empty(slots);
}

TEST(UnsignalledSlots, ASignalEndsThoseInFrontOfIt)
{
	std::array<Slot, 3> slot;
	Slots slots;

	slots.posted(slot[0]);
	slots.posted(slot[1]);

	const u32 first = slots.posted_signalled();

	slots.posted(slot[2]);

	const u32 second = slots.posted_signalled();

	EXPECT_EQ(slots.pop_through(first), &slot[0]);
	EXPECT_EQ(slots.pop_through(first), &slot[1]);
	EXPECT_EQ(slots.pop_through(first), nullptr);
	EXPECT_EQ(slots.pop_through(second), &slot[2]);
	EXPECT_EQ(slots.pop_through(second), nullptr);
}

TEST(UnsignalledSlots, OneThatFailedIsFreeItself)
{
	std::array<Slot, 3> slot;
	Slots slots;

	for (Slot &each : slot)
		slots.posted(each);
	EXPECT_EQ(slots.pop_through(slot[1].ordinal), &slot[0]);
	EXPECT_EQ(slots.pop_through(slot[1].ordinal), &slot[1]);
	EXPECT_EQ(slots.pop_through(slot[1].ordinal), nullptr);
	/* Of an older one there is nothing to free any more. */
	EXPECT_EQ(slots.pop_through(slot[0].ordinal), nullptr);
	EXPECT_EQ(slots.pop_through(slots.last()), &slot[2]);
}

TEST(UnsignalledSlots, DataIsUntoldUntilASignalFollows)
{
	std::array<Slot, 3> slot;
	Slots slots;

	slot[1].data = true;
	slots.posted(slot[0]);
	EXPECT_FALSE(slots.data_is_untold());
	slots.posted(slot[1]);
	EXPECT_TRUE(slots.data_is_untold());
	slots.posted(slot[2]);
	EXPECT_TRUE(slots.data_is_untold());
	slots.posted_signalled();
	EXPECT_FALSE(slots.data_is_untold());
	empty(slots);
}

} // namespace
