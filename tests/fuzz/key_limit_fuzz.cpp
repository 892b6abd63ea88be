// SPDX-License-Identifier: GPL-2.0
#include "fuzz/fuzz.h"
#include "iser/key_limit.h"
#include "iser/text.h"

using namespace iser;

namespace {

/* The pairs up to a malformed one, with what is offered for "Key" lowered. */
std::string pairs_of(base::Bytes text, u32 limit, bool lower)
{
	TextPairs pairs(text);
	TextPair pair;
	std::string all;
	bool lowered = !lower;

	while (pairs.next(pair)) {
		std::string value = fuzz::str(pair.value);
		auto number = pair.number();

		if (!lowered && pair.key_is("Key") && number.ok() &&
		    number.value() > limit) {
			value = std::to_string(limit);
			lowered = true;
		}
		all += fuzz::str(pair.key) + "=" + value + "\n";
	}
	return all;
}

} // namespace

/* For such limits no larger number, decimal or hex, is written shorter. */
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz::Input input(data, size);
	u32 limit = 512 + input.number() % 0x10000;
	std::vector<u8> text = input.rest();
	fuzz::Guarded buffer(text.size());

	if (!text.empty())
		base::copy(buffer.bytes(), fuzz::view(text));

	size_t length = limit_number(buffer.bytes(), text.size(), "Key",
				     limit);

	CHECK(length <= text.size());
	CHECK(pairs_of(base::Bytes(buffer.bytes()).first(length), limit,
		       false) == pairs_of(fuzz::view(text), limit, true));
	return 0;
}
