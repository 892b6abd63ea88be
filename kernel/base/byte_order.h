// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "port/types.h"

namespace base {

/*
 * An unsigned integer as it stands on the wire: @Size bytes, most significant
 * first, at any alignment.  The type carries the byte order, so that a host
 * integer and a wire integer never mix unseen.
 */
template <typename T, size_t Size = sizeof(T)>
class BigEndian {
public:
	BigEndian() = default;
	constexpr BigEndian(T value) { set(value); }

	constexpr operator T() const
	{
		T value = 0;

		if constexpr (Size == sizeof(T))
			if (!__builtin_is_constant_evaluated())
				return load();
		for (size_t i = 0; i < Size; ++i)
			value = static_cast<T>(value << 8 | bytes_[i]);
		return value;
	}

	constexpr BigEndian &operator=(T value)
	{
		set(value);
		return *this;
	}

private:
	/* One instruction, which compilers do not make of the loops. */
	T load() const
	{
		T wire;

		__builtin_memcpy(&wire, bytes_, Size);
		return swapped(wire);
	}
	void store(T value)
	{
		const T wire = swapped(value);

		__builtin_memcpy(bytes_, &wire, Size);
	}
	static T swapped(T value)
	{
		static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
		if constexpr (sizeof(T) == 8)
			return __builtin_bswap64(value);
		else if constexpr (sizeof(T) == 4)
			return __builtin_bswap32(value);
		else
			return __builtin_bswap16(value);
	}

	constexpr void set(T value)
	{
		if constexpr (Size == sizeof(T))
			if (!__builtin_is_constant_evaluated()) {
				store(value);
				return;
			}
		for (size_t i = Size; i-- > 0;
		     value = static_cast<T>(value >> 8))
			bytes_[i] = static_cast<u8>(value);
	}

	u8 bytes_[Size];
};

using Be16 = BigEndian<u16>;
using Be24 = BigEndian<u32, 3>;
using Be32 = BigEndian<u32>;
using Be64 = BigEndian<u64>;

static_assert(sizeof(Be16) == 2 && alignof(Be16) == 1);
static_assert(sizeof(Be24) == 3 && sizeof(Be32) == 4 && sizeof(Be64) == 8);

} // namespace base
