// SPDX-License-Identifier: GPL-2.0
#include "fuzz/fuzz.h"
#include "iser/private_data.h"

using namespace iser;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	std::vector<u8> bytes = fuzz::Input(data, size).rest();
	PeerCapabilities peer = parse_private_data(fuzz::view(bytes));
	bool claims = bytes.size() >= 4 && bytes[0] & 0xc0;

	/* 28-byte headers are a certainty unless a peer says it clearly. */
	CHECK(peer.zero_based_offsets == (claims && (bytes[0] >> 6) == 1));
	CHECK(peer.send_with_invalidate == (claims && (bytes[0] >> 6) == 2));

	fuzz::Guarded reply(4 + bytes.size() % 4);

	write_private_data(reply.bytes(), peer.send_with_invalidate);

	PeerCapabilities own = parse_private_data(reply.bytes());

	CHECK(!own.zero_based_offsets);
	CHECK(own.send_with_invalidate == peer.send_with_invalidate);
	return 0;
}
