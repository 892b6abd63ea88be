// SPDX-License-Identifier: GPL-2.0
#include "iser/text.h"

namespace iser {
namespace {

size_t length_of(const char *string)
{
	size_t length = 0;

	while (string[length])
		++length;
	return length;
}

Bytes as_bytes(const char *string)
{
	return {reinterpret_cast<const u8 *>(string), length_of(string)};
}

/* Index of the first @wanted, or the size. */
size_t find(Bytes bytes, u8 wanted)
{
	size_t i = 0;

	while (i < bytes.size() && bytes[i] != wanted)
		++i;
	return i;
}

constexpr u32 no_digit = 16;

u32 digit(u8 character)
{
	if (character >= '0' && character <= '9')
		return character - '0';
	if (character >= 'a' && character <= 'f')
		return character - 'a' + 10;
	if (character >= 'A' && character <= 'F')
		return character - 'A' + 10;
	return no_digit;
}

/* Digits only, at least one, and no more than a u32 holds. */
Result<u32> digits(Bytes text, u32 radix)
{
	u64 number = 0;

	if (text.empty())
		return Error::Invalid;
	for (u8 character : text) {
		u32 value = digit(character);

		if (value >= radix)
			return Error::Invalid;
		number = number * radix + value;
		if (number > 0xffffffff)
			return Error::Invalid;
	}
	return static_cast<u32>(number);
}

} // namespace

bool equals(Bytes text, const char *string)
{
	return base::equal(text, as_bytes(string));
}

bool starts_with(Bytes text, const char *string)
{
	const Bytes start = as_bytes(string);

	return text.size() >= start.size() &&
	       base::equal(text.first(start.size()), start);
}

Decimal::Decimal(u32 number)
{
	do {
		digits_[--start_] = static_cast<u8>('0' + number % 10);
		number /= 10;
	} while (number);
}

Result<u32> TextPair::number() const
{
	if (value.size() >= 2 && value[0] == '0') {
		/* A decimal-constant does not start with 0 (RFC 7143 6.1). */
		if (value[1] != 'x' && value[1] != 'X')
			return Error::Invalid;
		return digits(value.from(2), 16);
	}
	return digits(value, 10);
}

Result<bool> TextPair::boolean() const
{
	if (value_is("Yes"))
		return true;
	if (value_is("No"))
		return false;
	return Error::Invalid;
}

bool TextPairs::next(TextPair &pair)
{
	if (rest_.empty())
		return false;

	size_t end = find(rest_, 0);
	Bytes text = rest_.first(end);
	size_t equals_sign = find(text, '=');

	if (equals_sign == 0 || equals_sign == text.size()) {
		malformed_ = true;
		return false;
	}
	pair.key = text.first(equals_sign);
	pair.value = text.from(equals_sign + 1);
	rest_ = rest_.from(end < rest_.size() ? end + 1 : end);
	return true;
}

void TextWriter::put(Bytes bytes)
{
	if (bytes.empty())
		return;
	base::copy(buffer_.from(length_), bytes);
	length_ += bytes.size();
}

void TextWriter::append(const char *key, Bytes value)
{
	static const u8 equals_sign[] = {'='};
	static const u8 end[] = {0};
	Bytes name = as_bytes(key);
	size_t room = buffer_.size() - length_;

	if (truncated_ || name.size() + value.size() + 2 > room) {
		truncated_ = true;
		return;
	}
	put(name);
	put(equals_sign);
	put(value);
	put(end);
}

void TextWriter::append(const char *key, const char *value)
{
	append(key, as_bytes(value));
}

void TextWriter::append(const char *key, u32 number)
{
	append(key, Decimal(number).bytes());
}

} // namespace iser
