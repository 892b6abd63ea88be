// SPDX-License-Identifier: GPL-2.0
#include "iser/key_limit.h"

#include "iser/text.h"

namespace iser {

size_t limit_number(MutableBytes text, size_t length, const char *key,
		    u32 limit)
{
	const Decimal lowered(limit);
	TextPairs pairs(text.first(length));
	TextPair pair;

	while (pairs.next(pair)) {
		auto number = pair.number();

		if (!pair.key_is(key) || !number.ok() ||
		    number.value() <= limit)
			continue;
		/* What is larger is not written shorter, but for odd hex. */
		if (lowered.bytes().size() > pair.value.size())
			continue;
		const size_t at = static_cast<size_t>(pair.value.data() -
						      text.data());
		const size_t end = at + pair.value.size();
		const size_t cut = pair.value.size() - lowered.bytes().size();

		base::copy(text.from(at), lowered.bytes());
		__builtin_memmove(text.from(end - cut).data(),
				  text.from(end).data(), length - end);
		/* A key stands there once; a second one fails the login. */
		return length - cut;
	}
	return length;
}

} // namespace iser
