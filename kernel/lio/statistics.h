// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "iser/cause.h"

namespace lio {

/* What happened since the module was loaded; see debugfs. */
class Statistics {
public:
	constexpr Statistics() = default;

	void connection_made() { add(connections_made_, 1); }
	void connection_ended(iser::Cause cause)
	{
		add(ended_[static_cast<u8>(cause)], 1);
	}
	void data_out_dropped() { add(data_outs_dropped_, 1); }
	void reject_suppressed() { add(rejects_suppressed_, 1); }
	void pdu_parked() { add(pdus_parked_, 1); }
	/* Connections that are not deleted yet, whatever their state. */
	void connection_created() { add(connections_alive_, 1); }
	void connection_deleted() { add(connections_alive_, ~0ull); }

	/* To a reader of debugfs. */
	void show(void *reader) const;

private:
	static void add(u64 &counter, u64 value)
	{
		__atomic_add_fetch(&counter, value, __ATOMIC_RELAXED);
	}

	u64 connections_made_ = 0;
	u64 connections_alive_ = 0;
	u64 ended_[iser::cause_count] = {};
	u64 data_outs_dropped_ = 0;
	u64 pdus_parked_ = 0;
	u64 rejects_suppressed_ = 0;
};

} // namespace lio
