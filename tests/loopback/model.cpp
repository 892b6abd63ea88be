// SPDX-License-Identifier: GPL-2.0
#include "loopback/model.h"

#include <algorithm>
#include <cstring>

namespace loopback {

namespace {

constexpr u32 words = Disk::block / sizeof(u64);

/* Word @index of a block: no two of any blocks and writes are the same. */
u64 word(u32 generation, u32 lba, u32 index)
{
	if (generation == 0)
		return 0;
	return (u64{generation} << 32 | lba << 8 | index) *
	       0x9e3779b97f4a7c15ull;
}

} // namespace

Model::Model(u32 first, u32 blocks) : first_(first), contents_(blocks) {}

std::vector<u8> Model::new_data(u32 lba, u32 blocks)
{
	std::vector<u8> data(size_t{blocks} * Disk::block);
	u8 *at = data.data();

	++generation_;
	for (u32 block = 0; block < blocks; ++block)
		for (u32 i = 0; i < words; ++i, at += sizeof(u64)) {
			const u64 value = word(generation_, lba + block, i);

			std::memcpy(at, &value, sizeof(value));
		}
	return data;
}

void Model::written(u32 lba, u32 blocks, u32 generation)
{
	for (u32 block = lba - first_; blocks > 0; ++block, --blocks) {
		Content &content = contents_[block];

		if (!content.unsettled)
			content.generations.clear();
		content.generations.push_back(generation);
	}
}

void Model::maybe_written(u32 lba, u32 blocks, u32 generation, bool later)
{
	for (u32 block = lba - first_; blocks > 0; ++block, --blocks) {
		contents_[block].generations.push_back(generation);
		contents_[block].unsettled |= later;
	}
}

bool Model::is(u32 generation, u32 lba, std::span<const u8> block)
{
	for (u32 i = 0; i < words; ++i) {
		const u64 value = word(generation, lba, i);

		if (std::memcmp(block.data() + i * sizeof(u64), &value,
				sizeof(value)))
			return false;
	}
	return true;
}

bool Model::may_read(u32 lba, std::span<const u8> data)
{
	for (; !data.empty(); data = data.subspan(Disk::block), ++lba) {
		Content &content = contents_[lba - first_];
		const auto found = std::ranges::find_if(
			content.generations, [&](u32 generation) {
				return is(generation, lba,
					  data.first(Disk::block));
			});

		if (found == content.generations.end())
			return false;
		if (!content.unsettled)
			content.generations = {*found};
	}
	return true;
}

} // namespace loopback
