#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What the RFCs ask for, requirement by requirement (T and B rows of the
# protocol): data, Reject, NOP, text.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/raw.sh"

raw_options=(--long-target "$raw_long_iqn" --targets 42)

# With the two usual ones, more than fits into one PDU of any size.
forty_more_targets()
{
	local i

	for ((i = 0; i < 40; i++)); do
		target_new "$prefix:more$i"
		portal_add "$addr4:$port" "$prefix:more$i"
	done
}

raw_target=protocol_target_up

protocol_target_up()
{
	raw_long_target_up
	forty_more_targets
}

# Not run: group open, see the end of Documentation/faults.md.
raw_checks data protocol hello text
run_checks
