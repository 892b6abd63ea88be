#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What the RFCs ask for, requirement by requirement (T and B rows of the
# protocol): data, Reject, NOP, text.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/raw.sh"

raw_options=(--long-target "$raw_long_iqn" --targets "$raw_targets")

raw_target=raw_many_targets_up

# Not run: group open, see the end of Documentation/faults.md.
raw_checks data protocol hello text

# And as Linux's initiators are, who declare nothing.
raw_options+=(--profile linux)
raw_checks writes-silent odd-immediate several-data-outs
run_checks
