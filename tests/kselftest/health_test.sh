#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The health check itself: it has to see what it is there to see.

. "${0%/*}/lib.sh"

mine=/run/lio-iser-kst/mine

fresh()
{
	health_start $mine
	health_remember_objects $mine
}

healthy_as_it_is()
{
	fresh
	health_check $mine
}

# Each line is seen, alone, and named in the answer.
faults_in_the_log_are_seen()
{
	local line

	while read -r line; do
		health_start $mine
		echo "<4>$line" > /dev/kmsg
		if health_check_log $mine > "$scratch/said"; then
			fail "not seen: $line"
		fi
		grep -qF "$line" "$scratch/said"
	done <<- 'end'
	WARNING: CPU: 0 PID: 1 at drivers/infiniband/ulp/iser/x.c:1 f+0x1/0x2
	BUG: kernel NULL pointer dereference, address: 0000000000000000
	BUG: KASAN: use-after-free in f+0x1/0x2
	Oops: 0000 [#1] PREEMPT SMP
	general protection fault, probably for non-canonical address
	INFO: task iscsi_np:77 blocked for more than 30 seconds.
	WARNING: possible recursive locking detected
	UBSAN: shift-out-of-bounds in x.c:1:2
	watchdog: BUG: soft lockup - CPU#0 stuck for 22s!
	refcount_t: underflow; use-after-free.
	list_del corruption. prev->next should be 0, but was 1
	restrack: 2 leaked
	kworker: page allocation failure: order:9, mode:0xdc0
	end
	# Seeded, and seen: not to be held against this run.
	health_mark "$scratch/health"
}

a_log_that_was_overrun_is_seen()
{
	health_start $mine
	echo 00000000- > $mine/mark
	refused health_check_log $mine
}

ordinary_lines_are_not()
{
	health_start $mine
	echo '<4>lio_iser: 10.77.0.1: login refused: no such target' > /dev/kmsg
	echo '<3>sd 0:0:0:0: [sda] tag#0 FAILED Result: hostbyte=DID_OK' > /dev/kmsg
	echo '<3> connection1:0: detected conn error (1011)' > /dev/kmsg
	health_check_log $mine
}

a_left_object_is_seen()
{
	fresh
	target_up
	log_in
	if HEALTH_PATIENCE=1 health_check_objects $mine > "$scratch/said"; then
		fail "not seen: a connected queue pair"
	fi
	cat "$scratch/said"
	grep -q 'type RC' "$scratch/said"
}

# The taint of another kernel, in a file: the real one cannot be taken back.
taint_is_seen()
{
	health_taint=$scratch/taint
	echo 1 > "$health_taint"
	fresh
	health_check_taint $mine
	echo $((1 | 512)) > "$health_taint"
	refused health_check_taint $mine
}

an_allowed_taint_is_not()
{
	health_taint=$scratch/taint
	echo 1 > "$health_taint"
	fresh
	echo $((1 | 4096 | 8192)) > "$health_taint"
	health_check_taint $mine
}

check "health: as it is" healthy_as_it_is
check "health: faults in the log are seen" faults_in_the_log_are_seen
check "health: a log that was overrun is no proof" \
	a_log_that_was_overrun_is_seen
check "health: ordinary lines are not taken for faults" ordinary_lines_are_not
check "health: an object left behind is seen" a_left_object_is_seen 90
check "health: out-of-tree and unsigned modules are allowed" \
	an_allowed_taint_is_not
check "health: a new taint is seen" taint_is_seen
run_checks
