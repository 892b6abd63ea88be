#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The state of the kernel before and after: its log, the RDMA objects that
# exist, its taint. Sourced by lib.sh; by hand:
#   health.sh start FILE; ...; health.sh check FILE

# Each of these lines is a fault of the kernel, whoever provoked it.
health_faults='WARNING:|BUG:|BUG |Oops|general protection|kernel panic'
health_faults+='|blocked for more than|soft lockup|hard LOCKUP|rcu.*stall'
health_faults+='|possible recursive|possible circular|inconsistent lock'
health_faults+='|suspicious RCU|bad unlock|held lock freed|DEBUG_LOCKS'
health_faults+='|UBSAN|KASAN|KFENCE|ODEBUG|refcount_t:|list_(add|del) corrupt'
health_faults+='|page allocation failure|scheduling while atomic'
health_faults+='|restrack: |Slab .*Objects remaining|still has .*in use'
health_faults+='|cq pool .*busy|Call Trace:'

health_taint=/proc/sys/kernel/tainted

# O and E: an out-of-tree module, an unsigned one.
health_taint_allowed=$((1 << 12 | 1 << 13))

health_start()
{
	[ -d "$1" ] || mkdir -p "$1"
	health_mark "$1"
	cat "$health_taint" > "$1/taint"
	true > "$1/objects"
}

# What the log says before this does not count.
health_mark()
{
	local uuid

	read -r uuid < /proc/sys/kernel/random/uuid
	echo "${uuid%%-*}-" > "$1/mark"
	echo "lio-iser-kst: start ${uuid%%-*}-" > /dev/kmsg
}

# Counts by device, without completion queues: the core keeps those of its pool
# until the device goes.
health_objects()
{
	rdma resource show | sed -E 's/^[0-9]+: //; s/ cq [0-9]+//; s/ ctx [0-9]+//'
}

health_remember_objects()
{
	health_objects > "$1/objects"
}

health_log()
{
	dmesg | sed -n "/lio-iser-kst: start $(cat "$1/mark")/,\$p"
}

health_check()
{
	local sick=0

	health_check_log "$1" || sick=1
	health_check_objects "$1" || sick=1
	health_check_taint "$1" || sick=1
	return $sick
}

health_check_log()
{
	local log

	log=$(health_log "$1")
	# The start mark has to be there, or the log was overrun and proves
	# nothing.
	if [ -z "$log" ]; then
		echo "the kernel log no longer reaches back to the start"
		return 1
	fi
	if grep -qE "$health_faults" <<< "$log"; then
		echo "the kernel log has:"
		grep -E -A 16 "$health_faults" <<< "$log" | head -n 80
		return 1
	fi
}

health_check_objects()
{
	local i before after

	before=$(cat "$1/objects")
	for ((i = 0; i <= ${HEALTH_PATIENCE:-20}; i++)); do
		after=$(health_objects)
		[ "$after" != "$before" ] || return 0
		sleep 0.5
	done
	echo "RDMA objects before:"
	echo "$before"
	echo "RDMA objects after, for ten seconds:"
	echo "$after"
	rdma resource show qp
	rdma resource show cm_id
	rdma resource show pd
	return 1
}

health_check_taint()
{
	local before after

	before=$(cat "$1/taint")
	after=$(cat "$health_taint")
	[ $((after & ~before & ~health_taint_allowed)) = 0 ] && return 0
	echo "taint was $before, is $after"
	return 1
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
	case ${1:-} in
	start)
		health_start "$2"
		health_remember_objects "$2" ;;
	check)
		health_check "$2" ;;
	*)
		echo "usage: $0 start|check DIRECTORY" >&2
		exit 2 ;;
	esac
fi
