// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "libiser/raw_connection.h"
#include "loopback/scheduler.h"

namespace loopback {

/* A piece of the target's data; the port's name for an array of them. */
struct Segment {
	u8 *data;
	u32 length;
};

/*
 * What the initiator lets the target touch: registered memory, by STag, with
 * its bounds and rights (RFC 5040 3.1).
 */
class Memory {
public:
	using Access = libiser::RawConnection::Access;

	struct Region {
		u64 base;
		std::span<u8> bytes;
		Access access;
		bool valid;
	};

	/* The STag and tagged offset of @bytes from now on. */
	u32 add(std::span<u8> bytes, Access access);
	const Region &region(u32 stag) const { return regions_.at(stag); }
	void remove(u32 stag) { regions_.erase(stag); }
	/* By a Send of the target; false: there is no such STag. */
	bool invalidate(u32 stag);
	/* Where @length bytes lie at @offset; null: not allowed. */
	u8 *reach(u32 stag, u64 offset, u32 length, Access access) const;
	size_t registered() const { return regions_.size(); }

private:
	std::map<u32, Region> regions_;
	u32 last_ = 0;
};

} // namespace loopback
