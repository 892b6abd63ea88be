// SPDX-License-Identifier: GPL-2.0
#include "libiser/chap.h"

#include <bit>
#include <cmath>

#include "libiser/error.h"

namespace libiser {

namespace {

using Block = std::array<std::uint32_t, 16>;
using State = std::array<std::uint32_t, 4>;

/* RFC 1321 3.4: T[i] is 4294967296 times abs(sin(i)). */
std::uint32_t sine(unsigned i)
{
	return static_cast<std::uint32_t>(
		std::floor(std::fabs(std::sin(i + 1.0)) * 4294967296.0));
}

void mix(State &state, const Block &block)
{
	static constexpr int shifts[4][4] = {
		{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23},
		{6, 10, 15, 21},
	};
	auto [a, b, c, d] = state;

	for (unsigned i = 0; i < 64; ++i) {
		std::uint32_t f;
		unsigned word;

		switch (i / 16) {
		case 0:
			f = (b & c) | (~b & d);
			word = i;
			break;
		case 1:
			f = (d & b) | (~d & c);
			word = 5 * i + 1;
			break;
		case 2:
			f = b ^ c ^ d;
			word = 3 * i + 5;
			break;
		default:
			f = c ^ (b | ~d);
			word = 7 * i;
			break;
		}
		f += a + sine(i) + block[word % 16];
		a = d;
		d = c;
		c = b;
		b += std::rotl(f, shifts[i / 16][i % 4]);
	}
	state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d};
}

int base64_digit(char digit)
{
	static const std::string digits =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789+/";
	std::size_t at = digits.find(digit);

	return at == std::string::npos ? -1 : static_cast<int>(at);
}

ByteVector from_base64(const std::string &text)
{
	ByteVector bytes;
	std::uint32_t bits = 0;
	unsigned count = 0;

	for (char c : text) {
		int digit = base64_digit(c);

		if (digit < 0)
			break;
		bits = bits << 6 | static_cast<std::uint32_t>(digit);
		count += 6;
		if (count >= 8) {
			count -= 8;
			bytes.push_back(static_cast<std::uint8_t>(
				bits >> count));
		}
	}
	return bytes;
}

ByteVector from_hex(const std::string &text)
{
	ByteVector bytes;
	std::size_t at = 0;

	/* An odd number of digits: the first byte has one. */
	for (std::size_t count = 2 - text.size() % 2; at < text.size();
	     count = 2) {
		bytes.push_back(static_cast<std::uint8_t>(
			std::stoul(text.substr(at, count), nullptr, 16)));
		at += count;
	}
	return bytes;
}

} // namespace

Md5Digest md5(ByteView message)
{
	ByteVector padded(message.begin(), message.end());
	State state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
	std::uint64_t bits = message.size() * 8;
	Md5Digest digest;

	padded.push_back(0x80);
	while (padded.size() % 64 != 56)
		padded.push_back(0);
	for (int i = 0; i < 8; ++i)
		padded.push_back(static_cast<std::uint8_t>(bits >> 8 * i));
	for (std::size_t at = 0; at < padded.size(); at += 64) {
		Block block = {};

		for (std::size_t i = 0; i < 64; ++i)
			block[i / 4] |= static_cast<std::uint32_t>(
						padded[at + i])
					<< 8 * (i % 4);
		mix(state, block);
	}
	for (std::size_t i = 0; i < 16; ++i)
		digest[i] = static_cast<std::uint8_t>(state[i / 4] >>
						      8 * (i % 4));
	return digest;
}

Md5Digest chap_response(std::uint8_t identifier, const std::string &secret,
			ByteView challenge)
{
	ByteVector message = {identifier};

	message.insert(message.end(), secret.begin(), secret.end());
	message.insert(message.end(), challenge.begin(), challenge.end());
	return md5(message);
}

std::string to_hex(ByteView bytes)
{
	static const char digits[] = "0123456789abcdef";
	std::string text = "0x";

	for (std::uint8_t byte : bytes) {
		text += digits[byte >> 4];
		text += digits[byte & 15];
	}
	return text;
}

ByteVector from_binary_value(const std::string &value)
{
	std::string prefix = value.substr(0, 2);

	if (prefix == "0b" || prefix == "0B")
		return from_base64(value.substr(2));
	if ((prefix == "0x" || prefix == "0X") &&
	    value.find_first_not_of("0123456789abcdefABCDEF", 2) ==
		    std::string::npos)
		return from_hex(value.substr(2));
	throw ProtocolError("no binary value of RFC 7143 6.1: " + value);
}

} // namespace libiser
