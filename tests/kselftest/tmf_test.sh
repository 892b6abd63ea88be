#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Task management while commands are held up in the backing store.
#
# The disk behind the LUN is a device-mapper one: suspended, it holds every
# command; resumed, it lets them go.

. "$(dirname "$0")/lib.sh"

mapped=kst_held

serve_held_disk()
{
	local disk

	modprobe -q dm_mod || true
	command -v dmsetup > /dev/null || skip "dmsetup is not installed"
	disk=$(null_disk disk 64)
	dmsetup create --noudevsync $mapped \
		--table "0 $((64 * 2048)) linear $disk 0" ||
		skip "no device mapper"
	target_new
	lun_add "$(iblock disk "/dev/dm-$(dmsetup info -c --noheadings \
		-o minor $mapped)")"
	portal_add
	log_in
	disk=$(disk_of)
}

hold()
{
	dmsetup suspend --noflush --nolockfs $mapped
}

let_go()
{
	dmsetup resume --noudevsync $mapped
}

tear_down_more()
{
	if dmsetup info $mapped > /dev/null 2>&1; then
		dmsetup resume --noudevsync $mapped
		initiators_down
		targets_down
		dmsetup remove --noudevsync $mapped
	fi
}

counter()
{
	cat "$target/core/iblock_77/disk/statistics/scsi_tgt_dev/$1"
}

counted()
{
	[ "$(counter "$1")" -ge "$2" ]
}

# The session that was there is still there: nothing escalated.
same_session()
{
	is "$(target_logins)" 1 "logins the target counts"
	logged_in
}

a_timed_out_write_is_aborted_and_repeated()
{
	local disk writer

	serve_held_disk
	disk=$(disk_of)
	write_to "$(seconds 2)" "/sys/block/$disk/device/timeout"
	head -c 64k /dev/urandom > "$scratch/pattern"
	hold
	dd if="$scratch/pattern" of="/dev/$disk" bs=64k count=1 oflag=direct \
		status=none &
	writer=$!
	until_true 10 aborting "$disk"
	sleep 1
	let_go
	wait $writer
	until_true 10 counted aborts_complete 1
	same_session
	dd if="/dev/$disk" bs=64k count=1 iflag=direct status=none |
		cmp - "$scratch/pattern"
}

# The error handler of the initiator has taken over.
aborting()
{
	local host

	host=$(readlink -f "/sys/block/$1/device" | sed 's|.*/\(host[0-9]*\)/.*|\1|')
	[ "$(cat "/sys/class/scsi_host/$host/state")" != running ] ||
		dmesg | sed -n "/lio-iser-kst: T/,\$p" | grep -q "$1.*abort"
}

a_timed_out_read_is_aborted_and_repeated()
{
	local disk reader

	serve_held_disk
	disk=$(disk_of)
	write_to "$(seconds 2)" "/sys/block/$disk/device/timeout"
	hold
	dd if="/dev/$disk" of=/dev/null bs=64k count=1 iflag=direct \
		status=none &
	reader=$!
	sleep "$(seconds 4)"
	let_go
	wait $reader
	until_true 10 counted aborts_complete 1
	same_session
}

lun_resets_under_load()
{
	local disk i loader

	serve_held_disk
	disk=/dev/$(disk_of)
	fio --name=load --ioengine=libaio --direct=1 --filename="$disk" \
		--rw=randwrite --bs=16k --iodepth=32 --size=24m \
		--loops="$(rounds 20 1)" --verify=crc32c --verify_fatal=1 \
		--output="$scratch/fio.load" &
	loader=$!
	until_true 10 has_traffic "$(basename "$disk")"
	for i in $(seq "$(rounds 5 2)"); do
		within 20 sg_reset -d "$disk" || fail "reset $i"
		sleep 0.3
	done
	wait $loader || { cat "$scratch/fio.load"; fail "load"; }
	counted resets "$(rounds 5 2)"
	same_session
}

# The reset has to wait for the disk, and for no longer.
lun_reset_waits_for_held_commands()
{
	local disk writer resetter

	serve_held_disk
	disk=/dev/$(disk_of)
	hold
	dd if=/dev/zero of="$disk" bs=1M count=4 oflag=direct status=none &
	writer=$!
	sleep 1
	sg_reset -d "$disk" &
	resetter=$!
	sleep 2
	let_go
	wait $resetter
	wait $writer
	counted resets 1
	same_session
}

target_reset_leaves_a_working_session()
{
	local disk

	serve_held_disk
	disk=/dev/$(disk_of)
	within 30 sg_reset -t "$disk"
	until_true 30 logged_in
	within 20 dd if="$disk" of=/dev/null bs=4k count=16 iflag=direct \
		status=none
}

logout_while_commands_are_held()
{
	local disk writer leaver

	serve_held_disk
	disk=/dev/$(disk_of)
	hold
	dd if=/dev/zero of="$disk" bs=64k count=4 oflag=direct status=none &
	writer=$!
	sleep 1
	logout &
	leaver=$!
	sleep 3
	let_go
	wait $leaver || true
	wait $writer || true
	until_true 20 logged_out
	until_true 20 no_target_sessions
	log_in
	disk_of
}

disable_while_commands_are_held()
{
	local disk writer disabler

	serve_held_disk
	disk=/dev/$(disk_of)
	hold
	dd if=/dev/zero of="$disk" bs=64k count=4 oflag=direct status=none &
	writer=$!
	sleep 1
	write_to 0 "$(tpg)/enable" &
	disabler=$!
	sleep 3
	let_go
	wait $disabler
	is "$(target_sessions)" 0 "sessions the target counts"
	write_to 1 "$(tpg)/enable"
	wait $writer || true
	until_true 30 logged_in
}

check "ABORT TASK: a write held in the disk, aborted and repeated" \
	a_timed_out_write_is_aborted_and_repeated 90
check "ABORT TASK: a read held in the disk, aborted and repeated" \
	a_timed_out_read_is_aborted_and_repeated 90
check "LOGICAL UNIT RESET under load" lun_resets_under_load 90
check "LOGICAL UNIT RESET waits for commands held in the disk" \
	lun_reset_waits_for_held_commands 60
check "TARGET WARM RESET leaves a working session" \
	target_reset_leaves_a_working_session
check "F-16 logout while commands are held in the disk" \
	logout_while_commands_are_held 90
check "F-18 target disabled while commands are held in the disk" \
	disable_while_commands_are_held 90
run_checks
