#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# SendTargets discovery over iSER.

. "$(dirname "$0")/lib.sh"

# targets COUNT: named :0 and up, all on one portal.
targets()
{
	local i store

	store=$(ramdisk disk 8)
	for i in $(seq 0 $(($1 - 1))); do
		target_new $prefix:"$i"
		lun_add "$store" 0 $prefix:"$i"
		portal_add $addr4:$port $prefix:"$i"
	done
}

discover()
{
	within 20 iscsiadm -m discovery -t st -p "$(portal)" -I $iface
}

three_targets_are_found()
{
	local i

	targets 3
	discover | tee "$scratch/found"
	for i in 0 1 2; do
		grep -q "^$(portal),1 $prefix:$i\$" "$scratch/found" ||
			fail "target $i is not in the answer"
	done
	is "$(grep -c $prefix "$scratch/found")" 3 "targets found"
}

found_targets_can_be_logged_in_to()
{
	local i

	targets 3
	discover
	for i in 0 1 2; do
		login $prefix:$i
	done
	for i in 0 1 2; do
		disk_of $prefix:$i
	done
}

# An answer far longer than one PDU of the 128 bytes an initiator posts in full
# feature phase, and longer than one of 8 KiB.
many_targets_are_found()
{
	local count

	count=$(rounds 120 20)
	targets "$count"
	discover > "$scratch/found" || { cat "$scratch/found"; fail "discovery"; }
	is "$(sort -u "$scratch/found" | grep -c "$prefix:")" "$count" \
		"targets found"
}

discoveries_leave_nothing()
{
	local before used_before used i

	targets 3
	discover
	until_true 10 no_queue_pairs
	before=$(health_objects)
	used_before=$(unreclaimable)
	for i in $(seq "$(rounds 100 10)"); do
		discover > /dev/null || fail "discovery $i"
	done
	until_true 10 no_queue_pairs
	is "$(health_objects)" "$before" "RDMA objects"
	used=$(unreclaimable)
	# A leaked login or receive buffer is 8 KiB and more at a time.
	[ $((used - used_before)) -lt $(($(rounds 100 10) * 8)) ] ||
		fail "slab grew by $((used - used_before)) KiB"
	until_true 10 no_target_sessions $prefix:0
}

unreclaimable()
{
	echo 3 > /proc/sys/vm/drop_caches
	awk '/SUnreclaim/ { print $2 }' /proc/meminfo
}

check "three targets found by SendTargets" three_targets_are_found
check "found targets can be logged in to" found_targets_can_be_logged_in_to
check "F-05 $(rounds 120 20) targets found" many_targets_are_found
check "F-31 $(rounds 100 10) discoveries leave nothing" \
	discoveries_leave_nothing 120
run_checks
