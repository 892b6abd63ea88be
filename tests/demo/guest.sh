#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The part of the demo that runs inside the guest: both ends of an iSER
# connection on an unmodified Debian, with Debian's own tools.
#
# Leaves in $OUT what demo.sh shows: steps, facts, log.
set -u

iqn=iqn.2003-01.org.example:disk
address=10.0.7.1
portal=/iscsi/$iqn/tpg1/portals
configfs=/sys/kernel/config/target/iscsi/$iqn/tpgt_1
mount=/mnt/demo
log=$OUT/log

# fact NAME VALUE
fact()
{
	echo "$1=$2" >> "$OUT/facts"
}

# step WORDS FUNCTION: the function runs in a shell of its own that ends at the
# first command that fails.
step()
{
	local start=${EPOCHREALTIME/./} status took

	echo "== $1" >> "$log"
	(set -eE
	 trap 'echo "failed, status $?: $BASH_COMMAND"' ERR
	 "$2") >> "$log" 2>&1 < /dev/null
	status=$?
	took=$(((${EPOCHREALTIME/./} - start) / 100000))
	took=$((took / 10)).$((took % 10))
	if [ $status = 0 ]; then
		printf '  \xe2\x9c\x93 %-60s %6s s\n' "$1" "$took" |
			tee -a "$OUT/steps"
		return
	fi
	printf '  \xe2\x9c\x97 %-60s %6s s\n\n' "$1" "$took"
	echo "The end of its log:"
	sed "1,/^== $1\$/d" "$log" | tail -n 30 | sed 's/^/    /'
	echo "The end of the kernel's log:"
	dmesg | tail -n 15 | sed 's/^/    /'
	exit 1
}

# What "make install DESTDIR=" has put into a copy of this system's modules.
install_module()
{
	local folder

	folder=/lib/modules/$(uname -r)
	rm -f "$folder/updates/lio_iser.ko"
	install -D -m 644 -t "$folder/updates" "/out/stage$folder/updates/lio_iser.ko"
	install -m 644 -t "$folder" "/out/stage$folder"/modules.*
	install -D -m 644 -t /etc/modprobe.d \
		/out/stage/etc/modprobe.d/lio_iser.conf
	[ "$(modprobe --resolve-alias ib_isert)" = lio_iser ]
}

# A network card that does RDMA in software, as a machine without an adapter
# would have one.
add_rdma()
{
	ip link add demo0 mtu 4200 type dummy
	ip address add $address/24 dev demo0
	ip link set demo0 up
	modprobe rdma_rxe
	rdma link add rxe0 type rxe netdev demo0
	rdma link show
}

make_target()
{
	mkdir -p /root/.targetcli
	[ ! -d /sys/module/lio_iser ]
	targetcli <<- END
	/backstores/ramdisk create disk 128M
	/iscsi create $iqn
	$portal delete 0.0.0.0 3260
	$portal create $address
	$portal/$address:3260 enable_iser true
	/iscsi/$iqn/tpg1/luns create /backstores/ramdisk/disk
	/iscsi/$iqn/tpg1 set attribute authentication=0 generate_node_acls=1
	/iscsi/$iqn/tpg1 set attribute demo_mode_write_protect=0
	END
	# LIO loaded the module by itself, and not the one of the kernel.
	[ -d /sys/module/lio_iser ]
	[ ! -d /sys/module/ib_isert ]
	[ "$(cat $configfs/np/$address:3260/iser)" = 1 ]
}

disk()
{
	local i path

	for ((i = 0; i < 200; i++)); do
		for path in /sys/class/iscsi_session/*/device/target*/*/block/*; do
			[ ! -b "/dev/${path##*/}" ] || {
				echo "/dev/${path##*/}"
				return
			}
		done
		sleep 0.1
	done
	return 1
}

log_in()
{
	modprobe ib_iser
	iscsiadm -m discovery -t sendtargets -p $address -I iser |
		tee /tmp/found
	grep -q " $iqn\$" /tmp/found
	iscsiadm -m node -T $iqn -p $address -I iser --login
	iscsiadm -m session -P 1 | tee /tmp/session
	grep -q 'Iface Transport: iser' /tmp/session
	disk > /tmp/disk
	tee "$OUT/connections" < /sys/kernel/debug/lio_iser/connections
	grep -q 'peer=' "$OUT/connections"
}

# Not through a cache: what is read comes back over the wire.
use_file_system()
{
	local disk

	read -r disk < /tmp/disk
	mkfs.ext4 -q "$disk"
	mkdir -p $mount
	mount "$disk" $mount
	head -c 24M /dev/urandom > $mount/large
	cp -r /etc $mount/
	(cd $mount && find . -type f -exec sha256sum {} +) > /tmp/sums
	umount $mount
	echo 3 > /proc/sys/vm/drop_caches
	e2fsck -fn "$disk"
	mount -o ro "$disk" $mount
	(cd $mount && sha256sum -c --quiet /tmp/sums)
	umount $mount
	fact files "$(wc -l < /tmp/sums)"
}

