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

/* All pairs, a line each, and a last line if the text is malformed. */
std::string read(base::Bytes text)
{
	TextPairs pairs(text);
	TextPair pair;
	std::string all;

	while (pairs.next(pair))
		all += fuzz::str(pair.key) + "=" + fuzz::str(pair.value) + "\n";
	return all + (pairs.malformed() ? "malformed\n" : "");
}

/* The same by way of strings. */
std::string expected(const std::string &text)
{
	std::string all;
	size_t at = 0;

	while (at < text.size()) {
		size_t end = text.find('\0', at);
		std::string pair = text.substr(
			at, end == std::string::npos ? end : end - at);
		size_t equals_sign = pair.find('=');

		if (equals_sign == 0 || equals_sign == std::string::npos)
			return all + "malformed\n";
		all += pair + "\n";
		at += pair.size() + 1;
	}
	return all;
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
	CHECK(read(text) == expected(fuzz::str(text)));
	check_round_trip(text);
	check_bounded(text, room);
	return 0;
}
