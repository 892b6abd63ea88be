// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/utility.h"

namespace base {

/*
 * A view of @size() consecutive T that somebody else owns.  Every access is
 * checked: an index that a peer supplied can stop the machine at worst, never
 * read or write what lies behind the view.  Check it before, all the same.
 */
template <typename T>
class Span {
public:
	constexpr Span() = default;
	constexpr Span(T *data, size_t size) : data_(data), size_(size) {}
	template <size_t N>
	constexpr Span(T (&array)[N]) : data_(array), size_(N) {}
	/* A view for writing is also one for reading. */
	constexpr operator Span<const T>() const { return {data_, size_}; }

	constexpr T *data() const { return data_; }
	constexpr size_t size() const { return size_; }
	constexpr bool empty() const { return size_ == 0; }
	constexpr T *begin() const { return data_; }
	constexpr T *end() const { return data_ + size_; }

	constexpr T &operator[](size_t index) const
	{
		if (index >= size_) [[unlikely]]
			__builtin_trap();
		return data_[index];
	}

	constexpr Span first(size_t count) const
	{
		if (count > size_) [[unlikely]]
			__builtin_trap();
		return {data_, count};
	}

	constexpr Span from(size_t offset) const
	{
		if (offset > size_) [[unlikely]]
			__builtin_trap();
		return {data_ + offset, size_ - offset};
	}

private:
	T *data_ = nullptr;
	size_t size_ = 0;
};

using Bytes = Span<const u8>;
using MutableBytes = Span<u8>;

constexpr bool equal(Bytes a, Bytes b)
{
	if (a.size() != b.size())
		return false;
	for (size_t i = 0; i < a.size(); ++i)
		if (a[i] != b[i])
			return false;
	return true;
}

/* Copies @from into the start of @to, which must be large enough. */
inline void copy(MutableBytes to, Bytes from)
{
	if (from.empty())
		return;
	if (from.size() > to.size()) [[unlikely]]
		__builtin_trap();
	__builtin_memcpy(to.data(), from.data(), from.size());
}

} // namespace base
