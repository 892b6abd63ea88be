// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <span>
#include <vector>

#include "port/types.h"

namespace loopback {

/* The backstore: blocks of memory. */
class Disk {
public:
	static constexpr u32 block = 512;

	explicit Disk(u32 blocks) : bytes_(size_t{blocks} * block) {}

	u32 blocks() const { return static_cast<u32>(bytes_.size() / block); }
	bool has(u32 lba, u32 count) const
	{
		return lba <= blocks() && count <= blocks() - lba;
	}
	std::span<u8> at(u32 lba, u32 count)
	{
		return std::span(bytes_).subspan(size_t{lba} * block,
						 size_t{count} * block);
	}

private:
	std::vector<u8> bytes_;
};

} // namespace loopback
