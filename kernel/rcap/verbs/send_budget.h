// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/utility.h"

namespace rcap::verbs {

/*
 * What the send queue still takes: work requests of transfers, and RDMA Reads
 * in flight (iSER-ORD, RFC 7145 8.2).  Sends have slots of their own, so they
 * cannot be starved by data.  Not locked: the Stream's lock guards it.
 */
class SendBudget {
public:
	constexpr SendBudget() = default;
	constexpr SendBudget(u32 work_requests, u32 reads)
		: work_requests_(work_requests), all_(work_requests),
		  reads_(reads), read_depth_(reads)
	{
	}

	/*
	 * True if a transfer of @work_requests may be posted now; it is then
	 * paid for.  A read that is larger than the peer's depth goes alone:
	 * the device sends its requests one after the other.
	 */
	[[nodiscard]] constexpr bool take(u32 work_requests, bool read)
	{
		const u32 depth =
			read ? base::smaller(work_requests, read_depth_) : 0;

		if (work_requests > work_requests_ || depth > reads_)
			return false;
		work_requests_ -= work_requests;
		reads_ -= depth;
		return true;
	}

	constexpr void give_back(u32 work_requests, bool read)
	{
		work_requests_ += work_requests;
		if (read)
			reads_ += base::smaller(work_requests, read_depth_);
	}

	/* While no read is outstanding. */
	constexpr void limit_reads(u32 depth)
	{
		read_depth_ = reads_ = base::smaller(depth, read_depth_);
	}

	/* Whether it can ever be posted. */
	constexpr bool holds(u32 work_requests) const
	{
		return work_requests <= all_;
	}
	/* Whether nothing is outstanding. */
	constexpr bool untouched() const { return work_requests_ == all_; }
	constexpr u32 read_depth() const { return read_depth_; }

private:
	u32 work_requests_ = 0;
	u32 all_ = 0;
	u32 reads_ = 0;
	u32 read_depth_ = 0;
};

} // namespace rcap::verbs
