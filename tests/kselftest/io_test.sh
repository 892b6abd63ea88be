#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What is written is what is read, and what is on the disk behind.

. "${0%/*}/lib.sh"

size=64

# backstore KIND: sets store, and behind, where its bytes can be looked at.
backstore()
{
	case $1 in
	ramdisk)
		ramdisk disk $size ;;
	fileio)
		fileio disk $size
		behind=$scratch/disk.img ;;
	null_blk)
		null_disk disk $size
		iblock disk "$null_disk"
		behind=$null_disk ;;
	esac
}

# serve KIND IMMEDIATE_DATA INITIAL_R2T: target and login that settle on these.
serve()
{
	target_new
	backstore "$1"
	lun_add
	write_to "$2" $tpg/param/ImmediateData
	write_to "$3" $tpg/param/InitialR2T
	portal_add
	node_new
	node_set node.session.iscsi.ImmediateData "$2" \
		node.session.iscsi.InitialR2T "$3"
	login
	find_disk
	settled_on immediate_data "$2"
	settled_on initial_r2t "$3"
}

settled_on()
{
	local flag=0

	[ "$2" = No ] || flag=1
	holds "$session/$1" $flag || fail "$1 is not $2"
}

# Sizes around every edge: a sector, a page of immediate data, one past it,
# 16 and 64 KiB of FirstBurstLength, past these, and whole bursts.
verify_combination()
{
	local bs mib=0 share jobs=()

	serve "$1" "$2" "$3"
	for bs in 512 4k 4608 8k 16k 16896 64k 66048 256k 1m 4m; do
		case $bs in
		512)	share=256k ;;
		4k | 4608)
			share=1m ;;
		4m)	share=$last_share ;;
		*)	share=4m ;;
		esac
		jobs+=(--name="b$bs" --stonewall --bs="$bs" --size="$share"
			--offset="${mib}m")
		mib=$((mib + 4))
	done
	fio --filename="$disk" --ioengine=libaio --direct=1 --thread \
		--rw=randwrite --verify=crc32c --verify_fatal=1 --do_verify=1 \
		--iodepth=16 --output="$scratch/fio" "${jobs[@]}" || {
		cat "$scratch/fio"
		return 1
	}
}

# Writes in one go at sizes that mix immediate, unsolicited and fetched data;
# then looks at the backing store itself, not through the initiator.
bytes_arrive_where_they_belong()
{
	serve "$1" Yes "$2"
	head -c 12M /dev/urandom > "$scratch/pattern"
	within 30 dd if="$scratch/pattern" of="$disk" bs=384k oflag=direct \
		conv=notrunc status=none
	echo 3 > /proc/sys/vm/drop_caches
	cmp -n $((12 << 20)) "$scratch/pattern" "$behind"
	rm "$scratch/pattern"
}

a_file_system_survives()
{
	local tree=$scratch/mnt/kselftest

	serve "$1" Yes No
	within 30 mkfs.ext4 -q "$disk"
	mkdir -p "$scratch/mnt"
	mount "$disk" "$scratch/mnt"
	mkdir "$tree"
	head -c 6M /dev/urandom > "$tree/large"
	cp "$here"/*.sh "$tree/"
	(cd "$tree" && sha1sum ./*) > "$scratch/sums"
	umount "$scratch/mnt"
	logout
	login
	find_disk
	within 30 e2fsck -fn "$disk"
	mount -o ro "$disk" "$scratch/mnt"
	(cd "$tree" && sha1sum -c --quiet "$scratch/sums")
	umount "$scratch/mnt"
}

# Sets dry: how often a message has found no receive buffer. rxe counts it;
# iWARP ends the connection.
count_dry()
{
	dry=0
	[ "$RDMA" = siw ] ||
		read -r dry < "/sys/class/infiniband/$link/ports/1/hw_counters/send_rnr_err"
}

# RFC 7145 8.1: more writes than the window has, each with all the unsolicited
# data it may have, and every PDU finds a receive buffer.
every_message_finds_a_buffer()
{
	local before

	serve ramdisk "$1" No
	count_dry
	before=$dry
	fio_job flood --filename="$disk" --rw=randwrite --bs=64k --size=32m \
		--iodepth=128 --verify=crc32c --verify_fatal=1 --do_verify=1
	count_dry
	is "$dry" "$before" "messages that found no receive buffer"
	logged_in || fail "the connection ended"
}

max_sectors=/sys/module/ib_iser/parameters/max_sectors

tear_down_more()
{
	if mountpoint -q "$scratch/mnt"; then
		umount "$scratch/mnt"
	fi
	if [ -e "$scratch/max_sectors" ]; then
		cat "$scratch/max_sectors" > $max_sectors
		rm "$scratch/max_sectors"
	fi
}

# As much as ib_iser and the device carry in one command; libiscsi_test has
# larger ones.
large_commands()
{
	local limit

	cat $max_sectors > "$scratch/max_sectors"
	write_to 32768 $max_sectors
	target_up $size
	log_in
	find_disk
	read -r limit < "/sys/block/${disk#/dev/}/queue/max_hw_sectors_kb"
	write_to "$limit" "/sys/block/${disk#/dev/}/queue/max_sectors_kb"
	table '%s over %s: largest command from ib_iser %d KiB\n' \
		"$TARGET_MODULE" "$RDMA" "$limit"
	# siw registers 255 pages in one go.
	[ "$limit" -ge 1020 ] || fail "one command carries only $limit KiB"
	fio_job large --filename="$disk" --rw=write --bs=16m --size=48m \
		--verify=crc32c --verify_fatal=1 --iodepth=2
}

last_share=8m
for store in ramdisk fileio null_blk; do
	for immediate in Yes No; do
		for r2t in Yes No; do
			name=verify_${store}_${immediate}_$r2t
			eval "$name() {
				verify_combination $store $immediate $r2t; }"
			check "F-42 fio crc32c 512 to 4 MiB, $store, ImmediateData=$immediate InitialR2T=$r2t" \
				$name 90
			# One combination of each backstore says much.
			[ "$QUICK" != 1 ] || break 2
		done
	done
done
for store in fileio null_blk; do
	for r2t in Yes No; do
		name=bytes_${store}_$r2t
		eval "$name() {
			bytes_arrive_where_they_belong $store $r2t; }"
		check "F-42 bytes arrive where they belong, $store, InitialR2T=$r2t" \
			$name
	done
done
for store in ramdisk fileio null_blk; do
	eval "file_system_$store() { a_file_system_survives $store; }"
	check "F-42 mkfs, mount, fsck, $store" file_system_$store
done
for immediate in Yes No; do
	eval "flood_$immediate() { every_message_finds_a_buffer $immediate; }"
	check "T-057 every message finds a buffer, ImmediateData=$immediate" \
		flood_$immediate 90
done
check "F-29 large commands" large_commands 90
run_checks
