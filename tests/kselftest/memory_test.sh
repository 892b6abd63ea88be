#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Memory of the target's end of an idle connection.
#
# Both ends live in this kernel, so the initiators are processes of libiscsi
# that are stopped: they keep what is theirs, queue pairs included, while the
# target is told to end its sessions. What the kernel gets back then was the
# target's.
#
# KIB_LIMIT: fail above this many KiB a connection (default for lio_iser: a
# quarter of the 3544 KiB that ib_isert was measured at).

. "${0%/*}/lib.sh"

sessions=8
KIB_LIMIT=${KIB_LIMIT:-886}

# Sets kib: what the kernel holds, without caches of files and without the
# processes' own memory; slab caches and lists of processors given back first.
measure_kernel()
{
	local cache key value

	sync
	for _ in 1 2; do
		echo 3 > /proc/sys/vm/drop_caches
		for cache in /sys/kernel/slab/*/shrink; do
			echo 1 > "$cache" 2>/dev/null || true
		done
		pause 0.5
	done
	kib=0
	while read -r key value _; do
		case $key in
		MemTotal:)	kib=$((kib + value)) ;;
		MemFree: | Buffers: | Cached: | AnonPages:)
				kib=$((kib - value)) ;;
		esac
	done < /proc/meminfo
	# Free pages that a processor keeps for itself count as used there.
	while read -r key value _; do
		[ "$key" != count: ] || kib=$((kib - value * 4))
	done < /proc/zoneinfo
}

target_counts()
{
	holds $lio/$iqn/fabric_statistics/iscsi_instance/sessions "$1"
}

a_connection_of_the_target()
{
	local i held pids=()

	command -v iscsi-perf > /dev/null || skip "libiscsi-bin is not installed"
	target_up 8
	# What is kept after the first one is not the connection's.
	within 20 iscsi-inq "iser://$portal/$iqn/0" > /dev/null
	for ((i = 1; i <= sessions; i++)); do
		iscsi-perf -m 1 -b 8 -i $initiator.$i "iser://$portal/$iqn/0" \
			> /dev/null 2>&1 &
		pids+=($!)
		until_true 20 target_counts $i
		pause 0.5
		kill -STOP $!
	done
	pause 1
	measure_kernel
	held=$kib
	write_to 0 $tpg/enable
	until_true 20 no_target_sessions
	pause 1
	measure_kernel
	kill -KILL "${pids[@]}"
	kib=$(((held - kib) / sessions))
	table '%s over %s: %d KiB a connection, the target'"'"'s end\n' \
		"$TARGET_MODULE" "$RDMA" $kib
	[ $kib -gt 0 ] || fail "$held KiB with $sessions connections"
	if [ "$TARGET_MODULE" != ib_isert ]; then
		[ $kib -le "$KIB_LIMIT" ] || fail "more than $KIB_LIMIT KiB"
	fi
}

# By the stacks of the page allocator: none of the target's is of more than four
# pages in a row.
no_large_allocation()
{
	local tracing=/sys/kernel/tracing event

	mountpoint -q $tracing || mount -t tracefs tracefs $tracing ||
		skip "no tracing in this kernel"
	event=$tracing/events/kmem/mm_page_alloc
	[ -d $event ] || skip "no page allocation events in this kernel"
	target_up 8
	node_new
	echo > $tracing/trace
	echo 1 > $tracing/options/stacktrace
	echo 1 > $tracing/options/sym-offset
	echo 'order > 2' > $event/filter
	echo 1 > $event/enable
	for _ in 1 2; do
		login
		find_disk
		within 20 dd if=/dev/zero of="$disk" bs=1M count=4 \
			oflag=direct status=none
		logout
	done
	echo 0 > $event/enable
	echo 0 > $tracing/options/stacktrace
	large_allocations < $tracing/trace > "$scratch/large"
	[ ! -s "$scratch/large" ] || {
		head -n 60 "$scratch/large"
		fail "$(grep -c mm_page_alloc "$scratch/large") allocations" \
		     "above order 2"
	}
}

# Of a trace, the events whose stack leads through the module. A slab cache
# that grows asks for more at first, and takes less: that is not the module's.
large_allocations()
{
	awk -v module="[$TARGET_MODULE]" '
		function judge() {
			if (index(stack, module) &&
			    !index(stack, "allocate_slab"))
				print stack
		}
		/mm_page_alloc:/ { judge(); stack = $0; next }
		/=>/ { stack = stack "\n" $0 }
		END { judge() }'
}

check "memory of an idle connection, target's end" \
	a_connection_of_the_target 120
check "no allocation above order 2" no_large_allocation
run_checks
