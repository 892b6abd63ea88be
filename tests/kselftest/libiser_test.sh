#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The ordinary level of libiser, as its example uses it.

. "${0%/*}/lib.sh"

program=${READ_DISK:-$here/../../build/tools/libiser/read_disk}

the_example_reads_a_disk()
{
	[ -x "$program" ] || fail "no $program: see tools/README.md"
	target_up
	is "$("$program" "$addr4" $iqn $initiator)" '1048576 bytes read' said
	until_true 10 no_target_sessions
}

the_example_says_what_is_wrong()
{
	local said

	target_up
	said=$("$program" "$addr4" $prefix:nowhere $initiator 2>&1) &&
		fail "a target that does not exist was read"
	grep 'refused the login' <<< "$said"
}

check "libiser: the example reads a disk, eight commands at a time" \
	the_example_reads_a_disk
check "libiser: the example says why it cannot log in" \
	the_example_says_what_is_wrong
run_checks
