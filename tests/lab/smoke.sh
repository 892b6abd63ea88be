#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs inside a guest: a target made with targetcli, a login with open-iscsi
# over iser, and data verified with fio.  TARGET_MODULE says which module
# serves, LINK which software RDMA device carries it (rxe or siw).
set -eu

module=${TARGET_MODULE:-lio_iser}
link=${LINK:-rxe}
address=10.0.7.1
iqn=iqn.2025-01.org.example:smoke

say() {
	echo "# $(cut -d ' ' -f 1 /proc/uptime) s: $*"
}

# What modprobe finds under the alias iscsi_target_mod asks for is the test's
# business: the lab installs no such line.
choose_module() {
	local other=ib_isert
	[ "$module" = ib_isert ] && other=lio_iser
	echo "install $other /bin/false" > /etc/modprobe.d/smoke.conf
	modprobe "$module"
	test -d "/sys/module/$module"
}

make_link() {
	modprobe "rdma_$link" 2> /dev/null || modprobe "$link"
	modprobe ib_iser
	ip link add lab0 type dummy
	ip address add $address/24 dev lab0
	ip link set lab0 up
	rdma link add "${link}0" type "$link" netdev lab0
	rdma link show
}

make_target() {
	local portal=/iscsi/$iqn/tpg1/portals
	mkdir -p /root/.targetcli
	# One run: its start takes seconds in an emulated machine.
	targetcli <<- END
	/backstores/ramdisk create disk 64M
	/iscsi create $iqn
	$portal delete 0.0.0.0 3260
	$portal create $address
	$portal/$address:3260 enable_iser true
	/iscsi/$iqn/tpg1/luns create /backstores/ramdisk/disk
	/iscsi/$iqn/tpg1 set attribute authentication=0
	/iscsi/$iqn/tpg1 set attribute generate_node_acls=1
	/iscsi/$iqn/tpg1 set attribute demo_mode_write_protect=0
	END
	test "$(cat /sys/kernel/config/target/iscsi/$iqn/tpgt_1/np/$address:3260/iser)" = 1
}

log_in() {
	iscsiadm -m discovery -t sendtargets -p $address -I iser
	iscsiadm -m node -T $iqn -p $address --login
	iscsiadm -m session -P 1 > /tmp/session
	grep -q 'Iface Transport: iser' /tmp/session
}

disk() {
	local i disk
	for ((i = 0; i < 100; i++)); do
		for disk in /sys/class/iscsi_session/*/device/target*/*/block/*; do
			[ -e "$disk" ] || continue
			disk=/dev/${disk##*/}
			[ -b "$disk" ] || continue
			# Its node is there a moment before it can be opened.
			: 2> /dev/null < "$disk" || continue
			echo "$disk"
			return
		done
		sleep 0.1
	done
	return 1
}

verify() {
	fio --name=smoke --filename="$1" --rw=randwrite --bs=64k \
		--size=32M --ioengine=libaio --iodepth=16 --direct=1 \
		--verify=crc32c --do_verify=1 --verify_fatal=1 --verify_state_save=0 \
		--output-format=json > /tmp/fio
	jq -r '.jobs[0] | "# wrote \(.write.io_kbytes) KiB at \(.write.bw)" +
		" KiB/s, read \(.read.io_kbytes) KiB, errors \(.error)"' /tmp/fio
	jq -e '.jobs[0] | .error == 0 and .write.io_kbytes == 32768 and
		.read.io_kbytes == 32768' /tmp/fio > /dev/null
}

say "kernel $(uname -r), $module over $link"
choose_module
make_link
make_target
say "target made"
log_in
device=$(disk)
say "logged in, $device"
verify "$device"
say "data verified"
iscsiadm -m node -T $iqn -p $address --logout
targetcli clearconfig confirm=True
rmmod "$module"
if dmesg | grep -E 'WARNING:|BUG:|Oops|blocked for more than'; then
	exit 1
fi
say "done"
