#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The other initiator: libiscsi, from user space (QEMU's).
#
# What Debian 12's build (1.19.0) cannot do over iser, whatever the target:
# iscsi-ls takes no iser:// URL; a second connection within one process fails
# with a local error of its own queue pair before a login is sent, which is what
# iscsi-test-cu does first of all; after CHAP the buffer it posts is too small
# for the last login response; commands of 1 MiB and more cannot be sent.

. "${0%/*}/lib.sh"

needs_libiscsi()
{
	command -v iscsi-inq > /dev/null || skip "libiscsi-bin is not installed"
	[ -e /dev/infiniband/rdma_cm ] || skip "no /dev/infiniband/rdma_cm"
	# siw counts what is registered against this, even for root.
	ulimit -l unlimited
}

# libiscsi COMMAND OPTIONS...: its words in $scratch/said.
libiscsi()
{
	within 30 "$@" > "$scratch/said" 2>&1
}

inquiry()
{
	needs_libiscsi
	target_up
	libiscsi iscsi-inq "iser://$portal/$iqn/0"
	grep 'Vendor:LIO-ORG' "$scratch/said"
	until_true 10 no_target_sessions
}

capacity()
{
	needs_libiscsi
	target_up 32
	libiscsi iscsi-readcapacity16 "iser://$portal/$iqn/0"
	grep -E "Total size:$((32 << 20))\$" "$scratch/said"
}

# reads BLOCKS DEPTH: so many at a time, for two seconds.
reads()
{
	libiscsi iscsi-perf -t 2 -b "$1" -m "$2" "iser://$portal/$iqn/0"
	tr '\r' '\n' < "$scratch/said" | grep -E 'iops average [1-9]' |
		tail -n 1
}

load()
{
	needs_libiscsi
	target_up
	reads 1 1
	reads 8 32
	reads 256 16
}

no_such_target()
{
	needs_libiscsi
	target_up
	refused_in_time libiscsi iscsi-inq "iser://$portal/$prefix:nowhere/0"
	libiscsi iscsi-inq "iser://$portal/$iqn/0"
}

no_such_lun()
{
	needs_libiscsi
	target_up
	refused_in_time libiscsi iscsi-inq "iser://$portal/$iqn/5"
	libiscsi iscsi-inq "iser://$portal/$iqn/0"
}

# unless_libiscsi_fails COMMAND...: runs it; skips if it failed in one of the
# ways above, and in no other.
unless_libiscsi_fails()
{
	local why=$1

	shift
	if LIBISCSI_DEBUG=3 libiscsi "$@" &&
	   ! grep -qE 'CQ handle Failed|Conn disconnected' "$scratch/said"; then
		return 0
	fi
	grep -E 'CQ handle Failed|Conn disconnected' "$scratch/said" ||
		fail "$(tail -n 20 "$scratch/said")"
	no_target_sessions || until_true 10 no_target_sessions
	skip "libiscsi: $why"
}

one_way_chap()
{
	local auth=$tpg/acls/$second_initiator/auth

	needs_libiscsi
	target_up 8
	acl_add $second_initiator
	write_to 1 $tpg/attrib/authentication
	write_to user $auth/userid
	write_to one-way-secret-1 $auth/password
	refused_in_time libiscsi iscsi-inq -i $second_initiator \
		"iser://user%not-the-right-secret@$portal/$iqn/0"
	unless_libiscsi_fails "buffer too small for the response after CHAP" \
		iscsi-inq -i $second_initiator \
		"iser://user%one-way-secret-1@$portal/$iqn/0"
	grep 'Vendor:LIO-ORG' "$scratch/said"
}

suite()
{
	needs_libiscsi
	target_up
	unless_libiscsi_fails "its second connection in one process fails" \
		iscsi-test-cu --dataloss --test=ALL.TestUnitReady \
		--test=ALL.Read16 --test=ALL.Write16 "iser://$portal/$iqn/0"
	cat "$scratch/said"
	grep -E 'tests +[1-9][0-9]* +[1-9][0-9]* +[1-9][0-9]* +0 ' \
		"$scratch/said"
}

check "F-36 iscsi-inq" inquiry
check "F-36 iscsi-readcapacity16" capacity
check "F-36 iscsi-perf, 512 B to 128 KiB, depth 1 to 32" load
check "F-36 unknown target refused" no_such_target
check "F-36 unknown LUN refused" no_such_lun
check "F-36 CHAP: wrong secret refused, right one accepted" one_way_chap
check "F-38 iscsi-test-cu: reads and writes" suite
run_checks
