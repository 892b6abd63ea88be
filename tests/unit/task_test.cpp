// SPDX-License-Identifier: GPL-2.0
#include "iser/task.h"

#include <gtest/gtest.h>

namespace iser {
namespace {

using base::Error;

constexpr u8 final = 0x80;
constexpr u8 read = 0x40;
constexpr u8 write = 0x20;

constexpr u64 top = ~u64{0};

ScsiCommandPdu command(u8 flags, u32 length, u32 immediate = 0)
{
	ScsiCommandPdu pdu = {};

	pdu.opcode_and_immediate = 0x01;
	pdu.flags = flags;
	pdu.expected_data_transfer_length = length;
	pdu.data_segment_length = immediate;
	return pdu;
}

RemoteMapping mapping(bool write_valid, bool read_valid)
{
	RemoteMapping mapping;

	mapping.write_valid = write_valid;
	mapping.write = {Stag{0x77}, 0x1000};
	mapping.read_valid = read_valid;
	mapping.read = {Stag{0x99}, 0x2000};
	return mapping;
}

TEST(WriteBase, OQ01_DeclarationDecides)
{
	for (bool silent : {false, true}) {
		EXPECT_EQ(write_base(Declared::Yes, silent),
			  WriteBase::SolicitedOnly);
		EXPECT_EQ(write_base(Declared::No, silent),
			  WriteBase::WholeBuffer);
	}
}

TEST(WriteBase, OQ01_SettingDecidesForTheSilent)
{
	EXPECT_EQ(write_base(Declared::Silent, true),
		  WriteBase::SolicitedOnly);
	EXPECT_EQ(write_base(Declared::Silent, false),
		  WriteBase::WholeBuffer);
}

TEST(UnsolicitedLength, WithFItIsTheImmediateData)
{
	EXPECT_EQ(unsolicited_length(command(final | write, 8192, 512), 65536),
		  512u);
	EXPECT_EQ(unsolicited_length(command(final | write, 8192), 65536), 0u);
}

TEST(UnsolicitedLength, WithoutFItIsTheFirstBurst)
{
	EXPECT_EQ(unsolicited_length(command(write, 1 << 20, 512), 65536),
		  65536u);
	EXPECT_EQ(unsolicited_length(command(write, 4096, 512), 65536), 4096u);
}

TEST(UnsolicitedLength, F09_NeverMoreThanTheCommandTransfers)
{
	EXPECT_EQ(unsolicited_length(command(final | write, 512, 1024), 65536),
		  512u);
}

TEST(UnsolicitedLength, NothingButAWriteHasAny)
{
	EXPECT_EQ(unsolicited_length(command(final | read, 512, 512), 65536),
		  0u);
	EXPECT_EQ(unsolicited_length(command(read, 512), 65536), 0u);
	EXPECT_EQ(unsolicited_length(command(final, 0), 65536), 0u);
}

TEST(Mapping, OQ15_ReadNeedsAReadStag)
{
	EXPECT_EQ(check_mapping(command(final | read, 512), 0,
				mapping(false, false)), Cause::StagMissing);
	EXPECT_EQ(check_mapping(command(final | read, 512), 0,
				mapping(true, false)), Cause::StagMissing);
	EXPECT_EQ(check_mapping(command(final | read, 512), 0,
				mapping(false, true)), Cause::None);
}

TEST(Mapping, OQ15_WriteNeedsAWriteStagForWhatIsSolicited)
{
	EXPECT_EQ(check_mapping(command(final | write, 512), 511,
				mapping(false, false)), Cause::StagMissing);
	EXPECT_EQ(check_mapping(command(final | write, 512), 511,
				mapping(false, true)), Cause::StagMissing);
	EXPECT_EQ(check_mapping(command(final | write, 512), 512,
				mapping(false, false)), Cause::None);
	EXPECT_EQ(check_mapping(command(final | write, 512), 0,
				mapping(true, false)), Cause::None);
}

TEST(Mapping, OQ26_ZeroLengthNeedsNoStag)
{
	EXPECT_EQ(check_mapping(command(final | read, 0), 0,
				mapping(false, false)), Cause::None);
	EXPECT_EQ(check_mapping(command(final | write, 0), 0,
				mapping(false, false)), Cause::None);
	EXPECT_EQ(check_mapping(command(final, 0), 0,
				mapping(false, false)), Cause::None);
}

TEST(Mapping, OQ15_OneStagTooManyIsAccepted)
{
	EXPECT_EQ(check_mapping(command(final | read, 512), 0,
				mapping(true, true)), Cause::None);
	EXPECT_EQ(check_mapping(command(final | write, 512), 512,
				mapping(true, true)), Cause::None);
	EXPECT_EQ(check_mapping(command(final, 0), 0, mapping(true, true)),
		  Cause::None);
}

TEST(Mapping, BidirectionalNeedsBoth)
{
	EXPECT_EQ(check_mapping(command(final | read | write, 512), 0,
				mapping(true, true)), Cause::None);
	EXPECT_EQ(check_mapping(command(final | read | write, 512), 0,
				mapping(true, false)), Cause::StagMissing);
	EXPECT_EQ(check_mapping(command(final | read | write, 512), 0,
				mapping(false, true)), Cause::StagMissing);
}

TEST(SourceOffset, T049_WholeBufferCountsFromTheFirstByte)
{
	RemoteBuffer buffer = {Stag{1}, 0x1000};

	EXPECT_EQ(source_offset(buffer, WriteBase::WholeBuffer, 512, 512)
			  .value(), 0x1200u);
	EXPECT_EQ(source_offset(buffer, WriteBase::WholeBuffer, 0, 0).value(),
		  0x1000u);
}

TEST(SourceOffset, F42_N018_SolicitedOnlyCountsFromTheFirstSolicitedByte)
{
	RemoteBuffer buffer = {Stag{1}, 0x1000};

	EXPECT_EQ(source_offset(buffer, WriteBase::SolicitedOnly, 512, 512)
			  .value(), 0x1000u);
	EXPECT_EQ(source_offset(buffer, WriteBase::SolicitedOnly, 4096, 512)
			  .value(), 0x1e00u);
}

TEST(SourceOffset, UnsolicitedDataIsNotReadAgain)
{
	RemoteBuffer buffer = {Stag{1}, 0x1000};

	for (WriteBase base : {WriteBase::WholeBuffer,
			       WriteBase::SolicitedOnly})
		EXPECT_EQ(source_offset(buffer, base, 511, 512).error(),
			  Error::Invalid);
}

TEST(SourceOffset, N023_AddressSpaceIsUsedToItsEndAndNotBeyond)
{
	RemoteBuffer buffer = {Stag{1}, top - 1023};

	EXPECT_EQ(source_offset(buffer, WriteBase::WholeBuffer, 512, 0, 512)
			  .value(), top - 511);
	EXPECT_EQ(source_offset(buffer, WriteBase::WholeBuffer, 512, 0, 513)
			  .error(), Error::Protocol);
	EXPECT_EQ(source_offset(buffer, WriteBase::WholeBuffer, 1024, 0)
			  .error(), Error::Protocol);
	EXPECT_EQ(source_offset(buffer, WriteBase::SolicitedOnly, 1024, 512,
				512).value(), top - 511);
	EXPECT_EQ(source_offset({Stag{1}, top}, WriteBase::WholeBuffer,
				0xffffffff, 0, 0xffffffff).error(),
		  Error::Protocol);
	EXPECT_EQ(source_offset({Stag{1}, 0xffffffff00000000ull},
				WriteBase::WholeBuffer, 0xffffffff, 0,
				0xffffffff).error(),
		  Error::Protocol);
}

TEST(SourceOffset, N023_HighBasesAreExact)
{
	RemoteBuffer buffer = {Stag{1}, 0xffffffff00000000ull};

	EXPECT_EQ(source_offset(buffer, WriteBase::WholeBuffer, 0x10000, 0)
			  .value(), 0xffffffff00010000ull);
}

TEST(SinkOffset, T036_N023_BaseAndBufferOffset)
{
	EXPECT_EQ(sink_offset({Stag{1}, 0x1000}, 512).value(), 0x1200u);
	EXPECT_EQ(sink_offset({Stag{1}, top - 511}, 0, 512).value(),
		  top - 511);
	EXPECT_EQ(sink_offset({Stag{1}, top - 511}, 0, 513).error(),
		  Error::Protocol);
}

TEST(NextBurst, OQ29_PiecesTileTheRangeWithinTheLimit)
{
	u32 offset = 512;

	EXPECT_EQ(next_burst(offset, 10000, 4096), 4096u);
	offset += 4096;
	EXPECT_EQ(next_burst(offset, 10000, 4096), 4096u);
	offset += 4096;
	EXPECT_EQ(next_burst(offset, 10000, 4096), 1296u);
	offset += 1296;
	EXPECT_EQ(next_burst(offset, 10000, 4096), 0u);
}

TEST(NextBurst, NothingBehindTheEnd)
{
	EXPECT_EQ(next_burst(1, 0, 4096), 0u);
	EXPECT_EQ(next_burst(0, 0, 4096), 0u);
	EXPECT_EQ(next_burst(0, 0xffffffff, 0xffffffff), 0xffffffffu);
}

TEST(Invalidate, T029_ReadStagFirst)
{
	EXPECT_EQ(stag_to_invalidate(mapping(true, true), true).value(),
		  Stag{0x99});
	EXPECT_EQ(stag_to_invalidate(mapping(false, true), true).value(),
		  Stag{0x99});
}

TEST(Invalidate, T030_ElseTheWriteStag)
{
	EXPECT_EQ(stag_to_invalidate(mapping(true, false), true).value(),
		  Stag{0x77});
}

TEST(Invalidate, T028_PlainSendIfNoneWasAdvertised)
{
	EXPECT_FALSE(stag_to_invalidate(mapping(false, false), true).ok());
}

TEST(Invalidate, N005_PlainSendIfThePeerCannot)
{
	EXPECT_FALSE(stag_to_invalidate(mapping(true, true), false).ok());
}

} // namespace
} // namespace iser
