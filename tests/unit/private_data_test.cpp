// SPDX-License-Identifier: GPL-2.0
#include "iser/private_data.h"

#include <gtest/gtest.h>

#include "unit/bytes.h"

namespace iser {
namespace {

using test::Buffer;

TEST(PrivateData, LinuxInitiatorCanDoSendWithInvalidate)
{
	PeerCapabilities peer = parse_private_data(Buffer{0x80, 0, 0, 0});

	EXPECT_FALSE(peer.zero_based_offsets);
	EXPECT_TRUE(peer.send_with_invalidate);
}

TEST(PrivateData, LibiscsiCanDoNeither)
{
	PeerCapabilities peer = parse_private_data(Buffer{0xc0, 0, 0, 0});

	EXPECT_FALSE(peer.zero_based_offsets);
	EXPECT_FALSE(peer.send_with_invalidate);
}

TEST(PrivateData, ClearBitClaimsZeroBasedOffsets)
{
	PeerCapabilities peer = parse_private_data(Buffer{0x40, 0, 0, 0});

	EXPECT_TRUE(peer.zero_based_offsets);
	EXPECT_FALSE(peer.send_with_invalidate);
}

TEST(PrivateData, OQ08_AbsentOrShortClaimsNothing)
{
	for (size_t size = 0; size < private_data_size; ++size) {
		PeerCapabilities peer =
			parse_private_data(Buffer(size, 0x80));

		EXPECT_FALSE(peer.zero_based_offsets) << size;
		EXPECT_FALSE(peer.send_with_invalidate) << size;
	}
}

TEST(PrivateData, OQ08_ZeroIsPaddingAndClaimsNothing)
{
	for (size_t size : {4, 56, 92}) {
		PeerCapabilities peer = parse_private_data(Buffer(size));

		EXPECT_FALSE(peer.zero_based_offsets) << size;
		EXPECT_FALSE(peer.send_with_invalidate) << size;
	}
}

TEST(PrivateData, OQ08_WhatIsLongerCountsByItsFirstFourBytes)
{
	Buffer padded(56);

	padded[0] = 0x80;
	padded[4] = 0xff;
	EXPECT_TRUE(parse_private_data(padded).send_with_invalidate);
}

TEST(PrivateData, OQ08_ReservedBitsAreIgnored)
{
	PeerCapabilities peer =
		parse_private_data(Buffer{0xbf, 0xff, 0xff, 0xff});

	EXPECT_FALSE(peer.zero_based_offsets);
	EXPECT_TRUE(peer.send_with_invalidate);
	peer = parse_private_data(Buffer{0x3f, 0xff, 0xff, 0xff});
	EXPECT_FALSE(peer.zero_based_offsets);
	EXPECT_FALSE(peer.send_with_invalidate);
}

TEST(PrivateData, ReplyNeverUsesZeroBasedOffsets)
{
	Buffer reply(4, 0xee);

	write_private_data(reply, true);
	EXPECT_EQ(test::str(reply), test::str(Buffer{0x80, 0, 0, 0}));
	write_private_data(reply, false);
	EXPECT_EQ(test::str(reply), test::str(Buffer{0xc0, 0, 0, 0}));
}

} // namespace
} // namespace iser
