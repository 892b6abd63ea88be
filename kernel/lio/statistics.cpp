// SPDX-License-Identifier: GPL-2.0
#include "lio/statistics.h"

#include "port/port.h"

namespace lio {

namespace {

u64 read(const u64 &counter)
{
	return __atomic_load_n(&counter, __ATOMIC_RELAXED);
}

} // namespace

void Statistics::show(void *reader) const
{
	port_emit(reader, "connections_made %llu\n", read(connections_made_));
	/* What leaks, if anything does, when nobody is connected. */
	port_emit(reader, "connections_alive %llu\n",
		  read(connections_alive_));
	port_emit(reader, "allocations_alive %llu\n",
		  port_live_allocations());
	port_emit(reader, "data_outs_dropped %llu\n",
		  read(data_outs_dropped_));
	port_emit(reader, "pdus_parked %llu\n", read(pdus_parked_));
	port_emit(reader, "rejects_suppressed %llu\n",
		  read(rejects_suppressed_));
	for (size_t i = 0; i < iser::cause_count; ++i)
		port_emit(reader, "ended_%s %llu\n",
			  name(static_cast<iser::Cause>(i)), read(ended_[i]));
}

} // namespace lio
