// SPDX-License-Identifier: GPL-2.0
#include "iser/login_rules.h"

#include <string>

#include <gtest/gtest.h>

#include "unit/bytes.h"

namespace iser {
namespace {

using namespace std::string_view_literals;
using test::Buffer;

constexpr u8 security = 0;
constexpr u8 operational = 1;

class LoginRulesTest : public testing::Test {
protected:
	bool keeps(std::string_view text, u8 stage = operational)
	{
		return rules_.keeps(Buffer(text), stage);
	}

	LoginRules rules_;
};

TEST_F(LoginRulesTest, AUsualLoginKeepsThem)
{
	EXPECT_TRUE(keeps("InitiatorName=iqn.x\0SessionType=Normal\0"
			  "AuthMethod=None\0"sv, security));
	EXPECT_TRUE(keeps("HeaderDigest=None\0InitialR2T=No\0"
			  "MaxBurstLength=262144\0FirstBurstLength=0x1000\0"
			  "DefaultTime2Retain=0\0X-org.lio-iser.x=1\0"
			  "RDMAExtensions=Yes\0"sv));
}

TEST_F(LoginRulesTest, K9_NoKeyComesTwiceInARequest)
{
	EXPECT_FALSE(keeps("ImmediateData=Yes\0ImmediateData=Yes\0"sv));
}

TEST_F(LoginRulesTest, K9_NoKeyComesTwiceInALogin)
{
	EXPECT_TRUE(keeps("MaxAHSLength=256\0"sv));
	EXPECT_TRUE(keeps("MaxBurstLength=512\0"sv));
	EXPECT_FALSE(keeps("MaxAHSLength=256\0"sv));
}

TEST_F(LoginRulesTest, K9_WhoAsksIsSaidOnce)
{
	EXPECT_FALSE(keeps("SessionType=Normal\0SessionType=Discovery\0"sv,
			   operational));
	EXPECT_FALSE(LoginRules().keeps(
		Buffer("InitiatorName=iqn.a\0InitiatorName=iqn.b\0"sv),
		security));
	EXPECT_FALSE(LoginRules().keeps(
		Buffer("TargetName=iqn.a\0TargetName=iqn.a\0"sv), security));
}

TEST_F(LoginRulesTest, K9_WhoAsksIsSaidOnceInALogin)
{
	EXPECT_TRUE(keeps("InitiatorName=iqn.a\0SessionType=Discovery\0"sv,
			  security));
	EXPECT_FALSE(keeps("SessionType=Normal\0"sv));
}

/* The core takes it for one of them, and later does not. */
TEST_F(LoginRulesTest, NoKeyBeginsLikeOneThatSaysWhoAsks)
{
	for (const char *key : {"SessionTypes", "InitiatorNameX",
				"TargetName "}) {
		const std::string pair = std::string(key) + "=Discovery";

		EXPECT_FALSE(LoginRules().keeps(Buffer(pair + '\0'),
						security)) << key;
	}
	EXPECT_TRUE(keeps("InitiatorAlias=x\0TargetAlias=x\0"
			  "X-SessionType=x\0SessionTyp=x\0"sv));
}

/* The core does not read it there. */
TEST_F(LoginRulesTest, WhoAsksIsNotSaidBehindTheAuthentication)
{
	EXPECT_FALSE(keeps("AuthMethod=None\0CHAP_A=5\0"
			   "SessionType=Discovery\0"sv, security));
	EXPECT_FALSE(LoginRules().keeps(
		Buffer("SRP_U=x\0InitiatorName=iqn.a\0"sv), security));
	EXPECT_TRUE(LoginRules().keeps(
		Buffer("InitiatorName=iqn.a\0CHAP_A=5\0X-a=1\0"sv),
		security));
}

TEST_F(LoginRulesTest, UnknownKeysMayComeTwice)
{
	EXPECT_TRUE(keeps("X-a=1\0X-a=1\0"sv));
}

TEST_F(LoginRulesTest, K13_OperationalKeysHaveTheirStage)
{
	EXPECT_FALSE(keeps("RDMAExtensions=Yes\0"sv, security));
	EXPECT_FALSE(LoginRules().keeps(
		Buffer("TargetRecvDataSegmentLength=512\0"sv), security));
	EXPECT_TRUE(keeps("TargetAlias=x\0"sv, security));
}

TEST_F(LoginRulesTest, K4_NumbersAreNumbers)
{
	for (const char *value : {"512~1024", "4096bytes", "-1", "", "many",
				  "4294967296"}) {
		const std::string pair =
			std::string("TargetRecvDataSegmentLength=") + value;

		EXPECT_FALSE(LoginRules().keeps(Buffer(pair + '\0'),
						operational)) << value;
	}
}

TEST_F(LoginRulesTest, K7_NoOfferIsARefusal)
{
	for (const char *word : {"Reject", "Irrelevant", "NotUnderstood"}) {
		const std::string pair = std::string("InitialR2T=") + word;

		EXPECT_FALSE(LoginRules().keeps(Buffer(pair + '\0'),
						operational)) << word;
	}
}

TEST_F(LoginRulesTest, AnAnswerMayBeARefusal)
{
	rules_.note_response(Buffer("MaxConnections=1\0"sv));
	EXPECT_TRUE(keeps("MaxConnections=Irrelevant\0"sv));
	EXPECT_FALSE(keeps("MaxBurstLength=Irrelevant\0"sv));
}

TEST_F(LoginRulesTest, NothingIsReadBehindAMalformedPair)
{
	EXPECT_TRUE(keeps("=x\0RDMAExtensions=Yes\0"sv, security));
}

} // namespace
} // namespace iser
