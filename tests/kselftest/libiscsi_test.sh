#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The other initiator: libiscsi, from user space (QEMU's).

. "${0%/*}/lib.sh"

needs_libiscsi()
{
	command -v iscsi-inq iscsi-perf iscsi-test-cu > /dev/null ||
		skip "libiscsi-bin is not installed"
	modprobe -aq ib_uverbs rdma_ucm || true
	[ -e /dev/infiniband/rdma_cm ] || skip "no /dev/infiniband/rdma_cm"
}

url()
{
	echo "iser://${1:-}$portal/$iqn/0"
}

inquiry()
{
	needs_libiscsi
	target_up
	within 20 iscsi-inq "$(url)" | tee "$scratch/said"
	grep -q 'Vendor:LIO-ORG' "$scratch/said"
}

capacity()
{
	needs_libiscsi
	target_up 32
	within 20 iscsi-readcapacity16 "$(url)" | tee "$scratch/said"
	grep -qE "Total size:$((32 << 20))\$" "$scratch/said"
}

one_way_chap()
{
	local auth=$tpg/acls/$second_initiator/auth

	needs_libiscsi
	target_up 8
	acl_add $second_initiator
	write_to 1 $tpg/attrib/authentication
	write_to user "$auth/userid"
	write_to one-way-secret-1 "$auth/password"
	within 20 iscsi-inq -i $second_initiator "$(url user%one-way-secret-1@)" |
		grep -q 'Vendor:LIO-ORG'
	refused within 20 iscsi-inq -i $second_initiator \
		"$(url user%not-the-right-secret@)"
}

check "F-36 iscsi-inq" inquiry
check "F-36 iscsi-readcapacity16" capacity
check "F-36 iscsi-inq with CHAP, right and wrong secret" one_way_chap
run_checks
