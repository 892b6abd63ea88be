#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Task management while commands are held up in the backing store.
#
# The disk behind the LUN is a device-mapper one: suspended, it holds every
# command; resumed, it lets them go.

. "${0%/*}/lib.sh"

mapped=kst_held
dm_options='--noudevsync --noudevrules'
mib=32

serve_held_disk()
{
	modprobe -q dm_mod || true
	command -v dmsetup > /dev/null || skip "dmsetup is not installed"
	dmsetup targets | grep linear || skip "no device mapper"
	null_disk disk $mib
	dmsetup create $dm_options $mapped \
		--table "0 $((mib * 2048)) linear $null_disk 0"
	iblock disk "/dev/dm-$(dmsetup info -c --noheadings -o minor $mapped)"
	target_new
	lun_add
	portal_add
	# Without pings: a ping that is answered puts off the abort.
	node_new
	node_set node.conn[0].timeo.noop_out_interval 0 \
		node.conn[0].timeo.noop_out_timeout 0
	login
	find_disk
}

hold()
{
	dmsetup suspend --noflush --nolockfs $mapped
}

let_go()
{
	dmsetup resume $dm_options $mapped
}

tear_down_more()
{
	if dmsetup info $mapped > /dev/null 2>&1; then
		let_go
		initiators_down
		rmdir_mapped_store
		dmsetup remove $dm_options $mapped
	fi
}

# The backstore lets go of the mapped device, the null disk stays for later.
rmdir_mapped_store()
{
	rm -f $tpg/lun/lun_0/kst
	rmdir $core/iblock_77/disk
}

# counted WHAT COUNT: at least, by the target.
counted()
{
	local count

	read -r count < "$core/iblock_77/disk/statistics/scsi_tgt_dev/$1"
	[ "$count" -ge "$2" ]
}

# The session that was there is still there: nothing escalated.
same_session()
{
	logged_in || fail "not logged in"
	logins_are 1
}

# The disk has commands that it holds.
holding()
{
	local reads writes

	read -r reads writes < "/sys/block/${disk#/dev/}/inflight"
	[ $((reads + writes)) -gt 0 ]
}

# held_command OPTIONS...: a dd of $disk that is held until its command has been
# timed out (after three seconds) and the initiator waits for the abort.
held_command()
{
	local user

	write_to 3 "/sys/block/${disk#/dev/}/device/timeout"
	hold
	dd bs=64k count=1 status=none "$@" &
	user=$!
	pause 8
	let_go
	wait $user
	until_true 10 counted aborts_complete 1
	same_session
}

a_held_write_is_aborted_and_repeated()
{
	serve_held_disk
	head -c 64k /dev/urandom > "$scratch/pattern"
	held_command if="$scratch/pattern" of="$disk" oflag=direct
	dd if="$disk" bs=64k count=1 iflag=direct status=none |
		cmp - "$scratch/pattern"
}

a_held_read_is_aborted_and_repeated()
{
	serve_held_disk
	held_command if="$disk" of=/dev/null iflag=direct
}

lun_resets_under_load()
{
	local i

	serve_held_disk
	fio --name=load --ioengine=libaio --direct=1 --filename="$disk" \
		--rw=randwrite --bs=16k --iodepth=32 --size=16m \
		--time_based --runtime=$((3 * rounds)) \
		--verify=crc32c --verify_fatal=1 --output="$scratch/fio.load" &
	load_pid=$!
	until_true 10 has_traffic
	for ((i = 1; i <= rounds; i++)); do
		within 20 sg_reset -d "$disk" || fail "reset $i"
		pause 0.3
	done
	wait $load_pid || { cat "$scratch/fio.load"; fail "load"; }
	counted resets "$rounds" || fail "fewer resets than asked for"
	same_session
}

# The reset has to wait for the disk, and for no longer.
lun_reset_waits_for_held_commands()
{
	local writer resetter

	serve_held_disk
	hold
	dd if=/dev/zero of="$disk" bs=1M count=4 oflag=direct status=none &
	writer=$!
	until_true 5 holding
	sg_reset -d "$disk" &
	resetter=$!
	pause 2
	let_go
	wait $resetter
	wait $writer
	counted resets 1 || fail "the target counts no reset"
	same_session
}

target_reset_leaves_a_working_session()
{
	serve_held_disk
	within 30 sg_reset -t "$disk"
	until_true 30 logged_in
	find_disk
	read_disk
}

logout_while_commands_are_held()
{
	local leaver

	serve_held_disk
	hold
	dd if=/dev/zero of="$disk" bs=64k count=4 oflag=direct status=none &
	until_true 5 holding
	logout &
	leaver=$!
	pause 3
	let_go
	wait $leaver || true
	until_true 20 logged_out
	until_true 20 no_target_sessions
	login
	find_disk
}

disable_while_commands_are_held()
{
	local disabler

	serve_held_disk
	hold
	dd if=/dev/zero of="$disk" bs=64k count=4 oflag=direct status=none &
	until_true 5 holding
	write_to 0 $tpg/enable &
	disabler=$!
	pause 3
	let_go
	wait $disabler
	sessions_are 0
	write_to 1 $tpg/enable
	until_true 30 logged_in
}

rounds 5 2
check "ABORT TASK: a write held in the disk, aborted and repeated" \
	a_held_write_is_aborted_and_repeated 90
check "ABORT TASK: a read held in the disk, aborted and repeated" \
	a_held_read_is_aborted_and_repeated 90
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
