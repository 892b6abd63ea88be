// SPDX-License-Identifier: GPL-2.0
#include "iser/text_edit.h"

#include <gtest/gtest.h>

#include "unit/bytes.h"

namespace iser {
namespace {

using namespace std::string_view_literals;
using test::Buffer;
using test::str;

std::string without(std::string_view text, const char *key)
{
	Buffer buffer(text);
	size_t length = remove_key(buffer, buffer.size(), key);

	return str(Bytes(buffer).first(length));
}

TEST(RemoveKey, B008_KeyGoesWithItsValueAndItsNul)
{
	EXPECT_EQ(without("a=1\0MaxAHSLength=0\0b=2\0"sv, "MaxAHSLength"),
		  "a=1\0b=2\0"sv);
}

TEST(RemoveKey, FirstLastAndEveryOne)
{
	EXPECT_EQ(without("k=1\0k=2\0a=1\0k=3\0"sv, "k"), "a=1\0"sv);
	EXPECT_EQ(without("k=1\0"sv, "k"), ""sv);
	EXPECT_EQ(without("a=1\0k=1"sv, "k"), "a=1\0"sv);
}

TEST(RemoveKey, OtherKeysStay)
{
	for (std::string_view text :
	     {"kk=1\0"sv, "K=1\0"sv, "k\0"sv, "a=k=1\0"sv, "\0"sv, ""sv})
		EXPECT_EQ(without(text, "k"), text);
}

TEST(Replace, NothingIsWrittenWithoutRoom)
{
	Buffer buffer("abcdef"sv);

	EXPECT_EQ(replace(buffer, 6, {2, 3}, Buffer("12"sv)), no_room);
	EXPECT_EQ(replace(buffer, 6, {6, 6}, Buffer("1"sv)), no_room);
	EXPECT_EQ(replace(buffer, 4, {2, 4}, Buffer("12345"sv)), no_room);
	EXPECT_EQ(str(buffer), "abcdef");
}

TEST(Replace, LastByteOfTheBufferIsUsed)
{
	Buffer buffer("abcdef"sv);

	EXPECT_EQ(replace(buffer, 5, {1, 2}, Buffer("12"sv)), 6u);
	EXPECT_EQ(str(buffer), "a12cde");
}

TEST(PairAt, EndsAtTheNulOrAtTheEnd)
{
	Buffer text("ab\0c"sv);

	EXPECT_EQ(pair_at(text, 0).end, 2u);
	EXPECT_EQ(pair_at(text, 2).size(), 0u);
	EXPECT_EQ(pair_at(text, 3).end, 4u);
}

} // namespace
} // namespace iser
