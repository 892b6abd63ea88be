// SPDX-License-Identifier: GPL-2.0
#include "iser/unexpected_pdus.h"

#include <gtest/gtest.h>

namespace iser {

using base::SerialNumber;

namespace {

/* How many can be taken in a row. */
u32 room(UnexpectedPdus &pdus)
{
	u32 taken = 0;

	while (taken < 100 && pdus.take())
		++taken;
	return taken;
}

TEST(UnexpectedPdus, T056_TheLastPlaceIsKeptForAPing)
{
	UnexpectedPdus pdus;

	pdus.limit(2);
	EXPECT_EQ(room(pdus), 1u);
	pdus.limit(5);
	EXPECT_EQ(room(pdus), 3u);
}

TEST(UnexpectedPdus, OQ20_NoLimitIsNotWithoutEnd)
{
	for (u32 declared : {0u, 17u, 0xffffffffu}) {
		UnexpectedPdus pdus;

		pdus.limit(declared);
		EXPECT_EQ(room(pdus), 15u) << declared;
	}
}

TEST(UnexpectedPdus, WhatWasAcknowledgedHasRoomAgain)
{
	UnexpectedPdus pdus;

	pdus.limit(4);
	EXPECT_EQ(room(pdus), 3u);
	pdus.sent(SerialNumber(10));
	pdus.sent(SerialNumber(12));
	pdus.sent(SerialNumber(13));
	/* Not the one it names, but all before. */
	pdus.acknowledge(SerialNumber(10));
	EXPECT_EQ(room(pdus), 0u);
	pdus.acknowledge(SerialNumber(13));
	EXPECT_EQ(room(pdus), 2u);
}

TEST(UnexpectedPdus, WhatHasNotLeftIsNotAcknowledged)
{
	UnexpectedPdus pdus;

	pdus.limit(3);
	EXPECT_EQ(room(pdus), 2u);
	pdus.acknowledge(SerialNumber(1000));
	EXPECT_EQ(room(pdus), 0u);
	pdus.sent(SerialNumber(1000));
	pdus.acknowledge(SerialNumber(1001));
	EXPECT_EQ(room(pdus), 1u);
}

TEST(UnexpectedPdus, StatSnWraps)
{
	UnexpectedPdus pdus;

	pdus.limit(3);
	EXPECT_EQ(room(pdus), 2u);
	pdus.sent(SerialNumber(0xffffffff));
	pdus.sent(SerialNumber(0));
	pdus.acknowledge(SerialNumber(0xfffffff0));
	EXPECT_EQ(room(pdus), 0u);
	pdus.acknowledge(SerialNumber(0));
	EXPECT_EQ(room(pdus), 1u);
	pdus.acknowledge(SerialNumber(1));
	EXPECT_EQ(room(pdus), 1u);
}

} // namespace
} // namespace iser
