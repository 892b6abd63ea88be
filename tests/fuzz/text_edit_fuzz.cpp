// SPDX-License-Identifier: GPL-2.0
#include "fuzz/fuzz.h"
#include "iser/text_edit.h"

using namespace iser;

namespace {

/* The text without the pairs of "Key", by way of strings. */
std::string expected(const std::string &text)
{
	std::string result;
	size_t at = 0;

	while (at < text.size()) {
		size_t end = text.find('\0', at);
		size_t next = end == std::string::npos ? text.size() : end + 1;
		std::string pair = text.substr(at, next - at);

		if (pair.rfind("Key=", 0) != 0)
			result += pair;
		at = next;
	}
	return result;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	std::vector<u8> text = fuzz::Input(data, size).rest();
	fuzz::Guarded buffer(text.size());

	if (!text.empty())
		base::copy(buffer.bytes(), fuzz::view(text));

	size_t length = remove_key(buffer.bytes(), text.size(), "Key");

	CHECK(length <= text.size());
	CHECK(fuzz::str(base::Bytes(buffer.bytes()).first(length)) ==
	      expected(fuzz::str(fuzz::view(text))));
	return 0;
}
