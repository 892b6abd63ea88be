#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What a peer may send against all rules: lengths that lie, headers that
# contradict each other (faults F-01 to F-03, F-07, F-09).

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/raw.sh"

raw_checks length residual ahs
run_checks
