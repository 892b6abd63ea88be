// SPDX-License-Identifier: GPL-2.0
#include "iser/private_data.h"

namespace iser {
namespace {

constexpr u8 no_zero_based_offsets = 0x80;
constexpr u8 no_send_with_invalidate = 0x40;

} // namespace

PeerCapabilities parse_private_data(Bytes data)
{
	if (data.size() < private_data_size)
		return {};
	/* No known peer can do both, and padding is far more likely. */
	if (!(data[0] & (no_zero_based_offsets | no_send_with_invalidate)))
		return {};
	return {
		.zero_based_offsets = !(data[0] & no_zero_based_offsets),
		.send_with_invalidate = !(data[0] & no_send_with_invalidate),
	};
}

void write_private_data(MutableBytes data, bool send_with_invalidate)
{
	const u8 reply[private_data_size] = {
		static_cast<u8>(no_zero_based_offsets |
				(send_with_invalidate ?
					 0 : no_send_with_invalidate)),
	};

	base::copy(data, reply);
}

} // namespace iser
