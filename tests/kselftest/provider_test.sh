#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What faults of rxe and siw themselves would show in, whatever the kernel
# (F-17, F-43). Short, so that every kernel can run it with both of them.

. "${0%/*}/lib.sh"

size=32

data_is_right()
{
	target_up $size
	log_in
	find_disk
	fio_job small --filename="$disk" --rw=randwrite --bs=4k --size=2m \
		--iodepth=32 --verify=crc32c --verify_fatal=1 --do_verify=1
	fio_job large --filename="$disk" --rw=randwrite --bs=256k --size=16m \
		--iodepth=8 --verify=crc32c --verify_fatal=1 --do_verify=1
	# 4608 bytes: data that begins and ends within a page.
	fio_job odd --filename="$disk" --rw=randwrite --bs=4608 --size=2m \
		--iodepth=8 --verify=crc32c --verify_fatal=1 --do_verify=1
	logout
	until_true 10 no_target_sessions
}

link_toggles()
{
	ip link set $netdev down
	pause 1
	ip link set $netdev up
	# The kernel forgets those of IPv6 when a link goes down.
	ip address replace $addr6/64 dev $netdev nodad
}

# rxe of 6.1 may send nothing more, not even for new connections, once its link
# went down under load. What an administrator does then has to help.
serves_again()
{
	if [ "$RDMA" = rxe ]; then
		rdma_link_delete
		rdma_link_add
	fi
	log_in
	find_disk
	read_disk
}

# It walks the list of its queue pairs while others are freed, and takes the
# kernel along (see kernels.md).
siw_cannot_lose_its_link()
{
	[ "$RDMA" = siw ] && grep -qw siw_netdev_down /proc/kallsyms
}

toggles_under_load()
{
	local i

	! siw_cannot_lose_its_link || skip "siw of this kernel crashes when its link goes down"
	target_up $size
	log_in
	find_disk
	load_start
	for ((i = 1; i <= rounds; i++)); do
		link_toggles
		pause 1
	done
	load_stop
	logout || true
	until_true 60 no_target_sessions
	serves_again
}

rounds 10 3
check "F-43 $RDMA: data written is data read" data_is_right 120
check "F-17 $RDMA: the link toggles under load, $rounds times" \
	toggles_under_load 240
run_checks
