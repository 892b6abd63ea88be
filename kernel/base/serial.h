// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "port/types.h"

namespace base {

/*
 * A 32-bit sequence number that wraps (RFC 1982, as iSCSI uses it): CmdSN,
 * StatSN and their kin.  Two numbers further apart than 2^31 do not compare.
 */
class SerialNumber {
public:
	constexpr SerialNumber() = default;
	constexpr explicit SerialNumber(u32 value) : value_(value) {}

	constexpr u32 value() const { return value_; }
	constexpr SerialNumber next() const { return SerialNumber(value_ + 1); }

	constexpr bool operator==(const SerialNumber &) const = default;
	constexpr bool operator<(SerialNumber other) const
	{
		return static_cast<s32>(value_ - other.value_) < 0;
	}
	constexpr bool operator>(SerialNumber other) const
	{
		return other < *this;
	}

private:
	u32 value_ = 0;
};

} // namespace base
