// SPDX-License-Identifier: GPL-2.0
#include "iser/hello.h"

#include <cstring>

#include <gtest/gtest.h>

namespace iser {
namespace {

Hello hello(u8 versions, u16 ird)
{
	Hello hello = {};

	hello.opcode_and_flags = 0x20;
	hello.versions = versions;
	hello.iser_ird = ird;
	return hello;
}

/* RFC 7145 9.4: 28 bytes, version 10 twice, reserved bits 0. */
TEST(AnswerHello, T063_T064_T065_N025_ReplyIsAsFigure5)
{
	const u8 wanted[28] = {0x30, 0xaa, 0, 8};
	const HelloAnswer answer = answer_hello(hello(0xaa, 8), 28, 16);

	EXPECT_EQ(answer.cause, Cause::None);
	EXPECT_EQ(std::memcmp(&answer.reply, wanted, 28), 0);
}

TEST(AnswerHello, T016_OrdIsTheSmallerOfBoth)
{
	for (u32 ird : {1u, 2u, 15u, 16u, 17u, 65535u}) {
		const u32 wanted = ird < 16 ? ird : 16;
		const HelloAnswer answer = answer_hello(
			hello(0xaa, static_cast<u16>(ird)), 28, 16);

		EXPECT_EQ(answer.iser_ord, wanted) << ird;
		EXPECT_EQ(u32{answer.reply.iser_ord}, wanted) << ird;
		EXPECT_FALSE(answer.reply.rejects()) << ird;
	}
}

TEST(AnswerHello, T067_NoReadsOnOurSideIsARejection)
{
	const HelloAnswer answer = answer_hello(hello(0xaa, 8), 28, 0);

	EXPECT_EQ(answer.cause, Cause::None);
	EXPECT_TRUE(answer.reply.rejects());
	EXPECT_EQ(answer.reply.opcode_and_flags, 0x31);
}

/* Neither end wants reads: nothing to reject. */
TEST(AnswerHello, NoReadsOnBothSidesIsFine)
{
	const HelloAnswer answer = answer_hello(hello(0xaa, 0), 28, 0);

	EXPECT_FALSE(answer.reply.rejects());
	EXPECT_EQ(answer.iser_ord, 0u);
}

TEST(AnswerHello, T067_VersionsThatDoNotOverlapAreARejection)
{
	for (u8 versions : {0x22, 0x11, 0xff, 0x91, 0xfb})
		EXPECT_TRUE(answer_hello(hello(versions, 8), 28, 16)
				    .reply.rejects()) << unsigned{versions};
	for (u8 versions : {0xaa, 0xa1, 0xfa, 0xf0})
		EXPECT_FALSE(answer_hello(hello(versions, 8), 28, 16)
				     .reply.rejects()) << unsigned{versions};
}

TEST(AnswerHello, B035_FormatErrorsAreNotAnswered)
{
	EXPECT_EQ(answer_hello(hello(0x1a, 8), 28, 16).cause,
		  Cause::HelloMalformed);
	EXPECT_EQ(answer_hello(hello(0xaa, 8), 27, 16).cause,
		  Cause::MessageTooShort);
	EXPECT_EQ(answer_hello(hello(0xaa, 8), 12, 16).cause,
		  Cause::MessageTooShort);
	EXPECT_EQ(answer_hello(hello(0xaa, 8), 29, 16).cause,
		  Cause::MessageTooLong);
}

TEST(AnswerHello, B031_ReservedBitsAreIgnored)
{
	Hello odd = hello(0xaa, 8);

	odd.opcode_and_flags |= 0x0f;
	std::memset(odd.reserved, 0xff, sizeof(odd.reserved));
	EXPECT_EQ(answer_hello(odd, 28, 16).cause, Cause::None);
	EXPECT_FALSE(answer_hello(odd, 28, 16).reply.rejects());
}

/* RFC 7145 5.1.2, 5.1.3 */
TEST(FirstMessage, T015_N008_N010_N019_FollowsWhatWasDeclared)
{
	struct Row {
		Declared required;
		IserOpcode opcode;
		FirstMessage wanted;
	};
	constexpr Row rows[] = {
		{Declared::Yes, IserOpcode::Hello, FirstMessage::Hello},
		{Declared::Silent, IserOpcode::Hello, FirstMessage::Hello},
		{Declared::No, IserOpcode::Hello, FirstMessage::Illegal},
		{Declared::Yes, IserOpcode::Control, FirstMessage::Illegal},
		{Declared::Silent, IserOpcode::Control, FirstMessage::Ordinary},
		{Declared::No, IserOpcode::Control, FirstMessage::Ordinary},
	};

	for (const Row &row : rows)
		EXPECT_EQ(judge_first_message(row.opcode, row.required),
			  row.wanted);
}

} // namespace
} // namespace iser
