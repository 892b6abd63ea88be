#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The checks of iserverify checked: each fails when the target seems to be
# broken in the way that it is for.  That they pass else is for bad_input,
# early, login_abuse and protocol to show.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/raw.sh"

# As many as there are, so that discovery is as it should be.
targets=2
silent_write_base=/sys/module/lio_iser/parameters/silent_write_base

# self_test OPTIONS...: sets status; shows what was not as it should be, and
# notes what was, CHECK FAULT in each line.
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
	sed -n 's/^seen to fail: \([^:]*\): .*\[fault \(.*\)\] (.*/\1 \2/p' \
		"$scratch/said" >> "$scratch/seen"
}

# The program refuses if there is a check without one.
each_check_has_a_fault()
{
	[ -x "$raw_program" ] || raw_is_missing
	"$raw_program" --list --faults > "$scratch/listed"
	rm -f "$scratch/seen"
}

every_fault_is_found()
{
	self_test
	is $status 0 "exit code"
}

every_check_of_linux_is_seen_to_fail()
{
	self_test --profile linux --only writes-silent
	is $status 0 "exit code"
}

# What is run by name only.
every_check_of_open_is_seen_to_fail()
{
	self_test --only open
	is $status 0 "exit code"
	[ -e "$silent_write_base" ] || return 0
	# Here it passes, as long as nothing is broken.
	write_to 0 "$silent_write_base"
	self_test --unbroken --only silent-base
	write_to 1 "$silent_write_base"
	is $status 0 "exit code with silent_write_base=0"
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
}

# Skipped here and skipped there, one might never have been run.
all_that_is_listed_was_seen()
{
	sed -n 's/^| \([^ ]*\) | .* | `\(.*\)` | .*/\1 \2/p' \
		"$scratch/listed" | sort > "$scratch/wanted"
	[ -s "$scratch/wanted" ] || fail "nothing is listed"
	sort -u "$scratch/seen" | diff "$scratch/wanted" -
}

check "each check has a fault by which it is seen to fail" \
	each_check_has_a_fault
check "every fault is found by the check that it is listed for" \
	every_fault_is_found 240
check "every check of Linux's profile alone is seen to fail" \
	every_check_of_linux_is_seen_to_fail
check "every check that is run by name only is seen to fail" \
	every_check_of_open_is_seen_to_fail
check "a check that fails for another reason is not seen to fail" \
	failing_for_another_reason_does_not_count
check "every check of CHAP is seen to fail" every_check_of_chap_is_seen_to_fail
check "all that is listed was seen" all_that_is_listed_was_seen
run_checks
