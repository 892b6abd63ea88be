#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The checks of iserverify checked: each fails when the target seems to be
# broken in the way that it is for.  That they pass else is for bad_input,
# early, login_abuse and protocol to show.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/raw.sh"

# As many as there are, so that discovery is as it should be.
targets=2

# self_test OPTIONS...: sets status; shows what was not as it should be.
self_test()
{
	[ -x "$raw_program" ] || raw_is_missing
	[ -d "$tpg" ] || raw_long_target_up
	set_portal
	status=0
	"$raw_program" --self-test --write --initiator "$initiator" \
		--targets $targets --long-target "$raw_long_iqn" "$@" \
		"$addr4:${portal##*:}" "$iqn" > "$scratch/said" 2>&1 ||
		status=$?
	grep -v '^seen to fail' "$scratch/said" || true
}

# Checks without a fault are listed in checks-seen-to-fail.md, and are no
# excuse for the others.
every_fault_is_found()
{
	local wrong

	self_test
	wrong=$(grep '^[a-z].*: ' "$scratch/said" |
		grep -vc '^seen to fail\|no fault is listed for it\|^skipped\| runs$') ||
		true
	is "$wrong" 0 "faults that were not found"
	[ "$(grep -c '^seen to fail' "$scratch/said")" -ge 190 ] ||
		fail "too few runs"
}

# With more targets to be found than there are, the check fails for that.
failing_for_another_reason_does_not_count()
{
	targets=7
	self_test --only discovery
	is $status 1 "exit code"
	grep '^failed for another reason: discovery' "$scratch/said"
	self_test --unbroken --only discovery
	is $status 1 "exit code with --unbroken"
	grep '^fails on a target that is not broken: discovery' "$scratch/said"
}

every_check_of_chap_is_seen_to_fail()
{
	raw_demand_chap
	self_test --only chap --chap rawuser:rawsecret12345
	is $status 0 "exit code"
	grep '^seen to fail: chap-challenge' "$scratch/said"
}

check "every fault is found by the check that it is listed for" \
	every_fault_is_found 240
check "a check that fails for another reason is not seen to fail" \
	failing_for_another_reason_does_not_count
check "every check of CHAP is seen to fail" every_check_of_chap_is_seen_to_fail
run_checks
