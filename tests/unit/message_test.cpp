// SPDX-License-Identifier: GPL-2.0
#include "iser/message.h"

#include <cstring>

#include <gtest/gtest.h>

#include "unit/bytes.h"

namespace iser {
namespace {

using test::Buffer;

constexpr MessageLimits limits = {.max_ahs = 256, .max_data_segment = 8192};

/* A message as a peer declares it; what it sends is up to the test. */
MessageHead declare(u32 ahs_length, u32 data_length,
		    IscsiOpcode opcode = IscsiOpcode::ScsiCommand)
{
	MessageHead head = {};

	head.header = ControlHeader::from_target();
	head.bhs.opcode_and_immediate = static_cast<u8>(opcode);
	head.bhs.total_ahs_length = static_cast<u8>(ahs_length / 4);
	head.bhs.data_segment_length = data_length;
	return head;
}

MessageHead login(u32 data_length)
{
	return declare(0, data_length, IscsiOpcode::LoginRequest);
}

TEST(Message, LayoutIsHeadersThenAhsThenData)
{
	MessageCheck check = check_message(declare(48, 100), 76 + 48 + 100,
					   limits);

	ASSERT_TRUE(check.ok());
	EXPECT_EQ(check.cause, Cause::None);
	EXPECT_EQ(check.layout.ahs_length, 48u);
	EXPECT_EQ(check.layout.data_offset, 48u);
	EXPECT_EQ(check.layout.data_length, 100u);
}

TEST(Message, HeadersAloneAreAMessage)
{
	MessageCheck check = check_message(declare(0, 0), 76, limits);

	ASSERT_TRUE(check.ok());
	EXPECT_EQ(check.layout.data_offset, 0u);
	EXPECT_EQ(check.layout.data_length, 0u);
}

TEST(Message, F01_ShorterThanItsHeadersIsRefused)
{
	for (u32 received = 0; received < 76; ++received)
		EXPECT_EQ(check_message(declare(0, 0), received, limits).cause,
			  Cause::MessageTooShort) << received;
}

TEST(Message, F01_StaleHeadersOfAShortMessageAreNotBelieved)
{
	MessageHead stale = declare(0, 0);

	stale.header.opcode_and_flags = 0x20;
	stale.bhs.data_segment_length = 0xffffff;
	EXPECT_EQ(check_message(stale, 75, limits).cause,
		  Cause::MessageTooShort);
}

TEST(Message, F03_DeclaringMoreDataThanSentIsRefused)
{
	for (u32 data : {1u, 4u, 100u, 8191u, 8192u}) {
		EXPECT_EQ(check_message(declare(0, data), 76 + data - 1,
					limits).cause,
			  Cause::LengthLies) << data;
		EXPECT_EQ(check_message(declare(0, data), 76, limits).cause,
			  Cause::LengthLies) << data;
		EXPECT_TRUE(check_message(declare(0, data), 76 + data,
					  limits).ok()) << data;
	}
}

TEST(Message, F07_DeclaringMoreAhsThanSentIsRefused)
{
	EXPECT_EQ(check_message(declare(4, 0), 76, limits).cause,
		  Cause::LengthLies);
	EXPECT_EQ(check_message(declare(4, 0), 79, limits).cause,
		  Cause::LengthLies);
	EXPECT_TRUE(check_message(declare(4, 0), 80, limits).ok());
}

TEST(Message, F07_AhsCountsBeforeTheData)
{
	EXPECT_EQ(check_message(declare(16, 512), 76 + 512, limits).cause,
		  Cause::LengthLies);
	EXPECT_EQ(check_message(declare(16, 512), 76 + 512, limits)
			  .layout.data_length, 0u);
}

TEST(Message, F07_AhsBeyondTheLimitIsRefused)
{
	EXPECT_TRUE(check_message(declare(256, 0), 76 + 256, limits).ok());
	EXPECT_EQ(check_message(declare(260, 0), 76 + 260, limits).cause,
		  Cause::AhsMalformed);
	EXPECT_EQ(check_message(declare(1020, 0), 76 + 1020, limits).cause,
		  Cause::AhsMalformed);
}

TEST(Message, T021_DataSegmentBeyondTheLimitIsRefused)
{
	EXPECT_TRUE(check_message(declare(0, 8192), 76 + 8192, limits).ok());
	EXPECT_EQ(check_message(declare(0, 8193), 76 + 8193, limits).cause,
		  Cause::DataSegmentTooLong);
	EXPECT_EQ(check_message(declare(0, 0xffffff), 76, limits).cause,
		  Cause::DataSegmentTooLong);
	EXPECT_EQ(check_message(declare(0, 513), 76 + 513,
				{.max_ahs = 0, .max_data_segment = 512}).cause,
		  Cause::DataSegmentTooLong);
}

TEST(Message, OQ11_OQ14_UpToThreePadBytesAreTolerated)
{
	for (u32 extra = 0; extra <= 3; ++extra)
		EXPECT_TRUE(check_message(declare(0, 5), 76 + 5 + extra,
					  limits).ok()) << extra;
	for (u32 extra : {4u, 5u, 100u, 8000u})
		EXPECT_EQ(check_message(declare(0, 5), 76 + 5 + extra,
					limits).cause,
			  Cause::MessageTooLong) << extra;
	EXPECT_EQ(check_message(declare(0, 0), 80, limits).cause,
		  Cause::MessageTooLong);
	EXPECT_EQ(check_message(declare(8, 0), 76 + 12, limits).cause,
		  Cause::MessageTooLong);
}

TEST(Message, OQ11_PadIsNoData)
{
	EXPECT_EQ(check_message(declare(0, 5), 76 + 8, limits)
			  .layout.data_length, 5u);
}

TEST(Message, OQ02_HelloIsNotTakenForAPdu)
{
	MessageHead head = declare(0, 0);

	for (u8 first_byte : {0x20, 0x2f}) {
		head.header.opcode_and_flags = first_byte;
		EXPECT_EQ(check_message(head, 76, limits).cause,
			  Cause::UnexpectedHello);
	}
}

TEST(Message, B035_UnknownIserOpcodeIsRefused)
{
	MessageHead head = declare(0, 0);

	for (u32 nibble = 0; nibble < 16; ++nibble) {
		head.header.opcode_and_flags = static_cast<u8>(nibble << 4);
		Cause cause = check_message(head, 76, limits).cause;

		if (nibble == 1)
			EXPECT_EQ(cause, Cause::None);
		else if (nibble == 2)
			EXPECT_EQ(cause, Cause::UnexpectedHello);
		else
			EXPECT_EQ(cause, Cause::BadIserOpcode) << nibble;
	}
}

TEST(Message, B017_TheIscsiOpcodeIsTheIscsiLayersBusiness)
{
	for (u32 opcode = 0; opcode < 256; ++opcode) {
		MessageHead head = declare(0, 0);

		head.bhs.opcode_and_immediate = static_cast<u8>(opcode);
		EXPECT_TRUE(check_message(head, 76, limits).ok()) << opcode;
	}
}

TEST(LoginMessage, F01_ShorterThanItsHeadersIsRefused)
{
	for (u32 received : {0u, 1u, 27u, 28u, 29u, 47u, 48u, 75u})
		EXPECT_EQ(check_login_message(login(0), received).cause,
			  Cause::MessageTooShort) << received;
	EXPECT_TRUE(check_login_message(login(0), 76).ok());
	EXPECT_TRUE(check_login_message(login(0), 77).ok());
}

TEST(LoginMessage, F02_DeclaringMoreTextThanSentIsRefused)
{
	constexpr u32 sent = 100;

	EXPECT_TRUE(check_login_message(login(sent), 76 + sent).ok());
	EXPECT_EQ(check_login_message(login(sent + 1), 76 + sent).cause,
		  Cause::LengthLies);
	EXPECT_EQ(check_login_message(login(sent + 4096), 76 + sent).cause,
		  Cause::LengthLies);
	EXPECT_EQ(check_login_message(login(8192), 76 + sent).cause,
		  Cause::LengthLies);
	EXPECT_EQ(check_login_message(login(8193), 76 + sent).cause,
		  Cause::DataSegmentTooLong);
	EXPECT_EQ(check_login_message(login(0xffffff), 76 + sent).cause,
		  Cause::DataSegmentTooLong);
}

TEST(LoginMessage, K11_8192BytesOfTextAreTakenAndNoMore)
{
	EXPECT_TRUE(check_login_message(login(8192), 76 + 8192).ok());
	EXPECT_EQ(check_login_message(login(8193), 76 + 8193).cause,
		  Cause::DataSegmentTooLong);
}

TEST(LoginMessage, OQ24_AnyFlagsOfTheHeaderAreAccepted)
{
	MessageHead head = login(0);

	for (u8 first_byte = 0x10; first_byte < 0x20; ++first_byte) {
		head.header.opcode_and_flags = first_byte;
		EXPECT_TRUE(check_login_message(head, 76).ok());
	}
	head.header.opcode_and_flags = 0x20;
	EXPECT_EQ(check_login_message(head, 76).cause,
		  Cause::UnexpectedHello);
}

TEST(LoginMessage, OnlyALoginRequestIsLegalBeforeFullFeature)
{
	MessageHead immediate = login(0);

	immediate.bhs.opcode_and_immediate |= 0x40;
	EXPECT_TRUE(check_login_message(immediate, 76).ok());
	for (u32 opcode = 0; opcode < 0x40; ++opcode) {
		if (opcode == 0x03)
			continue;
		MessageHead head = login(0);

		head.bhs.opcode_and_immediate = static_cast<u8>(opcode);
		EXPECT_EQ(check_login_message(head, 76).cause,
			  Cause::LoginMalformed) << opcode;
	}
}

TEST(LoginMessage, NoAhs)
{
	MessageHead head = declare(4, 0, IscsiOpcode::LoginRequest);

	EXPECT_EQ(check_login_message(head, 80).cause, Cause::AhsMalformed);
}

TEST(Ahs, NothingIsNone)
{
	EXPECT_EQ(check_ahs({}).kind, AhsKind::None);
}

TEST(Ahs, ExtendedCdbLiesBehindTheReservedByte)
{
	/* A CDB of 32 bytes: AHSLength is 32 - 15. */
	Buffer ahs(20);

	ahs[1] = 17;
	ahs[2] = 1;

	AhsCheck check = check_ahs(ahs);

	EXPECT_EQ(check.kind, AhsKind::ExtendedCdb);
	EXPECT_EQ(check.extended_cdb.offset, 4u);
	EXPECT_EQ(check.extended_cdb.length, 16u);
}

TEST(Ahs, ExtendedCdbNeedNotFillItsWords)
{
	AhsCheck check = check_ahs(Buffer{0, 2, 1, 0, 0xab, 0, 0, 0});

	EXPECT_EQ(check.kind, AhsKind::ExtendedCdb);
	EXPECT_EQ(check.extended_cdb.length, 1u);
}

TEST(Ahs, F07_LengthZeroIsMalformed)
{
	EXPECT_EQ(check_ahs(Buffer{0, 0, 1, 0}).kind, AhsKind::Malformed);
	EXPECT_EQ(check_ahs(Buffer{0, 0, 2, 0}).kind, AhsKind::Malformed);
	EXPECT_EQ(check_ahs(Buffer{0, 0, 9, 0}).kind, AhsKind::Malformed);
	EXPECT_EQ(check_ahs(Buffer{0, 0, 0, 0}).kind, AhsKind::Malformed);
}

TEST(Ahs, F07_ExtendedCdbOf16BytesIsMalformed)
{
	EXPECT_EQ(check_ahs(Buffer{0, 1, 1, 0}).kind, AhsKind::Malformed);
}

TEST(Ahs, F07_LengthBeyondTotalAhsLengthIsMalformed)
{
	/* Five bytes fit into these two words, six do not. */
	EXPECT_EQ(check_ahs(Buffer{0, 5, 1, 0, 1, 2, 3, 4}).kind,
		  AhsKind::ExtendedCdb);
	EXPECT_EQ(check_ahs(Buffer{0, 6, 1, 0, 1, 2, 3, 4}).kind,
		  AhsKind::Malformed);
	EXPECT_EQ(check_ahs(Buffer{0xff, 0xff, 1, 0, 1, 2, 3, 4}).kind,
		  AhsKind::Malformed);
}

TEST(Ahs, F07_TwoExtendedCdbsAreMalformed)
{
	EXPECT_EQ(check_ahs(Buffer{0, 2, 1, 0, 1, 0, 0, 0,
				   0, 2, 1, 0, 1, 0, 0, 0}).kind,
		  AhsKind::Malformed);
}

TEST(Ahs, F07_SecondSegmentIsCheckedToo)
{
	EXPECT_EQ(check_ahs(Buffer{0, 2, 1, 0, 1, 0, 0, 0,
				   0, 0, 9, 0}).kind,
		  AhsKind::Malformed);
	EXPECT_EQ(check_ahs(Buffer{0, 2, 1, 0, 1, 0, 0, 0,
				   0, 2, 9, 0}).kind,
		  AhsKind::Malformed);
}

TEST(Ahs, BidirectionalReadLengthIsKnownButUnsupported)
{
	const Buffer bidirectional{0, 5, 2, 0, 0, 0, 2, 0};

	EXPECT_EQ(check_ahs(bidirectional).kind, AhsKind::Unsupported);
	EXPECT_EQ(check_ahs(Buffer{0, 4, 2, 0, 0, 0, 2, 0}).kind,
		  AhsKind::Malformed);
	EXPECT_EQ(check_ahs(Buffer{0, 5, 2, 0, 0, 0, 2, 0,
				   0, 5, 2, 0, 0, 0, 2, 0}).kind,
		  AhsKind::Malformed);
}

TEST(Ahs, UnknownTypeIsUnsupported)
{
	EXPECT_EQ(check_ahs(Buffer{0, 1, 9, 0}).kind, AhsKind::Unsupported);
}

TEST(Ahs, ExtendedCdbMustBeAloneToBeExecuted)
{
	EXPECT_EQ(check_ahs(Buffer{0, 1, 9, 0,
				   0, 2, 1, 0, 1, 0, 0, 0}).kind,
		  AhsKind::Unsupported);
	EXPECT_EQ(check_ahs(Buffer{0, 2, 1, 0, 1, 0, 0, 0,
				   0, 5, 2, 0, 0, 0, 2, 0}).kind,
		  AhsKind::Unsupported);
}

TEST(Ahs, ReservedBitsOfTheTypeAreIgnored)
{
	EXPECT_EQ(check_ahs(Buffer{0, 2, 0xc1, 0, 1, 0, 0, 0}).kind,
		  AhsKind::ExtendedCdb);
}

TEST(Ahs, BrokenWordIsMalformed)
{
	EXPECT_EQ(check_ahs(Buffer{0, 2}).kind, AhsKind::Malformed);
	EXPECT_EQ(check_ahs(Buffer{0, 1, 9}).kind, AhsKind::Malformed);
}

} // namespace
} // namespace iser
