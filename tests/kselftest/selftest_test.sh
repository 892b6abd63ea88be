#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The checks of iserverify checked: each passes on the target as it is, and
# fails when the target seems to be broken in the way that the check is for.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/raw.sh"

# self_test OPTIONS...: what it said is shown if it ends badly.
self_test()
{
	[ -x "$raw_program" ] || raw_is_missing
	set_portal
	"$raw_program" --self-test --write --initiator "$initiator" "$@" \
		"$addr4:${portal##*:}" "$iqn"
}

every_check_is_seen_to_fail()
{
	raw_long_target_up
	self_test --targets 2 --long-target "$raw_long_iqn"
}

check "every check passes, and is seen to fail" every_check_is_seen_to_fail 300
run_checks
