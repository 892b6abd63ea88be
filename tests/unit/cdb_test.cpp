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

ScsiCommandPdu command(u8 operation_code, u8 flags, u32 length)
{
	ScsiCommandPdu pdu = {};

	pdu.cdb[0] = operation_code;
	pdu.flags = flags;
	pdu.expected_data_transfer_length = length;
	return pdu;
}

constexpr u8 read_flag = ScsiCommandPdu::read_bit;
constexpr u8 write_flag = ScsiCommandPdu::write_bit;

TEST(Cdb, AWriteMustNotComeAsARead)
{
	for (u8 code : {0x0a, 0x2a, 0x8a, 0xaa, 0x41, 0x93, 0x42, 0x89}) {
		EXPECT_TRUE(flags_contradict_cdb(
			command(code, read_flag, 512)));
		EXPECT_FALSE(flags_contradict_cdb(
			command(code, write_flag, 512)));
	}
}

TEST(Cdb, AReadMustNotComeAsAWrite)
{
	for (u8 code : {0x08, 0x12, 0x28, 0x88, 0xa0, 0xa8, 0x9e, 0x1a}) {
		EXPECT_TRUE(flags_contradict_cdb(
			command(code, write_flag, 512)));
		EXPECT_FALSE(flags_contradict_cdb(
			command(code, read_flag, 512)));
	}
}

TEST(Cdb, WithoutDataTheFlagsDoNotMatter)
{
	EXPECT_FALSE(flags_contradict_cdb(command(0x2a, read_flag, 0)));
	EXPECT_FALSE(flags_contradict_cdb(command(0x28, write_flag, 0)));
}

TEST(Cdb, AnUnknownOperationIsTheTargetCoresBusiness)
{
	EXPECT_FALSE(flags_contradict_cdb(command(0xc1, read_flag, 512)));
	EXPECT_FALSE(flags_contradict_cdb(command(0xc1, write_flag, 512)));
}

} // namespace
} // namespace iser
