// SPDX-License-Identifier: GPL-2.0
#include "fuzz/fuzz.h"
#include "iser/login_chain.h"

using namespace iser;

using Next = LoginChain::Next;

namespace {

/* RFC 7143 6.1: at most 63 bytes; what follows an illegible pair is not read. */
bool has_long_key(const std::string &text)
{
	for (size_t at = 0; at < text.size();) {
		const std::string pair =
			text.substr(at, text.find('\0', at) - at);
		const size_t sign = pair.find('=');

		if (sign == 0 || sign == std::string::npos)
			return false;
		if (sign > 63)
			return true;
		at += pair.size() + 1;
	}
	return false;
}

} // namespace

/* PDUs of a flags byte, a length byte and text; against a std::string. */
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz::Input input(data, size);
	size_t room = input.byte();
	fuzz::Guarded storage(room);
	LoginChain chain(storage.bytes());
	std::string expected;
	bool complete = false, refused = false;

	while (!input.empty()) {
		LoginRequestPdu request = {};

		request.flags = input.byte();

		bool more = request.flags & 0x40;
		std::vector<u8> text = input.bytes(input.byte());

		if (request.flags == 0xff) {
			chain.reset();
			expected.clear();
			complete = refused = false;
			continue;
		}
		if (complete)
			expected.clear();
		complete = false;
		refused = refused || (request.flags & 0xc0) == 0xc0 ||
			  expected.size() + text.size() > room ||
			  (!more && has_long_key(expected + fuzz::str(
						       fuzz::view(text))));

		Next next = chain.append(request, fuzz::view(text));

		CHECK((next == Next::Refuse) == refused);
		if (refused)
			continue;
		expected += fuzz::str(fuzz::view(text));
		complete = !more;
		CHECK((next == Next::Complete) == complete);
		CHECK(fuzz::str(chain.text()) == expected);

		LoginResponsePdu empty =
			empty_login_response(request, 1, 2, 3, 4);

		CHECK(empty.flags == (request.flags & 0x0c));
		CHECK(empty.data_segment_length == 0);
	}
	return 0;
}
