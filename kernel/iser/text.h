// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/result.h"
#include "base/span.h"

namespace iser {

using base::Bytes;
using base::Error;
using base::MutableBytes;
using base::Result;

/* Whether @text is @string, which ends with a NUL that does not count. */
bool equals(Bytes text, const char *string);

/* The same of its beginning. */
bool starts_with(Bytes text, const char *string);

/* @number as decimal digits. */
class Decimal {
public:
	explicit Decimal(u32 number);
	Bytes bytes() const { return Bytes(digits_).from(start_); }

private:
	u8 digits_[10];
	size_t start_ = sizeof(digits_);
};

/* A key of RFC 7143 6.1 with its value; views into the text they came from. */
struct TextPair {
	Bytes key;
	Bytes value;

	bool key_is(const char *name) const { return equals(key, name); }
	bool value_is(const char *word) const { return equals(value, word); }
	/* A decimal-constant or hex-constant that fits. */
	Result<u32> number() const;
	/* Exactly Yes or No. */
	Result<bool> boolean() const;
};

/*
 * Takes text apart: key=value pairs, each ended by a NUL.  The last NUL may
 * be missing.  Stops for good at what is no pair.
 */
class TextPairs {
public:
	explicit TextPairs(Bytes text) : rest_(text) {}

	/* The next pair into @pair; false at the end, or if malformed(). */
	bool next(TextPair &pair);
	bool malformed() const { return malformed_; }

private:
	Bytes rest_;
	bool malformed_ = false;
};

/*
 * Puts text together in @buffer.  A pair that does not fit is left out whole,
 * and so is all that comes after it.
 */
class TextWriter {
public:
	explicit TextWriter(MutableBytes buffer) : buffer_(buffer) {}

	void append(const char *key, Bytes value);
	void append(const char *key, const char *value);
	void append(const char *key, u32 number);

	Bytes text() const { return Bytes(buffer_).first(length_); }
	bool truncated() const { return truncated_; }

private:
	void put(Bytes bytes);

	MutableBytes buffer_;
	size_t length_ = 0;
	bool truncated_ = false;
};

} // namespace iser
