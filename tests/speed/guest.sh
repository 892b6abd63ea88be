#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In a guest: two modules serve a ramdisk each, side by side, and fio turns from
# one to the other every tenth of a second. In the next round all is set up
# anew, and the two have changed places. Adds a line for each such slice to
# /out/figures: ROUND BLOCK-DIRECTION-DEPTH SLICE MODULE IOPS.
#
# Environment: MODULES, two of them, of which the first gets the first disk of
# the first round; ROUNDS; SLICES of each row and module in a round;
# TRANSPORT_ORDER, where that module is, from the checkout.

first=${MODULES% *}
second=${MODULES#* }
TARGET_MODULE=$first
. "${BASH_SOURCE[0]%/*}/../kselftest/lib.sh"

# serve NUMBER: a disk of its own by $TARGET_MODULE; sets disk.
serve()
{
	local target=$prefix:speed$1

	port=$((3260 + $1))
	mkdir -p "$lio/$target/tpgt_1/lun/lun_0" "$core/rd_mcp_77/speed$1"
	ramdisk "speed$1" 64
	lun_add 0 "$target"
	target_new "$target"
	portal_add "$addr4:$port" "$target"
	log_in "$target"
	find_disk "$target"
}

tear_down_more()
{
	[ ! -d /sys/module/transport_order ] || rmmod transport_order
}

next_module_serves()
{
	tear_down_more
	insmod "$TRANSPORT_ORDER"
}

side_by_side()
{
	local round other
	local -A disk_of

	TARGET_MODULE=$second
	insert_target_module
	for ((round = 1; round <= ROUNDS; round++)); do
		TARGET_MODULE=$first
		serve 0
		disk_of[$first]=$disk
		next_module_serves
		TARGET_MODULE=$second
		serve 1
		disk_of[$second]=$disk
		measure_rows
		initiators_down
		targets_down
		# It is the one that serves next, too.
		other=$first first=$second second=$other
	done
}

measure_rows()
{
	local block direction depth

	for block in 4k 128k; do
		for direction in randread randwrite; do
			for depth in 1 32; do
				measure
			done
		done
	done
}

measure()
{
	local row=$block-$direction-$depth

	fio_jobs > "$scratch/jobs"
	fio --output-format=terse --terse-version=3 --output="$scratch/fio" \
		"$scratch/jobs"
	# Terse fields, from 1: name, IOPS of reads, of writes.
	awk -F ';' -v round="$round" -v row="$row" '
		{
			split($3, name, "/")
			print round, row, name[1], name[2], $8 + $49
		}
	' "$scratch/fio" >> /out/figures
}

# One after the other; who goes first changes from slice to slice.
fio_jobs()
{
	local slice module order=("$first" "$second")

	cat <<- end
	[global]
	bs=$block
	rw=$direction
	iodepth=$depth
	ioengine=libaio
	direct=1
	size=64m
	norandommap
	time_based
	ramp_time=40ms
	runtime=120ms
	thread
	end
	for ((slice = 1; slice <= SLICES; slice++)); do
		for module in "${order[@]}"; do
			printf '[%s/%s]\nstonewall\nfilename=%s\n' "$slice" \
				"$module" "${disk_of[$module]}"
		done
		order=("${order[1]}" "${order[0]}")
	done
}

check "$first and $second side by side" side_by_side $((60 * ROUNDS))
run_checks