verify()
{
	local disk

	read -r disk < /tmp/disk
	fio --filename="$disk" --ioengine=libaio --direct=1 --thread \
		--iodepth=16 --rw=randwrite \
		--verify=crc32c --verify_fatal=1 --do_verify=1 --verify_state_save=0 \
		--output-format=json --output=/tmp/verify \
		--name=b512 --bs=512 --size=512k \
		--name=b4k --stonewall --bs=4k --size=4m --offset=8m \
		--name=b64k --stonewall --bs=64k --size=24m --offset=16m \
		--name=b1m --stonewall --bs=1m --size=48m --offset=48m
	jq -e '[.jobs[] | .error == 0 and .write.io_bytes > 0 and
		.write.io_bytes == .read.io_bytes] | length == 4 and all' \
		/tmp/verify
	fact verified_mib "$(jq '[.jobs[].read.io_bytes] |
		add / 1048576 | floor' /tmp/verify)"
}

throughput()
{
	local disk name bs rw jobs=()

	read -r disk < /tmp/disk
	for bs in 4k 128k; do
		for rw in read write; do
			name=$bs-$rw
			jobs+=(--name="$name" --stonewall --bs="$bs" --rw="rand$rw")
		done
	done
	fio --filename="$disk" --ioengine=libaio --direct=1 --thread \
		--iodepth=16 --time_based --runtime=3 --norandommap \
		--output-format=json --output=/tmp/throughput "${jobs[@]}"
	jq -er '.jobs[] | .error as $error |
		(if .read.io_bytes > 0 then .read else .write end) |
		if $error != 0 or .io_bytes == 0 then error("no data") else
		"\(.iops | floor) \(.bw_bytes / 10000 | floor / 100)" end' \
		/tmp/throughput > /tmp/rates
	paste -d ' ' <(printf '%s\n' 4k-read 4k-write 128k-read 128k-write) \
		/tmp/rates > "$OUT/rates"
	[ "$(wc -l < "$OUT/rates")" = 4 ]
}

# What the kernel holds, in KiB, without caches of files and without the
# processes' own memory; caches of the allocators are given back first.
kernel_memory()
{
	local cache

	sync
	echo 3 > /proc/sys/vm/drop_caches
	for cache in /sys/kernel/slab/*/shrink; do
		echo 1 > "$cache" || true
	done 2> /dev/null
	sleep 1
	# Pages that a processor keeps for itself, and counts it keeps back.
	echo 1 > /proc/sys/vm/compact_memory || true
	cat /proc/sys/vm/stat_refresh
	awk '$1 == "MemTotal:" { kib += $2 }
		$1 ~ /^(MemFree|Buffers|Cached|AnonPages):$/ { kib -= $2 }
		END { print kib }' /proc/meminfo
}

sessions_are()
{
	local i count

	for ((i = 0; i < 150; i++)); do
		read -r count < $configfs/../fabric_statistics/iscsi_instance/sessions
		[ "$count" != "$1" ] || return 0
		sleep 0.1
	done
	echo "the target has $count sessions, not $1"
	return 1
}

# Both ends live in this kernel, so the initiators are processes that are
# stopped: they keep what is theirs while the target ends its sessions.  What
# the kernel gets back then was the target's.
# More sessions of the same initiator.  Both ends live in this kernel and cannot
# be told apart from outside.
measure_memory()
{
	local i sessions=4 before kib sid

	sid=$(iscsiadm -m session | sed -n 's/^iser: \[\([0-9]*\)\].*/\1/p')
	before=$(kernel_memory)
	for ((i = 1; i <= sessions; i++)); do
		iscsiadm -m session -r "$sid" -o new
	done
	sessions_are $((sessions + 1))
	kib=$(kernel_memory)
	echo "kernel memory: $before KiB, then $kib KiB"
	[ $((kib - before)) -gt 0 ]
	fact session_kib $(((kib - before) / sessions))
}

log_out()
{
	iscsiadm -m node -T $iqn -p $address --logout
	sessions_are 0
}

unload()
{
	targetcli clearconfig confirm=True
	rmmod lio_iser
	[ ! -d /sys/module/lio_iser ]
	rdma link delete rxe0
}

# Nothing in the kernel's log that a healthy system would not say.
look_at_kernel_log()
{
	dmesg > "$OUT/kernel"
	grep 'lio_iser: ' "$OUT/kernel"
	if grep -E 'WARNING:|BUG:|Oops|blocked for more than|still has' \
			"$OUT/kernel"; then
		return 1
	fi
}

# An emulated processor that the machine below does not run looks stuck.
echo 0 > /proc/sys/kernel/soft_watchdog
: > "$log"
: > "$OUT/steps"
: > "$OUT/facts"
printf '  \xe2\x9c\x93 %-60s %6s s\n' "Debian's kernel started in the virtual machine" \
	"$(cut -c -4 /proc/uptime)" | tee -a "$OUT/steps"
step 'module installed: updates/, modprobe.d, depmod' install_module
step 'RDMA link in software (rxe) on a network interface' add_rdma
step 'target made with targetcli; enable_iser loaded lio_iser' make_target
step 'discovery and login with open-iscsi over iser' log_in
step 'mkfs, mount, files written, fsck, files read back' use_file_system
step 'fio: random writes, every block verified by crc32c' verify
step 'fio: throughput' throughput
step 'memory per connection: four more sessions' measure_memory
step 'logout' log_out
step 'target removed, module unloaded' unload
step 'kernel log clean' look_at_kernel_log
fact kernel "$(uname -r)"
fact iqn $iqn
