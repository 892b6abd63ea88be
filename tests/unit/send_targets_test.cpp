// SPDX-License-Identifier: GPL-2.0
#include "iser/send_targets.h"

#include <cstring>

#include <gtest/gtest.h>

#include "unit/bytes.h"

namespace iser {
namespace {

using namespace std::string_view_literals;
using test::Buffer;
using test::str;

const Buffer ipv4("10.0.0.1"sv);
const Buffer ipv6("[fe80::1]"sv);

/* What @text becomes in a buffer with @room bytes more than it needs. */
std::string rewrite(std::string_view text, size_t room = 64,
		    u16 port = 3260, u16 listening_port = 13261)
{
	const PortRule rules[] = {
		{ipv4, port, listening_port},
		{ipv6, 3260, 3261},
	};
	Buffer buffer(std::string(text) + std::string(room, '\xee'));
	size_t length = rewrite_ports(buffer, text.size(), rules);

	return str(Bytes(buffer).first(length));
}

TEST(SendTargets, F44_PortIsReplacedWhereTheRuleAsksForIt)
{
	EXPECT_EQ(rewrite("TargetName=iqn.a\0"
			  "TargetAddress=10.0.0.1:3260,1\0"sv),
		  "TargetName=iqn.a\0TargetAddress=10.0.0.1:13261,1\0"sv);
}

TEST(SendTargets, EveryTargetAndEveryPortal)
{
	EXPECT_EQ(rewrite("TargetName=iqn.a\0"
			  "TargetAddress=10.0.0.1:3260,1\0"
			  "TargetAddress=[fe80::1]:3260,1\0"
			  "TargetAddress=10.0.0.2:3260,2\0"
			  "TargetName=iqn.b\0"
			  "TargetAddress=10.0.0.1:3260,7\0"sv),
		  "TargetName=iqn.a\0"
		  "TargetAddress=10.0.0.1:13261,1\0"
		  "TargetAddress=[fe80::1]:3261,1\0"
		  "TargetAddress=10.0.0.2:3260,2\0"
		  "TargetName=iqn.b\0"
		  "TargetAddress=10.0.0.1:13261,7\0"sv);
}

TEST(SendTargets, WhatNoRuleNamesStays)
{
	for (std::string_view text :
	     {"TargetAddress=10.0.0.1:3261,1\0"sv,
	      "TargetAddress=10.0.0.11:3260,1\0"sv,
	      "TargetAddress=110.0.0.1:3260,1\0"sv,
	      "TargetAddress=10.0.0.1:32600,1\0"sv,
	      "TargetAddress=10.0.0.1:03260,1\0"sv,
	      "TargetAddress=10.0.0.1,1\0"sv,
	      "TargetAddress=fe80::1:3260,1\0"sv,
	      "TargetName=10.0.0.1:3260,1\0"sv,
	      "XTargetAddress=10.0.0.1:3260,1\0"sv,
	      "TargetAddress\0"sv, "\0\0"sv, ""sv})
		EXPECT_EQ(rewrite(text), text);
}

TEST(SendTargets, TagAndNulMayBeMissing)
{
	EXPECT_EQ(rewrite("TargetAddress=10.0.0.1:3260\0"sv),
		  "TargetAddress=10.0.0.1:13261\0"sv);
	EXPECT_EQ(rewrite("TargetAddress=10.0.0.1:3260,1"sv),
		  "TargetAddress=10.0.0.1:13261,1"sv);
	EXPECT_EQ(rewrite("TargetAddress=10.0.0.1:3260"sv),
		  "TargetAddress=10.0.0.1:13261"sv);
}

TEST(SendTargets, TextMayShrink)
{
	EXPECT_EQ(rewrite("TargetAddress=10.0.0.1:65000,1\0TargetName=x\0"sv,
			  0, 65000, 1),
		  "TargetAddress=10.0.0.1:1,1\0TargetName=x\0"sv);
	EXPECT_EQ(rewrite("TargetAddress=10.0.0.1:65000,1\0"
			  "TargetAddress=10.0.0.1:65000,2\0"sv,
			  0, 65000, 1),
		  "TargetAddress=10.0.0.1:1,1\0"
		  "TargetAddress=10.0.0.1:1,2\0"sv);
}

TEST(SendTargets, TextMayGrowToTheLastByte)
{
	EXPECT_EQ(rewrite("TargetAddress=10.0.0.1:3260,1\0"sv, 1),
		  "TargetAddress=10.0.0.1:13261,1\0"sv);
}

TEST(SendTargets, WhatDoesNotFitStaysAsItIs)
{
	EXPECT_EQ(rewrite("TargetAddress=10.0.0.1:3260,1\0"sv, 0),
		  "TargetAddress=10.0.0.1:3260,1\0"sv);
	EXPECT_EQ(rewrite("TargetAddress=10.0.0.1:3260"sv, 0),
		  "TargetAddress=10.0.0.1:3260"sv);
	/* Room for one of the two; the third needs none. */
	EXPECT_EQ(rewrite("TargetAddress=10.0.0.1:3260,1\0"
			  "TargetAddress=10.0.0.1:3260,2\0"
			  "TargetAddress=[fe80::1]:3260,3\0"sv, 1),
		  "TargetAddress=10.0.0.1:13261,1\0"
		  "TargetAddress=10.0.0.1:3260,2\0"
		  "TargetAddress=[fe80::1]:3261,3\0"sv);
}

TEST(SendTargets, NewPortIsNotRewrittenAgain)
{
	const PortRule rules[] = {{ipv4, 3260, 3261}, {ipv4, 3261, 3262}};
	Buffer text("TargetAddress=10.0.0.1:3260,1\0"sv);

	EXPECT_EQ(rewrite_ports(text, text.size(), rules), text.size());
	EXPECT_EQ(str(text), "TargetAddress=10.0.0.1:3261,1\0"sv);
}

/* RFC 7143 Appendix C */
TEST(SendTargets, WithoutAValueItIsTheSessionsOwn)
{
	EXPECT_TRUE(asks_for_own_target(Buffer("SendTargets=\0"sv)));
	EXPECT_TRUE(asks_for_own_target(Buffer("SendTargets="sv)));
	EXPECT_FALSE(asks_for_own_target(Buffer("SendTargets=All\0"sv)));
	EXPECT_FALSE(asks_for_own_target(Buffer("SendTargets"sv)));
	EXPECT_FALSE(asks_for_own_target(Buffer("X=\0"sv)));
	EXPECT_FALSE(asks_for_own_target(
		Buffer("SendTargets=\0SendTargets=\0"sv)));
	EXPECT_FALSE(asks_for_own_target({}));
}

TEST(SendTargets, WithoutRulesNothingChanges)
{
	Buffer text("TargetAddress=10.0.0.1:3260,1\0"sv);

	EXPECT_EQ(rewrite_ports(text, text.size(), {}), text.size());
	EXPECT_EQ(str(text), "TargetAddress=10.0.0.1:3260,1\0"sv);
}

} // namespace
} // namespace iser
