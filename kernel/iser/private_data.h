// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/span.h"

namespace iser {

using base::Bytes;
using base::MutableBytes;

/*
 * The private data of the connection request and its reply (InfiniBand
 * architecture, Annex A12): a set bit takes a capability away.
 */
inline constexpr size_t private_data_size = 4;

/* What the peer's private data claims; both ends must agree to use it. */
struct PeerCapabilities {
	bool zero_based_offsets = false;
	bool send_with_invalidate = false;
};

/*
 * A connection manager pads private data with zeros, which would claim both
 * capabilities: so all zero counts as absent, and absent as neither.
 */
PeerCapabilities parse_private_data(Bytes data);

/*
 * Our reply: never zero-based offsets, and Send with Invalidate only if
 * @send_with_invalidate.  @data holds at least private_data_size bytes.
 */
void write_private_data(MutableBytes data, bool send_with_invalidate);

} // namespace iser
