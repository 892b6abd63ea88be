// SPDX-License-Identifier: GPL-2.0
#include "lio/command_fate.h"

namespace lio {

bool core_never_had_it(const target_command_state &state)
{
	if (!state.in_core)
		return false;
	if (state.by_lio)
		return !state.immediate && !state.removed;
	return state.scsi && state.waiting;
}

/* What has no part in the core LIO frees itself, and the core waits not. */
bool is_unsent(const target_command_state &state)
{
	return state.in_core &&
	       (state.response_queued ||
		(state.immediate_queued && state.removed));
}

bool is_unsubmitted(const target_command_state &state)
{
	return state.in_core && !is_unsent(state) &&
	       (state.waiting || state.out_of_order);
}

} // namespace lio
