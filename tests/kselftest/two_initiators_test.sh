#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Two initiators, one target, one LUN.

. "${0%/*}/lib.sh"

both_in()
{
	target_up
	iface_up $second_iface $second_initiator
	log_in $iqn $addr4 $iface
	log_in $iqn $addr4 $second_iface
	sessions_are 2
	find_disk $iqn $second_initiator
	second=$disk
	find_disk
	first=$disk
	[ "$first" != "$second" ]
}

one_reads_what_the_other_writes()
{
	both_in
	head -c 4M /dev/urandom > "$scratch/pattern"
	dd if="$scratch/pattern" of="$first" bs=256k oflag=direct conv=notrunc \
		status=none
	dd if="$second" bs=64k count=64 iflag=direct status=none |
		cmp - "$scratch/pattern"
	rm "$scratch/pattern"
}

both_verify_at_once()
{
	both_in
	fio --ioengine=libaio --direct=1 --rw=randwrite --verify=crc32c \
		--verify_fatal=1 --iodepth=16 --bs=8k --size=8m \
		--name=first --filename="$first" --offset=0 \
		--name=second --filename="$second" --offset=16m
}

one_leaves_the_other_goes_on()
{
	local i

	both_in
	fio --name=stays --filename="$second" --ioengine=libaio --direct=1 \
		--rw=randwrite --verify=crc32c --verify_fatal=1 --iodepth=16 \
		--bs=8k --size=8m --loops=3 &
	for ((i = 0; i < rounds; i++)); do
		logout $iqn $iface
		login $iqn $iface
	done
	wait $!
}

# LIO keeps a file of registrations, even if only to say that there are none.
persistent_reservation_keeps_the_other_out()
{
	local dbroot

	read -r dbroot < $configfs/target/dbroot
	mkdir -p "$dbroot/pr"
	both_in
	sg_persist -n --out --register --param-sark=0x11 "$first"
	sg_persist -n --out --reserve --param-rk=0x11 --prout-type=1 "$first"
	refused dd if=/dev/zero of="$second" bs=4k count=1 oflag=direct
	dd if=/dev/zero of="$first" bs=4k count=1 oflag=direct
	sg_persist -n --out --release --param-rk=0x11 --prout-type=1 "$first"
	dd if=/dev/zero of="$second" bs=4k count=1 oflag=direct
}

rounds 3 1
check "two initiators: one reads what the other writes" \
	one_reads_what_the_other_writes
check "two initiators: both verify at once" both_verify_at_once 90
check "two initiators: one comes and goes, the other goes on" \
	one_leaves_the_other_goes_on 90
check "two initiators: a reservation keeps the other out" \
	persistent_reservation_keeps_the_other_out
run_checks
