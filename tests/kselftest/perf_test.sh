#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Speed: 4 KiB and 128 KiB, read and write, at queue depths 1 and 32, on a
# ramdisk. The table is for comparing two modules within one run of one guest;
# a figure alone says more about the machine.
#
# PERF_SECONDS: of each measurement (default 3). PERF_SLICES: a file that gets a
# line for each tenth of a second: module block direction depth IOPS.

. "${0%/*}/lib.sh"

rounds 3 2
PERF_SECONDS=${PERF_SECONDS:-$rounds}

measure()
{
	local bs rw depth

	target_up 64
	log_in
	find_disk
	table '%-9s %-4s %5s %-9s %3s %9s %9s %9s\n' module rdma block \
		direction qd IOPS MB/s mean_us
	for bs in 4k 128k; do
		for rw in randread randwrite; do
			for depth in 1 32; do
				measure_one $bs $rw $depth
			done
		done
	done
}

# measure_one BLOCK DIRECTION DEPTH
measure_one()
{
	local fields

	rm -f "$scratch"/slices*
	fio --name=perf --filename="$disk" --bs="$1" --rw="$2" --iodepth="$3" \
		--ioengine=libaio --direct=1 --size=64m --time_based \
		--ramp_time=200ms --runtime="$PERF_SECONDS" --norandommap \
		--write_iops_log="$scratch/slices" --log_avg_msec=100 \
		--output-format=terse --terse-version=3 \
		--output="$scratch/fio.perf"
	IFS=';' read -ra fields < "$scratch/fio.perf"
	# Terse fields, from 0: 6, 7, 39 of reads, 47, 48, 80 of writes.
	[ "$2" = randread ] || fields=("${fields[@]:41}")
	[ "${fields[7]}" -gt 0 ] || fail "no I/O"
	[ -z "${PERF_SLICES:-}" ] || awk -F ', *' -v row="$*" \
		-v module="$TARGET_MODULE" '{ print module, row, $2 }' \
		"$scratch"/slices_iops.1.log >> "$PERF_SLICES"
	table '%-9s %-4s %5s %-9s %3d %9d %9d %9.0f\n' "$TARGET_MODULE" \
		"$RDMA" "$1" "$2" "$3" "${fields[7]}" \
		$((fields[6] / 1000)) "${fields[39]}"
}

check "speed, $PERF_SECONDS s each" measure $((60 + 8 * PERF_SECONDS))
run_checks
