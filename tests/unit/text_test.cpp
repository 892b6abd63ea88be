// SPDX-License-Identifier: GPL-2.0
#include "iser/text.h"

#include <gtest/gtest.h>

#include "unit/bytes.h"

namespace iser {
namespace {

using namespace std::string_view_literals;
using test::Buffer;
using test::str;

TextPair pair_with(const Buffer &value)
{
	TextPair pair;

	pair.value = value;
	return pair;
}

Result<u32> number(std::string_view text)
{
	Buffer value(text);

	return pair_with(value).number();
}

/* As "key>value|", for all pairs; "!" at the end if malformed. */
std::string pairs_of(std::string_view text)
{
	Buffer buffer(text);
	TextPairs pairs(buffer);
	TextPair pair;
	std::string all;

	while (pairs.next(pair))
		all += str(pair.key) + ">" + str(pair.value) + "|";
	EXPECT_FALSE(pairs.next(pair));
	return all + (pairs.malformed() ? "!" : "");
}

TEST(TextPairs, K01_PairsEndWithANul)
{
	EXPECT_EQ(pairs_of("a=1\0bc=23\0"sv), "a>1|bc>23|");
}

TEST(TextPairs, NoTextIsNoPair)
{
	EXPECT_EQ(pairs_of(""sv), "");
}

TEST(TextPairs, LastNulMayBeMissing)
{
	EXPECT_EQ(pairs_of("a=1\0b=2"sv), "a>1|b>2|");
	EXPECT_EQ(pairs_of("a="sv), "a>|");
}

TEST(TextPairs, ValueMayBeEmptyOrHoldEqualsSigns)
{
	EXPECT_EQ(pairs_of("a=\0b=c=d\0"sv), "a>|b>c=d|");
}

TEST(TextPairs, MissingEqualsSignIsMalformed)
{
	EXPECT_EQ(pairs_of("a=1\0b\0c=3\0"sv), "a>1|!");
	EXPECT_EQ(pairs_of("a"sv), "!");
}

TEST(TextPairs, EmptyKeyIsMalformed)
{
	EXPECT_EQ(pairs_of("=1\0"sv), "!");
	EXPECT_EQ(pairs_of("="sv), "!");
}

TEST(TextPairs, EmptyPairIsMalformed)
{
	EXPECT_EQ(pairs_of("\0"sv), "!");
	EXPECT_EQ(pairs_of("a=1\0\0b=2\0"sv), "a>1|!");
}

TEST(TextPair, K01_KeysAreCaseSensitiveAndWhole)
{
	Buffer text("InitialR2T=Yes\0"sv);
	TextPairs pairs(text);
	TextPair pair;

	ASSERT_TRUE(pairs.next(pair));
	EXPECT_TRUE(pair.key_is("InitialR2T"));
	EXPECT_FALSE(pair.key_is("InitialR2t"));
	EXPECT_FALSE(pair.key_is("InitialR2"));
	EXPECT_FALSE(pair.key_is("InitialR2TT"));
	EXPECT_FALSE(pair.key_is(""));
	EXPECT_TRUE(pair.value_is("Yes"));
}

TEST(TextPair, K01_NumbersAreDecimalOrHex)
{
	EXPECT_EQ(number("0").value(), 0u);
	EXPECT_EQ(number("8192").value(), 8192u);
	EXPECT_EQ(number("4294967295").value(), 4294967295u);
	EXPECT_EQ(number("0x0").value(), 0u);
	EXPECT_EQ(number("0xFf").value(), 255u);
	EXPECT_EQ(number("0X10").value(), 16u);
	EXPECT_EQ(number("0xffffffff").value(), 0xffffffffu);
	EXPECT_EQ(number("0x00000000000000000012").value(), 0x12u);
}

TEST(TextPair, WhatIsNoNumberIsRefused)
{
	for (std::string_view text :
	     {""sv, "0x"sv, "x1"sv, "-1"sv, "+1"sv, " 1"sv, "1 "sv, "1a"sv,
	      "0x1g"sv, "010"sv, "00"sv, "1.5"sv, "512~1024"sv, "1:"sv,
	      "Yes"sv, "\xff"sv, "4294967296"sv, "0x100000000"sv,
	      "18446744073709551617"sv,
	      "99999999999999999999999999999999999999"sv})
		EXPECT_EQ(number(text).error(), Error::Invalid) << text;
}

TEST(TextPair, K01_BooleansAreExactlyYesOrNo)
{
	EXPECT_TRUE(pair_with(Buffer("Yes"sv)).boolean().value());
	EXPECT_FALSE(pair_with(Buffer("No"sv)).boolean().value());
	for (std::string_view text :
	     {"yes"sv, "YES"sv, "Y"sv, "no"sv, "1"sv, "0"sv, ""sv, "Yes "sv,
	      "No,Yes"sv, "Yess"sv}) {
		Buffer value(text);

		EXPECT_EQ(pair_with(value).boolean().error(), Error::Invalid)
			<< text;
	}
}

TEST(Decimal, AllItsDigits)
{
	EXPECT_EQ(str(Decimal(0).bytes()), "0");
	EXPECT_EQ(str(Decimal(7).bytes()), "7");
	EXPECT_EQ(str(Decimal(3260).bytes()), "3260");
	EXPECT_EQ(str(Decimal(4294967295u).bytes()), "4294967295");
}

TEST(TextWriter, WritesWhatTextPairsReads)
{
	Buffer buffer(64);
	TextWriter writer(buffer);

	writer.append("RDMAExtensions", "Yes");
	writer.append("MaxAHSLength", 256u);
	writer.append("X", Bytes(Buffer("y"sv)));
	EXPECT_FALSE(writer.truncated());
	EXPECT_EQ(str(writer.text()),
		  "RDMAExtensions=Yes\0MaxAHSLength=256\0X=y\0"sv);
}

TEST(TextWriter, FillsTheBufferToTheLastByte)
{
	Buffer buffer(4);
	TextWriter writer(buffer);

	writer.append("a", "b");
	EXPECT_FALSE(writer.truncated());
	EXPECT_EQ(str(writer.text()), "a=b\0"sv);
}

TEST(TextWriter, F05_PairThatDoesNotFitIsLeftOutWhole)
{
	Buffer buffer(7, 0xee);
	TextWriter writer(buffer);

	writer.append("a", "b");
	writer.append("c", "d");
	EXPECT_TRUE(writer.truncated());
	EXPECT_EQ(str(writer.text()), "a=b\0"sv);
	EXPECT_EQ(buffer[4], 0xee);
	EXPECT_EQ(buffer[6], 0xee);
}

TEST(TextWriter, NothingFollowsWhatWasLeftOut)
{
	Buffer buffer(5);
	TextWriter writer(buffer);

	writer.append("long", "value");
	writer.append("a", "b");
	EXPECT_TRUE(writer.truncated());
	EXPECT_TRUE(writer.text().empty());
}

TEST(TextWriter, NoBufferTakesNothing)
{
	TextWriter writer({});

	writer.append("a", "");
	EXPECT_TRUE(writer.truncated());
	EXPECT_TRUE(writer.text().empty());
}

} // namespace
} // namespace iser
