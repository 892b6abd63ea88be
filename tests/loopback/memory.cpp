// SPDX-License-Identifier: GPL-2.0
#include "loopback/memory.h"

namespace loopback {

/*
 * STags that come again only after long, and offsets that are no addresses:
 * whoever mixes them up is found out.
 */
u32 Memory::add(std::span<u8> bytes, Access access)
{
	const u32 stag = ++last_ << 8 | 0x5a;
	const u64 base = 0xfedc'0000'0000'0000ull + (u64{last_} << 28) + 0x124;

	regions_[stag] = {base, bytes, access, true};
	return stag;
}

bool Memory::invalidate(u32 stag)
{
	const auto found = regions_.find(stag);

	if (found == regions_.end() || !found->second.valid)
		return false;
	found->second.valid = false;
	return true;
}

u8 *Memory::reach(u32 stag, u64 offset, u32 length, Access access) const
{
	const auto found = regions_.find(stag);

	if (found == regions_.end())
		return nullptr;

	const Region &region = found->second;

	if (!region.valid || region.access != access || offset < region.base ||
	    length > region.bytes.size() ||
	    offset - region.base > region.bytes.size() - length)
		return nullptr;
	return region.bytes.data() + (offset - region.base);
}

} // namespace loopback
