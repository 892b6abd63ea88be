#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Allocations that fail, at random, where connections are made: no queue pair,
# no buffers, no session (F-20). Wants a kernel with CONFIG_FAILSLAB.

. "${0%/*}/lib.sh"

failslab=/sys/kernel/debug/failslab

# Whoever answers connection requests and logins.
target_tasks()
{
	local comm

	for comm in /proc/[0-9]*/comm; do
		case $(cat "$comm" 2>/dev/null) in
		iscsi_np | kworker/*ib_cm* | kworker/*rdma_cm* | kworker/*lio_iser*)
			echo "${comm%comm}make-it-fail" ;;
		esac
	done
}

# may_fail PERCENT
may_fail()
{
	local task

	write_to "$1" $failslab/probability
	write_to -1 $failslab/times
	write_to 1 $failslab/interval
	write_to 0 $failslab/verbose
	write_to Y $failslab/task-filter
	write_to N $failslab/ignore-gfp-wait
	for task in $(target_tasks); do
		echo 1 > "$task"
	done 2>/dev/null
}

must_not_fail()
{
	local task

	[ -d $failslab ] || return 0
	write_to 0 $failslab/probability
	for task in /proc/[0-9]*/make-it-fail; do
		echo 0 > "$task"
	done 2>/dev/null
}

tear_down_more()
{
	must_not_fail
}

logins_with_failing_allocations()
{
	local i served=0 percent

	[ -d $failslab ] || skip "no failslab in this kernel"
	target_up
	node_new
	node_set node.conn[0].timeo.login_timeout 3
	for ((i = 1; i <= rounds; i++)); do
		percent=$((1 + i % 10))
		may_fail $percent
		if timeout 30 iscsi-inq "iser://$portal/$iqn/0" \
				> /dev/null 2>&1; then
			served=$((served + 1))
		fi
		must_not_fail
	done
	table 'F-20: %d of %d sessions served while allocations failed\n' \
		$served $rounds
	[ $served -lt $rounds ] || fail "no allocation has failed"
	until_true 30 no_target_sessions
	login
	find_disk
	read_disk
}

rounds 60 20
check "F-20 logins while allocations fail" logins_with_failing_allocations 300
run_checks
