// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <cstdint>
#include <iterator>
#include <utility>

namespace iserverify {

/*
 * Random numbers that are the same everywhere for the same seed, which the
 * distributions of the standard library are not.
 */
class Random {
public:
	explicit Random(std::uint64_t seed) : state_(seed) {}

	/* The numbers of one case, whatever the cases before have drawn. */
	static Random of_case(std::uint64_t seed, std::uint32_t number)
	{
		Random mixed(seed);

		return Random(mixed.next() ^
			      number * 0x9e3779b97f4a7c15ull);
	}

	/* splitmix64 */
	std::uint64_t next()
	{
		std::uint64_t z = state_ += 0x9e3779b97f4a7c15ull;

		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
		z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
		return z ^ (z >> 31);
	}
	/* 0 to @limit - 1; @limit is not 0. */
	std::uint32_t below(std::size_t limit)
	{
		return static_cast<std::uint32_t>(next() % limit);
	}
	std::uint32_t between(std::uint32_t low, std::uint32_t high)
	{
		return low + below(high - low + 1);
	}
	std::uint8_t byte() { return static_cast<std::uint8_t>(next()); }
	bool chance(unsigned percent) { return below(100) < percent; }
	template <typename List> auto &pick(List &list)
	{
		return *(std::begin(list) + below(std::size(list)));
	}
	template <typename List> void shuffle(List &list)
	{
		for (std::size_t left = list.size(); left > 1; --left)
			std::swap(list[left - 1], list[below(left)]);
	}

private:
	std::uint64_t state_;
};

} // namespace iserverify
