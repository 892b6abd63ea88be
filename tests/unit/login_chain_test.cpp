// SPDX-License-Identifier: GPL-2.0
#include "iser/login_chain.h"

#include <cstring>

#include <gtest/gtest.h>

#include "unit/bytes.h"

namespace iser {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;
using test::Buffer;
using test::str;

using Next = LoginChain::Next;

constexpr u8 transit = 0x80;
constexpr u8 more = 0x40;

LoginRequestPdu request(u8 flags)
{
	LoginRequestPdu pdu = {};

	pdu.opcode_and_immediate = 0x43;
	pdu.flags = flags;
	for (u8 i = 0; i < sizeof(pdu.isid); ++i)
		pdu.isid[i] = static_cast<u8>(0xa0 + i);
	pdu.tsih = 0x1234;
	pdu.itt = 0x11223344;
	pdu.cmd_sn = 77;
	return pdu;
}

class LoginChainTest : public testing::Test {
protected:
	Next append(u8 flags, std::string_view text)
	{
		return chain_.append(request(flags), Buffer(text));
	}

	Buffer storage_ = Buffer(8192);
	LoginChain chain_{storage_};
};

TEST_F(LoginChainTest, SinglePduIsComplete)
{
	EXPECT_EQ(append(transit, "a=1\0"sv), Next::Complete);
	EXPECT_EQ(str(chain_.text()), "a=1\0"sv);
}

TEST_F(LoginChainTest, PduWithoutTextIsComplete)
{
	EXPECT_EQ(append(transit, ""), Next::Complete);
	EXPECT_TRUE(chain_.text().empty());
}

TEST_F(LoginChainTest, K10_ChainIsAnsweredEmptyAndJoined)
{
	EXPECT_EQ(append(more, "Initi"), Next::AnswerEmpty);
	EXPECT_EQ(append(more, ""), Next::AnswerEmpty);
	EXPECT_EQ(append(more, "atorName=iq"), Next::AnswerEmpty);
	EXPECT_EQ(append(transit, "n.x\0"sv), Next::Complete);
	EXPECT_EQ(str(chain_.text()), "InitiatorName=iqn.x\0"sv);
}

TEST_F(LoginChainTest, K10_TransitInsideAChainIsRefused)
{
	EXPECT_EQ(append(more | transit, "a=1\0"sv), Next::Refuse);
	EXPECT_EQ(chain_.refusal(), Cause::LoginMalformed);
}

TEST_F(LoginChainTest, K11_8192BytesFitInAllAndOneMoreDoesNot)
{
	std::string half(4096, 'x');

	EXPECT_EQ(append(more, half), Next::AnswerEmpty);
	EXPECT_EQ(append(more, half), Next::AnswerEmpty);
	EXPECT_EQ(append(more, ""), Next::AnswerEmpty);
	EXPECT_EQ(chain_.text().size(), 8192u);
	EXPECT_EQ(chain_.refusal(), Cause::None);
	EXPECT_EQ(append(0, "x"), Next::Refuse);
	EXPECT_EQ(chain_.refusal(), Cause::LoginTextTooLong);
}

TEST_F(LoginChainTest, K11_SinglePduBeyondTheStorageIsRefused)
{
	EXPECT_EQ(append(0, std::string(8193, 'x')), Next::Refuse);
	EXPECT_TRUE(chain_.text().empty());
}

/* RFC 7143 6.1: a key name has at most 63 bytes. */
TEST_F(LoginChainTest, F08_LongKeyNameIsRefused)
{
	const std::string longest(63, 'K');

	EXPECT_EQ(append(transit, "a=1\0"s + longest + "=1"), Next::Complete);
	EXPECT_EQ(append(transit, "a=1\0"s + longest + "K=1"), Next::Refuse);
}

TEST_F(LoginChainTest, F08_LongKeyNameIsRefusedInAChain)
{
	EXPECT_EQ(append(more, std::string(40, 'K')), Next::AnswerEmpty);
	EXPECT_EQ(append(0, std::string(40, 'K') + "=1"), Next::Refuse);
}

TEST_F(LoginChainTest, RefusedChainStaysRefused)
{
	EXPECT_EQ(append(more | transit, ""), Next::Refuse);
	EXPECT_EQ(append(0, "a=1\0"sv), Next::Refuse);
	chain_.reset();
	EXPECT_EQ(append(0, "a=1\0"sv), Next::Complete);
}

TEST_F(LoginChainTest, NextRequestStartsANewText)
{
	EXPECT_EQ(append(0, "a=1\0"sv), Next::Complete);
	EXPECT_EQ(append(more, "b="sv), Next::AnswerEmpty);
	EXPECT_EQ(append(transit, "2\0"sv), Next::Complete);
	EXPECT_EQ(str(chain_.text()), "b=2\0"sv);
}

TEST_F(LoginChainTest, ResetForgetsTheText)
{
	EXPECT_EQ(append(more, "a"), Next::AnswerEmpty);
	chain_.reset();
	EXPECT_TRUE(chain_.text().empty());
	EXPECT_EQ(append(0, "b"), Next::Complete);
	EXPECT_EQ(str(chain_.text()), "b");
}

TEST(LoginResponse, K10_EmptyResponseKeepsTheStageAndAsksForMore)
{
	/* C=1, CSG=1, NSG=3 as a leftover that must not come back. */
	LoginResponsePdu response = empty_login_response(
		request(more | 1 << 2 | 3), 0x01020304, 0x05060708, 0x090a0b0c,
		0xbeef);
	const u8 expected[48] = {
		0x23, 0x04, 0, 0, 0, 0, 0, 0,
		0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xbe, 0xef,
		0x11, 0x22, 0x33, 0x44, 0, 0, 0, 0,
		1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
		0, 0,
	};

	EXPECT_EQ(std::memcmp(&response, expected, sizeof(expected)), 0);
}

TEST(LoginResponse, B037_FailureSaysWhy)
{
	/* T=1, CSG=1, NSG=3: none of it may come back. */
	LoginResponsePdu response =
		login_failure(request(transit | 1 << 2 | 3), 5, 0x03, 0x02);
	const u8 expected[48] = {
		0x23, 0, 0, 0, 0, 0, 0, 0,
		0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0x12, 0x34,
		0x11, 0x22, 0x33, 0x44, 0, 0, 0, 0,
		0, 0, 0, 5, 0, 0, 0, 77, 0, 0, 0, 77,
		0x03, 0x02,
	};

	EXPECT_EQ(std::memcmp(&response, expected, sizeof(expected)), 0);
}

} // namespace
} // namespace iser
