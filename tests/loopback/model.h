// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <span>
#include <vector>

#include "loopback/disk.h"

namespace loopback {

/*
 * What may stand on some blocks of the disk: of each block, the writes whose
 * data a read may find.  One, as a rule; two, when a write had no answer.
 */
class Model {
public:
	Model(u32 first, u32 blocks);

	u32 first() const { return first_; }
	u32 blocks() const { return static_cast<u32>(contents_.size()); }

	/* Data that no other write has. */
	std::vector<u8> new_data(u32 lba, u32 blocks);
	/* The write of the newest data has ended well. */
	void written(u32 lba, u32 blocks, u32 generation);
	/* It may have happened, or, after the connection's end, may still. */
	void maybe_written(u32 lba, u32 blocks, u32 generation, bool later);
	/* Whether @data is what may stand there. */
	bool may_read(u32 lba, std::span<const u8> data);
	u32 generation() const { return generation_; }

private:
	struct Content {
		/* Of which write; 0: it was never written. */
		std::vector<u32> generations = {0};
		/* A write of an ended connection may still come. */
		bool unsettled = false;
	};

	static bool is(u32 generation, u32 lba, std::span<const u8> block);

	u32 first_;
	u32 generation_ = 0;
	std::vector<Content> contents_;
};

} // namespace loopback
