#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What is written is what is read, and what is on the disk behind.

. "$(dirname "$0")/lib.sh"

backstores="ramdisk fileio null_blk"
size=64

# backstore KIND: prints its path.
backstore()
{
	case $1 in
	ramdisk) ramdisk disk $size ;;
	fileio)  fileio disk $size ;;
	null_blk) iblock disk "$(null_disk disk $size)" ;;
	esac
}

# serve KIND IMMEDIATE_DATA INITIAL_R2T: target and login that settle on these.
serve()
{
	local s param

	target_new
	lun_add "$(backstore "$1")"
	param=$(tpg)/param
	write_to "$2" "$param/ImmediateData"
	write_to "$3" "$param/InitialR2T"
	portal_add
	node_new
	node_set $iqn $iface node.session.iscsi.ImmediateData "$2" \
		node.session.iscsi.InitialR2T "$3"
	login
	s=$(session_of)
	is "$(yes_no "$s/immediate_data")" "$2" ImmediateData
	is "$(yes_no "$s/initial_r2t")" "$3" InitialR2T
}

yes_no()
{
	if [ "$(cat "$1")" = 1 ]; then echo Yes; else echo No; fi
}

# Sizes around every edge: a sector, a page, one past it, 8 KiB of immediate
# data, 64 KiB of FirstBurstLength, both plus a sector, and whole bursts.
verify_all_sizes()
{
	local disk=/dev/$1 bs mib=0 share jobs=()

	for bs in 512 4k 4608 8k 8704 64k 66048 256k 1m 4m; do
		case $bs in
		512) share=512k ;;
		4m) share=$(rounds 16m 8m) ;;
		*) share=4m ;;
		esac
		jobs+=(--name="b$bs" --stonewall --bs="$bs" --size="$share"
			--offset="${mib}m")
		mib=$((mib + 5))
	done
	fio_job all --filename="$disk" --rw=randwrite --verify=crc32c \
		--verify_fatal=1 --do_verify=1 --iodepth=16 "${jobs[@]}"
}

verify_combination()
{
	serve "$1" "$2" "$3"
	verify_all_sizes "$(disk_of)"
}

# Writes in one go at sizes that mix immediate, unsolicited and fetched data;
# then looks at the backing store itself, not through the initiator.
bytes_arrive_where_they_belong()
{
	local disk back

	serve "$1" "$2" "$3"
	disk=/dev/$(disk_of)
	case $1 in
	fileio)   back=$scratch/disk.img ;;
	null_blk) back=$(cat "$target"/core/iblock_77/disk/udev_path) ;;
	esac
	head -c 12M /dev/urandom > "$scratch/pattern"
	within 30 dd if="$scratch/pattern" of="$disk" bs=384k oflag=direct \
		conv=notrunc status=none
	echo 3 > /proc/sys/vm/drop_caches
	cmp -n $((12 << 20)) "$scratch/pattern" "$back"
	rm "$scratch/pattern"
}

a_file_system_survives()
{
	local disk

	serve "$1" Yes No
	disk=/dev/$(disk_of)
	within 30 mkfs.ext4 -q "$disk"
	mkdir -p "$scratch/mnt"
	mount "$disk" "$scratch/mnt"
	cp -r /usr/share/zoneinfo "$scratch/mnt/" 2>/dev/null ||
		cp -r /etc "$scratch/mnt/zoneinfo"
	(cd "$scratch/mnt/zoneinfo" && find . -type f -exec sha1sum {} +) \
		> "$scratch/sums"
	umount "$scratch/mnt"
	logout
	login
	disk=/dev/$(disk_of)
	within 30 e2fsck -fn "$disk"
	mount -o ro "$disk" "$scratch/mnt"
	(cd "$scratch/mnt/zoneinfo" && sha1sum -c --quiet "$scratch/sums")
	umount "$scratch/mnt"
}

tear_down_more()
{
	if mountpoint -q "$scratch/mnt" 2>/dev/null; then
		umount -l "$scratch/mnt"
	fi
	if [ -e "$scratch/max_sectors" ]; then
		cat "$scratch/max_sectors" > /sys/module/ib_iser/parameters/max_sectors
		rm "$scratch/max_sectors"
	fi
}

# As much as the initiator and the device allow in one command.
large_commands()
{
	local disk limit parameter=/sys/module/ib_iser/parameters/max_sectors

	cat $parameter > "$scratch/max_sectors"
	write_to 32768 $parameter || skip "ib_iser's max_sectors is fixed"
	target_new
	lun_add "$(ramdisk disk $size)"
	portal_add
	log_in
	disk=$(disk_of)
	limit=$(cat "/sys/block/$disk/queue/max_hw_sectors_kb")
	write_to "$limit" "/sys/block/$disk/queue/max_sectors_kb"
	[ "$limit" -gt 512 ] || fail "one command carries only $limit KiB"
	fio_job large --filename="/dev/$disk" --rw=write --bs=16m --size=48m \
		--verify=crc32c --verify_fatal=1 --iodepth=2
	echo "table: largest command from ib_iser over $RDMA: $limit KiB"
}

for store in $backstores; do
	for immediate in Yes No; do
		for r2t in Yes No; do
			name="${store}_${immediate}_$r2t"
			eval "verify_$name() {
				verify_combination $store $immediate $r2t; }"
			check "F-42 fio crc32c, $store, ImmediateData=$immediate InitialR2T=$r2t" \
				"verify_$name" 90
		done
	done
done
for store in fileio null_blk; do
	for r2t in Yes No; do
		eval "bytes_${store}_$r2t() {
			bytes_arrive_where_they_belong $store Yes $r2t; }"
		check "bytes arrive where they belong, $store, InitialR2T=$r2t" \
			"bytes_${store}_$r2t"
	done
done
for store in $backstores; do
	eval "file_system_$store() { a_file_system_survives $store; }"
	check "F-42 mkfs, mount, fsck, $store" "file_system_$store"
done
check "F-29 large commands" large_commands 90
run_checks
