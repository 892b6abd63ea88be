#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Speed: 4 KiB and 128 KiB, read and write, at queue depths 1 and 32, on a
# ramdisk. The table is for comparing two modules within one run of one guest;
# a figure alone says more about the machine.
#
# PERF_SECONDS: of each measurement (default 3).

. "$(dirname "$0")/lib.sh"

PERF_SECONDS=${PERF_SECONDS:-$(rounds 3 2)}

measure()
{
	local disk bs rw depth

	target_up 64
	log_in
	disk=/dev/$(disk_of)
	printf 'table: %-9s %-4s %5s %-9s %3s %9s %9s %9s\n' module rdma block \
		direction qd IOPS MB/s mean_us
	for bs in 4k 128k; do
		for rw in randread randwrite; do
			for depth in 1 32; do
				measure_one "$disk" $bs $rw $depth
			done
		done
	done
}

measure_one()
{
	fio --name=perf --filename="$1" --bs="$2" --rw="$3" --iodepth="$4" \
		--ioengine=libaio --direct=1 --size=64m --time_based \
		--ramp_time=0.5 --runtime="$PERF_SECONDS" --norandommap \
		--output-format=terse --terse-version=3 \
		--output="$scratch/fio.perf"
	# Terse fields: 7, 8, 40 of reads, 48, 49, 81 of writes.
	awk -F';' -v m="$TARGET_MODULE" -v r="$RDMA" -v bs="$2" -v rw="$3" \
		-v qd="$4" '
		/^3;/ { w = rw == "randwrite"
		  printf "table: %-9s %-4s %5s %-9s %3d %9d %9.1f %9.1f\n",
			m, r, bs, rw, qd, $(w ? 49 : 8), $(w ? 48 : 7) / 1000,
			$(w ? 81 : 40); n = w ? $49 : $8 }
		END { exit !(n > 0) }' "$scratch/fio.perf"
}

check "speed, $PERF_SECONDS s each" measure $((60 + 8 * PERF_SECONDS))
run_checks
