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

login_timeout=/sys/module/lio_iser/parameters/login_timeout

tear_down_more()
{
	[ ! -e "$login_timeout" ] || write_to 15 "$login_timeout"
}

# LIO has a limit of its own: it stays out of the way.
our_limit_ends_a_login()
{
	[ -e "$login_timeout" ] || skip "only lio_iser has the choice"
	raw_options=()
	write_to 18 "$login_timeout"
	raw_case flood
	since_this_check | grep "the login took too long" ||
		fail "$(since_this_check | grep "state awaiting_request")"
}

# Open, and not run here: see Documentation/faults.md, F-08 and F-40.
raw_checks login stalled
check "F-40 login_timeout=18 ends a login, LIO's 15 s do not" \
	our_limit_ends_a_login 120
raw_before=raw_demand_chap
raw_options=(--chap "$raw_account")
raw_checks chap
check "mutual CHAP login" demand_mutual_chap
run_checks
