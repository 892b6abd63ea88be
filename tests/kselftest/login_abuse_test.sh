#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Logins that no honest initiator makes (F-05, F-08, F-40).

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/raw.sh"

demand_mutual_chap()
{
	raw_demand_chap
	write_to rawtarget "$tpg/auth/userid_mutual"
	write_to othersecret12 "$tpg/auth/password_mutual"
	raw_options=(--chap "$raw_account"
		--mutual-chap rawtarget:othersecret12)
	raw_case chap
}

# Open, and not run here: see Documentation/faults.md, F-08 and F-40.
raw_checks login stalled
raw_before=raw_demand_chap
raw_options=(--chap "$raw_account")
raw_checks chap
check "mutual CHAP login" demand_mutual_chap
run_checks
