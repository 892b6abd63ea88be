#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The promises of iserverify to who points it at a disk that is in use.

. "${0%/*}/lib.sh"

program=${ISERVERIFY:-$here/../../build/tools/iserverify/iserverify}

serve_a_file()
{
	[ -x "$program" ] || fail "no $program: see tools/README.md"
	target_new
	fileio disk 32
	lun_add
	write_to No $tpg/param/InitialR2T
	portal_add
	head -c 32M /dev/urandom > "$scratch/pattern"
	cp "$scratch/pattern" "$scratch/disk.img"
	set_portal
}

# verify OPTIONS...: sets status.
verify()
{
	status=0
	within 300 "$program" --initiator $initiator "$@" \
		> "$scratch/said" 2>&1 || status=$?
}

# Every check that runs, and those that would write do not.
nothing_is_written_without_being_asked()
{
	serve_a_file
	verify --format tap $addr4:${portal##*:} $iqn
	grep -B1 '^not ok' "$scratch/said" && fail "a check failed"
	is $status 0 "exit code"
	[ "$(grep -c '# SKIP' "$scratch/said")" -ge 20 ] ||
		fail "no check was held back"
	[ "$(grep -c '^ok' "$scratch/said")" -ge 100 ] ||
		fail "too few checks"
	sync
	cmp "$scratch/pattern" "$scratch/disk.img"
}

# And with being asked it does write, or the check above would prove nothing.
it_writes_when_asked()
{
	serve_a_file
	verify --write --only reads $addr4:${portal##*:} $iqn
	is $status 0 "exit code"
	sync
	! cmp -s "$scratch/pattern" "$scratch/disk.img"
}

a_failed_check_is_exit_code_1()
{
	serve_a_file
	verify --targets 5 --only discovery $addr4:${portal##*:} $iqn
	is $status 1 "exit code"
}

# what_cannot_be_tested WORDS OPTIONS...: one line that has the words, and 2.
what_cannot_be_tested()
{
	local words=$1

	shift
	verify "$@"
	cat "$scratch/said"
	is $status 2 "exit code"
	is "$(wc -l < "$scratch/said")" 1 "lines"
	grep -q "$words" "$scratch/said"
}

what_cannot_be_tested_has_one_line()
{
	serve_a_file
	what_cannot_be_tested 'refuses the connection' $addr4:3999 $iqn
	what_cannot_be_tested 'refused the login' \
		$addr4:${portal##*:} $prefix:nowhere
	write_to 1 $tpg/attrib/authentication
	what_cannot_be_tested 'CHAP' $addr4:${portal##*:} $iqn
	what_cannot_be_tested 'authentication failure' \
		--chap rawuser:notthesecret $addr4:${portal##*:} $iqn
	# An address for documents (RFC 5737).
	what_cannot_be_tested 'no way to' 192.0.2.1 $iqn
	rdma_link_delete
	what_cannot_be_tested 'RDMA' $addr4:${portal##*:} $iqn
	rdma_link_add
}

check "iserverify writes nothing unless it is asked to" \
	nothing_is_written_without_being_asked 300
check "iserverify writes when it is asked to" it_writes_when_asked
check "iserverify: a failed check is exit code 1" a_failed_check_is_exit_code_1
check "iserverify: what cannot be tested has one line, and exit code 2" \
	what_cannot_be_tested_has_one_line
run_checks
