#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# SendTargets discovery over iSER.

. "${0%/*}/lib.sh"

# targets COUNT [LONG]: named :0 and up, all on one portal, the first three with
# a LUN.
targets()
{
	local i name paths=() portals=()

	for ((i = 0; i < $1; i++)); do
		name=$prefix:$i${2:-}
		paths+=("$lio/$name/tpgt_1")
		portals+=("$lio/$name/tpgt_1/np/$addr4:$port")
		[ $i -gt 2 ] || paths+=("$lio/$name/tpgt_1/lun/lun_0")
	done
	mkdir -p "${paths[@]}"
	portal_directory "${portals[@]}"
	ramdisk disk 8
	for ((i = 0; i < $1; i++)); do
		name=$prefix:$i${2:-}
		target_new $name
		[ $i -gt 2 ] || lun_add 0 $name
		portal_add $addr4:$port $name
	done
}

discover()
{
	within 20 iscsiadm -m discovery -t st -p $portal -I $iface
}

tear_down_more()
{
	initiators_down
	forget_records
}

three_targets_are_found()
{
	local i

	targets 3
	discover | tee "$scratch/found"
	for i in 0 1 2; do
		grep -qxF "$portal,1 $prefix:$i" "$scratch/found" ||
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
		find_disk $prefix:$i
	done
}

# Forty targets with the longest names there can be: an answer longer than the
# 8 KiB of one PDU.
many_targets_are_found()
{
	local long=:

	while [ ${#long} -lt $((220 - ${#prefix} - 4)) ]; do
		long+=x
	done
	targets 40 $long
	discover > "$scratch/found" || fail "discovery"
	is "$(sort -u "$scratch/found" | grep -c "$prefix:[0-9]*$long\$")" 40 \
		"targets found"
}

discoveries_leave_nothing()
{
	local before before_kib i

	targets 3
	discover
	until_true 10 no_queue_pairs
	before=$(health_objects)
	count_slab
	before_kib=$kib
	for ((i = 1; i <= rounds; i++)); do
		discover > /dev/null || fail "discovery $i"
	done
	until_true 10 no_queue_pairs
	is "$(health_objects)" "$before" "RDMA objects"
	until_true 10 no_target_sessions $prefix:0
	count_slab
	# A leaked login or receive buffer is 8 KiB and more at a time.
	[ $((kib - before_kib)) -lt $((rounds * 8)) ] ||
		fail "slab grew by $((kib - before_kib)) KiB"
}

# Sets kib: unreclaimable slab.
count_slab()
{
	local key

	echo 3 > /proc/sys/vm/drop_caches
	while read -r key kib _; do
		[ "$key" != SUnreclaim: ] || return 0
	done < /proc/meminfo
}

rounds 100 10
check "three targets found by SendTargets" three_targets_are_found
check "found targets can be logged in to" found_targets_can_be_logged_in_to
check "F-05 forty targets with long names found" many_targets_are_found 90
check "F-31 $rounds discoveries leave nothing" discoveries_leave_nothing 180
run_checks
