// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/span.h"

namespace test {

using namespace std::string_view_literals;

/*
 * Bytes that end where an allocation ends: the address sanitizer sees who
 * reads on.
 */
class Buffer {
public:
	Buffer(std::string_view text)
	{
		for (char c : text)
			bytes_.push_back(static_cast<u8>(c));
		bytes_.shrink_to_fit();
	}
	Buffer(std::initializer_list<u8> bytes) : bytes_(bytes) {}
	explicit Buffer(size_t size, u8 fill = 0) : bytes_(size, fill) {}

	operator base::Bytes() const { return {bytes_.data(), bytes_.size()}; }
	operator base::MutableBytes() { return {bytes_.data(), bytes_.size()}; }
	u8 &operator[](size_t index) { return bytes_.at(index); }
	size_t size() const { return bytes_.size(); }

private:
	std::vector<u8> bytes_;
};

inline std::string str(base::Bytes bytes)
{
	return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

} // namespace test
