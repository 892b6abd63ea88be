// SPDX-License-Identifier: GPL-2.0
#include "iser/cause.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace iser {
namespace {

Cause cause(size_t index) { return static_cast<Cause>(index); }

TEST(Cause, EveryCauseHasItsOwnNameAndText)
{
	std::set<std::string> names, texts;

	for (size_t i = 0; i < cause_count; ++i) {
		names.insert(name(cause(i)));
		texts.insert(text(cause(i)));
	}
	EXPECT_EQ(names.size(), cause_count);
	EXPECT_EQ(texts.size(), cause_count);
}

TEST(Cause, NamesAreCounterNames)
{
	for (size_t i = 0; i < cause_count; ++i) {
		std::string counter = name(cause(i));

		EXPECT_FALSE(counter.empty());
		EXPECT_EQ(counter.find_first_not_of(
				  "abcdefghijklmnopqrstuvwxyz_"),
			  std::string::npos) << counter;
	}
}

TEST(Cause, TextsArePartsOfASentence)
{
	for (size_t i = 0; i < cause_count; ++i) {
		std::string words = text(cause(i));

		ASSERT_FALSE(words.empty());
		EXPECT_NE(words.back(), '.') << words;
		EXPECT_EQ(words.find_first_of("\n%"), std::string::npos);
	}
}

TEST(Cause, WordsAreThoseOfTheCause)
{
	EXPECT_STREQ(name(Cause::LengthLies), "length_lies");
	EXPECT_STREQ(text(Cause::LengthLies),
		     "the peer declared more data than it sent");
	EXPECT_STREQ(name(Cause::CoreRefused), "core_refused");
	EXPECT_STREQ(name(Cause::None), "none");
}

TEST(Cause, NoRowIsReadBehindTheTable)
{
	EXPECT_STREQ(name(cause(cause_count)), "none");
	EXPECT_STREQ(name(cause(255)), "none");
}

} // namespace
} // namespace iser
