// SPDX-License-Identifier: GPL-2.0
#include "iser/header.h"

#include <cstring>

#include <gtest/gtest.h>

#include "unit/bytes.h"

namespace iser {
namespace {

ControlHeader header_from(std::initializer_list<u8> bytes)
{
	ControlHeader header;

	EXPECT_EQ(bytes.size(), sizeof(header));
	std::memcpy(&header, bytes.begin(), sizeof(header));
	return header;
}

/* Every field different, so that a shifted one is seen. */
ControlHeader full_header(u8 first_byte)
{
	return header_from({
		first_byte, 0, 0, 0,
		0x11, 0x22, 0x33, 0x44,
		0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8,
		0x55, 0x66, 0x77, 0x88,
		0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8,
	});
}

TEST(Header, B027_LayoutIsFigure3OfRfc7145)
{
	RemoteMapping mapping = full_header(0x1c).mapping();

	EXPECT_TRUE(mapping.write_valid);
	EXPECT_EQ(mapping.write.stag, Stag{0x11223344});
	EXPECT_EQ(mapping.write.base_offset, 0xa1a2a3a4a5a6a7a8ull);
	EXPECT_TRUE(mapping.read_valid);
	EXPECT_EQ(mapping.read.stag, Stag{0x55667788});
	EXPECT_EQ(mapping.read.base_offset, 0xb1b2b3b4b5b6b7b8ull);
}

TEST(Header, B028_FirstByteSaysWhichStagsCount)
{
	EXPECT_FALSE(full_header(0x10).mapping().write_valid);
	EXPECT_FALSE(full_header(0x10).mapping().read_valid);
	EXPECT_FALSE(full_header(0x14).mapping().write_valid);
	EXPECT_TRUE(full_header(0x14).mapping().read_valid);
	EXPECT_TRUE(full_header(0x18).mapping().write_valid);
	EXPECT_FALSE(full_header(0x18).mapping().read_valid);
}

TEST(Header, B028_N024_FieldsWithoutTheirFlagAreIgnored)
{
	RemoteMapping none = full_header(0x10).mapping();

	EXPECT_EQ(none.write.stag, Stag{0});
	EXPECT_EQ(none.write.base_offset, 0u);
	EXPECT_EQ(none.read.stag, Stag{0});
	EXPECT_EQ(none.read.base_offset, 0u);
}

TEST(Header, B030_ReservedBitsAreIgnored)
{
	ControlHeader header = full_header(0x1b);

	std::memset(header.reserved, 0xff, sizeof(header.reserved));
	EXPECT_EQ(header.opcode(), IserOpcode::Control);
	EXPECT_TRUE(header.mapping().write_valid);
	EXPECT_FALSE(header.mapping().read_valid);
	EXPECT_EQ(header.mapping().write.stag, Stag{0x11223344});
}

TEST(Header, B029_TargetSends0x10And27Zeros)
{
	u8 expected[28] = {0x10};
	ControlHeader header = ControlHeader::from_target();

	EXPECT_EQ(std::memcmp(&header, expected, sizeof(expected)), 0);
}

TEST(Header, OpcodeIsTheFirstNibble)
{
	EXPECT_EQ(full_header(0x20).opcode(), IserOpcode::Hello);
	EXPECT_EQ(full_header(0x2f).opcode(), IserOpcode::Hello);
	EXPECT_EQ(full_header(0x31).opcode(), IserOpcode::HelloReply);
}

} // namespace
} // namespace iser
