#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# SCSI commands beyond READ and WRITE, as hypervisors send them (F-41): what
# they did is read back from the file behind the LUN.

. "${0%/*}/lib.sh"

miscompare=14

serve_files()
{
	command -v sg_compare_and_write > /dev/null ||
		skip "sg3-utils is not installed"
	target_new
	fileio disk 8
	behind=$scratch/disk.img
	write_to 1 "$store/attrib/emulate_tpu"
	write_to 1 "$store/attrib/emulate_tpws"
	lun_add
	portal_add
	log_in
	find_disk
	head -c 8M /dev/urandom > "$scratch/pattern"
	dd if="$scratch/pattern" of="$disk" bs=1M oflag=direct status=none
}

# blocks LBA COUNT FILE: of 512 bytes, to standard output.
blocks()
{
	dd if="$3" bs=512 skip="$1" count="$2" status=none
}

# behind_are LBA COUNT FILE: there are the blocks that FILE begins with.
behind_are()
{
	sync
	blocks "$1" "$2" "$behind" | cmp -n $(($2 * 512)) - "$3"
}

compare_and_write()
{
	local new=$scratch/new both=$scratch/both status=0

	serve_files
	head -c 512 /dev/urandom > "$new"
	{ blocks 40 1 "$scratch/pattern"; cat "$new"; } > "$both"
	within 20 sg_compare_and_write --in="$both" --lba=40 --num=1 \
		--xferlen=1024 "$disk"
	behind_are 40 1 "$new"
	# Now it is another block: compared, and not written.
	within 20 sg_compare_and_write --in="$both" --lba=40 --num=1 \
		--xferlen=1024 "$disk" || status=$?
	is $status $miscompare "the status of a comparison that fails"
	behind_are 40 1 "$new"
	logins_are 1
}

# One block of data, thousands on the disk: the lengths of the CDB and of the
# transfer have nothing to do with each other.
write_same()
{
	local block=$scratch/block

	serve_files
	head -c 512 /dev/urandom > "$block"
	within 20 sg_write_same --16 --in="$block" --lba=100 --num=2000 "$disk"
	behind_are 100 1 "$block"
	behind_are 1100 1 "$block"
	behind_are 2099 1 "$block"
	blocks 2100 1 "$scratch/pattern" > "$scratch/next"
	behind_are 2100 1 "$scratch/next"
	within 20 sg_write_same --10 --in="$block" --lba=3000 --num=1 "$disk"
	behind_are 3000 1 "$block"
	logins_are 1
}

unmap()
{
	serve_files
	within 20 sg_unmap --lba=64 --num=128 "$disk"
	behind_are 64 128 /dev/zero
	within 20 sg_write_same --16 --unmap --lba=512 --num=256 "$disk"
	behind_are 512 256 /dev/zero
	blocks 768 1 "$scratch/pattern" > "$scratch/next"
	behind_are 768 1 "$scratch/next"
	logins_are 1
}

# The command's sense data has to come through: key and code, not just failure.
sense_data()
{
	serve_files
	refused within 20 sg_raw -r 512 "$disk" \
		28 00 7f ff ff ff 00 00 01 00 2> "$scratch/said"
	cat "$scratch/said"
	grep -qi 'logical block address out of range' "$scratch/said"
	refused within 20 sg_raw "$disk" ee 00 00 00 00 00 2> "$scratch/said"
	cat "$scratch/said"
	grep -qi 'invalid command operation code' "$scratch/said"
	logins_are 1
	read_disk
}

persistent_reservations()
{
	serve_files
	# LIO keeps its file on reservations there, and fails without.
	mkdir -p /var/target/pr
	within 20 sg_persist --out --register --param-sark=123abc "$disk"
	within 20 sg_persist --in --read-keys "$disk" > "$scratch/said"
	cat "$scratch/said"
	grep -q 0x123abc "$scratch/said"
	within 20 sg_persist --out --reserve --param-rk=123abc \
		--prout-type=5 "$disk"
	within 20 sg_persist --in --read-reservation "$disk" > "$scratch/said"
	cat "$scratch/said"
	grep -qi 'registrants only' "$scratch/said"
	read_disk
	within 20 sg_persist --out --clear --param-rk=123abc "$disk"
}

check "F-41 COMPARE AND WRITE" compare_and_write
check "F-41 WRITE SAME" write_same
check "F-41 UNMAP, WRITE SAME with UNMAP" unmap
check "F-41 persistent reservations" persistent_reservations
check "sense data comes through" sense_data
run_checks
