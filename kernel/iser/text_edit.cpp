// SPDX-License-Identifier: GPL-2.0
#include "iser/text_edit.h"

#include "iser/text.h"

namespace iser {
namespace {

/* Reads the pair at @range; false if it is none of @key. */
bool read_pair(Bytes text, Range range, const char *key, TextPair &pair)
{
	TextPairs pairs(range.of(text));

	return pairs.next(pair) && pair.key_is(key);
}

} // namespace

Range pair_at(Bytes text, size_t start)
{
	size_t end = start;

	while (end < text.size() && text[end])
		++end;
	return {start, end};
}

size_t replace(MutableBytes text, size_t length, Range what, Bytes with)
{
	size_t rest = length - what.end;
	size_t room = text.size() - what.start;

	if (with.size() > room || rest > room - with.size())
		return no_room;

	MutableBytes place = text.from(what.start);

	__builtin_memmove(place.from(with.size()).data(),
			  text.from(what.end).data(), rest);
	if (!with.empty())
		base::copy(place, with);
	return what.start + with.size() + rest;
}

size_t remove_key(MutableBytes text, size_t length, const char *key)
{
	for (size_t start = 0; start < length;) {
		Range range = pair_at(text.first(length), start);
		TextPair pair;

		if (!read_pair(text, range, key, pair)) {
			start = range.end + 1;
			continue;
		}
		if (range.end < length)
			++range.end;
		length = replace(text, length, range, {});
	}
	return length;
}

} // namespace iser
