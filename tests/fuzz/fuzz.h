// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/span.h"

namespace fuzz {

/* Stops the fuzzer, with the input kept, if a promise is broken. */
#define CHECK(promise)							\
	do {								\
		if (!(promise)) {					\
			std::fprintf(stderr, "broken at %s:%d: %s\n",	\
				     __FILE__, __LINE__, #promise);	\
			std::abort();					\
		}							\
	} while (0)

/* Takes the fuzzer's input apart. */
class Input {
public:
	Input(const uint8_t *data, size_t size) : rest_(data, size) {}

	/* Zero when the input is used up. */
	u8 byte()
	{
		if (rest_.empty())
			return 0;

		u8 value = rest_[0];

		rest_ = rest_.from(1);
		return value;
	}
	u32 number()
	{
		u32 value = 0;

		for (int i = 0; i < 4; ++i)
			value = value << 8 | byte();
		return value;
	}
	/* At most @size bytes, copied: the sanitizer guards both their ends. */
	std::vector<u8> bytes(size_t size)
	{
		base::Bytes part =
			rest_.first(size < rest_.size() ? size : rest_.size());

		rest_ = rest_.from(part.size());
		return {part.begin(), part.end()};
	}
	std::vector<u8> rest() { return bytes(rest_.size()); }
	bool empty() const { return rest_.empty(); }

private:
	base::Bytes rest_;
};

inline base::Bytes view(const std::vector<u8> &bytes)
{
	return {bytes.data(), bytes.size()};
}

inline std::string str(base::Bytes bytes)
{
	return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

/* Whether @inner lies within @outer. */
inline bool within(base::Bytes inner, base::Bytes outer)
{
	return inner.begin() >= outer.begin() && inner.end() <= outer.end();
}

/* A buffer with untouchable bytes on both its sides. */
class Guarded {
public:
	explicit Guarded(size_t size) : bytes_(size + 2 * zone, pattern) {}
	~Guarded()
	{
		for (size_t i = 0; i < zone; ++i) {
			CHECK(bytes_[i] == pattern);
			CHECK(bytes_[bytes_.size() - 1 - i] == pattern);
		}
	}
	base::MutableBytes bytes()
	{
		return {bytes_.data() + zone, bytes_.size() - 2 * zone};
	}

private:
	static constexpr size_t zone = 32;
	static constexpr u8 pattern = 0xa5;

	std::vector<u8> bytes_;
};

} // namespace fuzz
