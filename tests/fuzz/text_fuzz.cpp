// SPDX-License-Identifier: GPL-2.0
#include "fuzz/fuzz.h"
#include "iser/text.h"

using namespace iser;

namespace {

void check_number(const TextPair &pair)
{
	std::string text = fuzz::str(pair.value);
	auto number = pair.number();
	char *end = nullptr;
	unsigned long long expected = std::strtoull(text.c_str(), &end, 0);

	/* What we take for a number, the C library reads the same. */
	if (!number.ok())
		return;
	CHECK(!text.empty() && text.find('\0') == std::string::npos);
	CHECK(*end == '\0' && expected == number.value());
}

void check_pair(const TextPair &pair, base::Bytes text)
{
	CHECK(fuzz::within(pair.key, text) && fuzz::within(pair.value, text));
	CHECK(!pair.key.empty());
	CHECK(pair.key.end() + 1 == pair.value.begin());
	CHECK(*pair.key.end() == '=');
	CHECK(pair.value.end() == text.end() || *pair.value.end() == 0);
	CHECK(pair.boolean().ok() ==
	      (pair.value_is("Yes") || pair.value_is("No")));
	check_number(pair);
}

/* Everything that was read, written again, is what was there. */
void check_round_trip(base::Bytes text)
{
	fuzz::Guarded buffer(text.size() + 1);
	TextWriter writer(buffer.bytes());
	TextPairs pairs(text);
	TextPair pair;

	while (pairs.next(pair))
		writer.append(fuzz::str(pair.key).c_str(), pair.value);
	if (pairs.malformed())
		return;
	CHECK(!writer.truncated());

	std::string written = fuzz::str(writer.text());

	if (text.empty() || text[text.size() - 1])
		written.resize(text.size());
	CHECK(written == fuzz::str(text));
}

void check_bounded(base::Bytes text, size_t room)
{
	fuzz::Guarded buffer(room);
	TextWriter writer(buffer.bytes());
	TextPairs pairs(text);
	TextPair pair;
	size_t whole = 0;

	while (pairs.next(pair)) {
		writer.append(fuzz::str(pair.key).c_str(), pair.value);
		whole += pair.key.size() + pair.value.size() + 2;
		CHECK(writer.truncated() == (whole > room));
		CHECK(writer.text().size() <= room);
		CHECK(writer.truncated() || writer.text().size() == whole);
	}
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz::Input input(data, size);
	size_t room = input.byte();
	std::vector<u8> bytes = input.rest();
	base::Bytes text = fuzz::view(bytes);
	TextPairs pairs(text);
	TextPair pair;
	size_t count = 0;

	while (pairs.next(pair)) {
		check_pair(pair, text);
		CHECK(++count <= text.size());
	}
	CHECK(!pairs.next(pair));
	check_round_trip(text);
	check_bounded(text, room);
	return 0;
}
