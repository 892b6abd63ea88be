// SPDX-License-Identifier: GPL-2.0
#include "iser/cdb.h"

#include <gtest/gtest.h>

namespace iser {
namespace {

/* Whether a CDB of variable length that says @length is whole. */
bool whole(u32 length, u32 extension)
{
	const u8 cdb[16] = {variable_length_cdb, 0, 0, 0, 0, 0, 0,
			    static_cast<u8>(length - 8)};

	return cdb_is_whole(cdb, extension);
}

TEST(Cdb, F07_VariableLengthNeedsAllItSays)
{
	EXPECT_TRUE(whole(32, 16));
	EXPECT_TRUE(whole(32, 17));
	EXPECT_FALSE(whole(32, 15));
	EXPECT_FALSE(whole(32, 0));
	EXPECT_TRUE(whole(260, 244));
	EXPECT_FALSE(whole(260, 243));
}

TEST(Cdb, VariableLengthWithin16BytesNeedsNoExtension)
{
	EXPECT_TRUE(whole(12, 0));
	EXPECT_TRUE(whole(16, 0));
	EXPECT_FALSE(whole(17, 0));
}

TEST(Cdb, OtherOpcodesHaveAFixedLength)
{
	const u8 read10[16] = {0x28, 0, 0, 0, 0, 0, 0, 0xff};

	EXPECT_TRUE(cdb_is_whole(read10, 0));
}

} // namespace
} // namespace iser
