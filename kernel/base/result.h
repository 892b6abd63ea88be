// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/utility.h"

namespace base {

/* Kernel error numbers, as a type that an integer does not convert to. */
enum class [[nodiscard]] Error : int {
	None = 0,
	Interrupted = 4,
	Io = 5,
	Again = 11,
	NoMemory = 12,
	Busy = 16,
	NoDevice = 19,
	Invalid = 22,
	NoSpace = 28,
	Protocol = 71,
	AddressInUse = 98,
	AddressNotAvailable = 99,
	NotConnected = 107,
	TimedOut = 110,
};

constexpr int to_errno(Error error) { return -static_cast<int>(error); }

/* What a function of the port returned: 0, or a negative errno. */
constexpr Error from_errno(int result)
{
	return result < 0 ? static_cast<Error>(-result) : Error::None;
}

/* A T, or the reason why there is none. */
template <typename T>
class [[nodiscard]] Result {
public:
	constexpr Result(T &&value) : value_(move(value)) {}
	constexpr Result(const T &value) : value_(value) {}
	constexpr Result(Error error) : failed_(true), error_(error) {}
	Result(const Result &) = delete;
	Result &operator=(const Result &) = delete;
	constexpr Result(Result &&other) : failed_(other.failed_)
	{
		if (failed_)
			error_ = other.error_;
		else
			::new (InPlace{}, &value_) T(move(other.value_));
	}
	constexpr ~Result()
	{
		if (!failed_)
			value_.~T();
	}

	constexpr bool ok() const { return !failed_; }
	constexpr Error error() const { return failed_ ? error_ : Error::None; }
	constexpr T &value() &
	{
		if (failed_) [[unlikely]]
			__builtin_trap();
		return value_;
	}
	constexpr T &&value() &&
	{
		if (failed_) [[unlikely]]
			__builtin_trap();
		return move(value_);
	}

private:
	bool failed_ = false;
	union {
		T value_;
		Error error_;
	};
};

} // namespace base

/* The value of @expression; on failure, return its error from here. */
#define TRY(expression)							\
	({								\
		auto try_result_ = (expression);			\
		if (!try_result_.ok()) [[unlikely]]			\
			return try_result_.error();			\
		::base::move(try_result_).value();			\
	})
