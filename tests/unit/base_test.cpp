// SPDX-License-Identifier: GPL-2.0
#include "base/byte_order.h"
#include "base/list.h"
#include "base/result.h"
#include "base/serial.h"
#include "base/span.h"

#include <cstring>

#include <gtest/gtest.h>

namespace base {
namespace {

TEST(BigEndian, MostSignificantByteFirst)
{
	struct {
		Be16 two;
		Be24 three;
		Be32 four;
		Be64 eight;
	} wire;
	const u8 expected[] = {0x12, 0x34, 0xab, 0xcd, 0xef,
			       0x89, 0xab, 0xcd, 0xef,
			       1, 2, 3, 4, 5, 6, 7, 8};

	wire.two = 0x1234;
	wire.three = 0xabcdef;
	wire.four = 0x89abcdef;
	wire.eight = 0x0102030405060708;
	ASSERT_EQ(sizeof(wire), sizeof(expected));
	EXPECT_EQ(std::memcmp(&wire, expected, sizeof(expected)), 0);
	EXPECT_EQ(wire.two, 0x1234u);
	EXPECT_EQ(wire.three, 0xabcdefu);
	EXPECT_EQ(wire.four, 0x89abcdefu);
	EXPECT_EQ(wire.eight, 0x0102030405060708u);
}

TEST(Span, PartsShareTheBytes)
{
	u8 bytes[] = {1, 2, 3, 4};
	MutableBytes all(bytes);

	EXPECT_EQ(all.first(2).size(), 2u);
	EXPECT_EQ(all.from(3)[0], 4);
	EXPECT_TRUE(all.from(4).empty());
	all.from(1)[0] = 9;
	EXPECT_EQ(bytes[1], 9);
}

TEST(SpanDeathTest, NothingOutsideIsReached)
{
	u8 bytes[] = {1, 2, 3, 4}, two[2];
	Bytes all(bytes);

	EXPECT_DEATH((void)all[4], "");
	EXPECT_DEATH((void)all.first(5), "");
	EXPECT_DEATH((void)all.from(5), "");
	EXPECT_DEATH(copy(two, all), "");
}

TEST(Span, EqualComparesLengthAndContent)
{
	const u8 a[] = {1, 2, 3}, b[] = {1, 2, 4};

	EXPECT_TRUE(equal(a, a));
	EXPECT_FALSE(equal(a, b));
	EXPECT_TRUE(equal(Bytes(a).first(2), Bytes(b).first(2)));
	EXPECT_FALSE(equal(a, Bytes(a).first(2)));
}

TEST(SerialNumber, OrderSurvivesTheWrap)
{
	SerialNumber last(0xffffffff);

	EXPECT_TRUE(last < last.next());
	EXPECT_TRUE(last.next() > last);
	EXPECT_FALSE(last < last);
	EXPECT_EQ(last.next(), SerialNumber(0));
	EXPECT_TRUE(SerialNumber(1) < SerialNumber(2));
}

Result<int> half(int number)
{
	if (number % 2)
		return Error::Invalid;
	return number / 2;
}

Result<int> quarter(int number)
{
	return TRY(half(TRY(half(number))));
}

TEST(Result, TryReturnsTheFirstError)
{
	EXPECT_EQ(quarter(8).value(), 2);
	EXPECT_EQ(quarter(6).error(), Error::Invalid);
	EXPECT_EQ(quarter(5).error(), Error::Invalid);
	EXPECT_EQ(quarter(8).error(), Error::None);
}

TEST(ResultDeathTest, NoValueWithoutSuccess)
{
	EXPECT_DEATH((void)half(1).value(), "");
}

TEST(Error, NumbersAreTheKernels)
{
	EXPECT_EQ(to_errno(Error::NoMemory), -12);
	EXPECT_EQ(from_errno(-110), Error::TimedOut);
	EXPECT_EQ(from_errno(0), Error::None);
	EXPECT_EQ(from_errno(3), Error::None);
}

struct Item {
	int number;
	ListNode node;
};
using Items = List<Item, &Item::node>;

TEST(List, KeepsTheOrder)
{
	Item one{1, {}}, two{2, {}}, three{3, {}};
	Items items;
	int sum = 0;

	EXPECT_EQ(items.pop_front(), nullptr);
	items.push_back(one);
	items.push_back(two);
	items.push_back(three);
	for (Item &item : items)
		sum = sum * 10 + item.number;
	EXPECT_EQ(sum, 123);
	items.remove(two);
	EXPECT_FALSE(two.node.linked());
	EXPECT_EQ(items.pop_front(), &one);
	EXPECT_EQ(items.pop_front(), &three);
	EXPECT_TRUE(items.empty());
	items.push_front(one);
	items.push_front(two);
	EXPECT_EQ(items.pop_front(), &two);
	EXPECT_EQ(items.pop_front(), &one);
	EXPECT_TRUE(items.empty());
}

TEST(List, TakesAllOfAnother)
{
	Item one{1, {}}, two{2, {}}, three{3, {}}, four{4, {}};
	Items items;
	Items others;

	items.take_all(others);
	EXPECT_TRUE(items.empty());
	others.push_back(one);
	others.push_back(two);
	items.take_all(others);
	EXPECT_TRUE(others.empty());
	others.push_back(three);
	others.push_back(four);
	items.take_all(others);
	EXPECT_TRUE(others.empty());
	for (Item *item : {&one, &two, &three, &four})
		EXPECT_EQ(items.pop_front(), item);
	EXPECT_TRUE(items.empty());
}

TEST(List, ClearedLinksNothing)
{
	Item one{1, {}}, two{2, {}};
	Items items;

	items.push_back(one);
	items.push_back(two);
	items.clear();
	EXPECT_TRUE(items.empty());
	EXPECT_FALSE(one.node.linked());
	EXPECT_FALSE(two.node.linked());
}

void link_twice()
{
	Item item{1, {}};
	Items items;

	items.push_back(item);
	items.push_back(item);
}

void die_linked()
{
	Items items;
	Item item{1, {}};

	items.push_back(item);
}

TEST(ListDeathTest, ItemIsInOneListAndLeavesItBeforeItDies)
{
	EXPECT_DEATH(link_twice(), "");
	EXPECT_DEATH(die_linked(), "");
}

} // namespace
} // namespace base
