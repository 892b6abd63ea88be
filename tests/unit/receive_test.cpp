// SPDX-License-Identifier: GPL-2.0
#include "rcap/receive.h"

#include <gtest/gtest.h>

#include "unit/bytes.h"
#include "unit/fake_stream.h"

namespace rcap {
namespace {

using test::Buffer;
using test::FakeReceive;
using test::str;

/* 76 zeros, then the bytes 0 to 11: eight in the body, four in the tail. */
class ReceiveTest : public testing::Test {
protected:
	ReceiveTest()
	{
		std::vector<u8> message(head_size);

		for (u8 i = 0; i < 12; ++i)
			message.push_back(i);
		receive_.fill(message);
	}
	/* What is copied out, or "out of bounds". */
	std::string copied(u32 offset, size_t length)
	{
		Buffer to(length);

		if (!receive_.copy_out(offset, to))
			return "out of bounds";
		return str(to);
	}

	FakeReceive receive_{8, 4};
};

TEST_F(ReceiveTest, BodyIsReadInPlace)
{
	EXPECT_EQ(str(receive_.in_place(0, 8)),
		  str(Buffer{0, 1, 2, 3, 4, 5, 6, 7}));
	EXPECT_EQ(str(receive_.in_place(4, 2)), str(Buffer{4, 5}));
}

TEST_F(ReceiveTest, WhatReachesIntoTheTailIsNotInPlace)
{
	EXPECT_TRUE(receive_.in_place(0, 9).empty());
	EXPECT_TRUE(receive_.in_place(7, 2).empty());
	EXPECT_TRUE(receive_.in_place(8, 1).empty());
	EXPECT_TRUE(receive_.in_place(0xffffffff, 2).empty());
	EXPECT_TRUE(receive_.in_place(2, 0xffffffff).empty());
}

TEST_F(ReceiveTest, CopyJoinsBodyAndTail)
{
	EXPECT_EQ(copied(0, 12), str(Buffer{0, 1, 2, 3, 4, 5, 6, 7,
					    8, 9, 10, 11}));
	EXPECT_EQ(copied(6, 4), str(Buffer{6, 7, 8, 9}));
	EXPECT_EQ(copied(2, 3), str(Buffer{2, 3, 4}));
	EXPECT_EQ(copied(8, 4), str(Buffer{8, 9, 10, 11}));
	EXPECT_EQ(copied(9, 2), str(Buffer{9, 10}));
}

TEST_F(ReceiveTest, CopyStaysWithinTheBuffer)
{
	EXPECT_EQ(copied(0, 13), "out of bounds");
	EXPECT_EQ(copied(12, 1), "out of bounds");
	EXPECT_EQ(copied(9, 4), "out of bounds");
	EXPECT_EQ(copied(0xffffffff, 2), "out of bounds");
}

} // namespace
} // namespace rcap
