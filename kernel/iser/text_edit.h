// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/span.h"

namespace iser {

using base::Bytes;
using base::MutableBytes;

/*
 * Changes of text where it lies.  @length bytes of the buffer are text; what
 * is returned is the new length.
 */

/* A stretch of text by position, since text moves when it is changed. */
struct Range {
	size_t start = 0;
	size_t end = 0;

	Bytes of(Bytes text) const { return text.first(end).from(start); }
	size_t size() const { return end - start; }
};

/* The pair that begins at @start, without its NUL. */
Range pair_at(Bytes text, size_t start);

inline constexpr size_t no_room = ~size_t{0};

/* Puts @with in the place of @what, or answers no_room and changes nothing. */
size_t replace(MutableBytes text, size_t length, Range what, Bytes with);

/* Takes @key and its value out: for keys that the reader does not know. */
size_t remove_key(MutableBytes text, size_t length, const char *key);

} // namespace iser
