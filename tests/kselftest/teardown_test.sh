#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Taking things away under load: portal, target, RDMA device, module.

. "$(dirname "$0")/lib.sh"

bond=kst_bond

serve_under_load()
{
	target_up
	log_in
	disk=$(disk_of)
	load_start "/dev/$disk"
}

portal_attribute()
{
	echo "$(tpg)/np/${1:-$addr4:$port}/iser"
}

# took SECONDS LIMIT WHAT
took()
{
	[ "$1" -le "$(seconds "$2")" ] || fail "$3 took $1 s"
}

# Sessions that exist do not hang on the portal they came through.
portal_is_disabled_under_load()
{
	local start=$SECONDS

	serve_under_load
	start=$SECONDS
	write_to 0 "$(portal_attribute)"
	took $((SECONDS - start)) 5 "disabling the portal"
	has_traffic "$disk"
	load_stop
	logout
	refused login
	write_to 1 "$(portal_attribute)"
	login
}

portal_is_removed_under_load()
{
	local start

	serve_under_load
	start=$SECONDS
	rmdir "$(tpg)/np/$addr4:$port"
	took $((SECONDS - start)) 5 "removing the portal"
	has_traffic "$disk"
	load_stop
	logout
	portal_add
	login
}

portal_is_switched_while_initiators_come_and_go()
{
	local i loginner start

	target_up
	node_new
	(
		set +e
		trap - ERR
		while [ ! -e "$scratch/enough" ]; do
			login
			logout
		done > /dev/null 2>&1
	) &
	loginner=$!
	for i in $(seq "$(rounds 10 3)"); do
		start=$SECONDS
		write_to 0 "$(portal_attribute)"
		took $((SECONDS - start)) 10 "disabling, round $i,"
		start=$SECONDS
		write_to 1 "$(portal_attribute)"
		took $((SECONDS - start)) 10 "enabling, round $i,"
		sleep 0.3
	done
	touch "$scratch/enough"
	wait $loginner
	session_of || login
	logged_in
}

target_is_disabled_under_load()
{
	local start

	serve_under_load
	start=$SECONDS
	write_to 0 "$(tpg)/enable"
	took $((SECONDS - start)) 10 "disabling the target"
	is "$(target_sessions)" 0 "sessions the target counts"
	write_to 1 "$(tpg)/enable"
	until_true 30 logged_in
	load_stop
}

target_is_removed_under_load()
{
	local start

	serve_under_load
	start=$SECONDS
	target_down $iqn
	took $((SECONDS - start)) 15 "removing the target"
	load_stop
}

# reset_under_load PORTAL
device_is_removed_and_returns()
{
	local start

	target_new
	lun_add "$(ramdisk disk 32)"
	portal_add "$1"
	log_in
	disk=$(disk_of)
	load_start "/dev/$disk"
	start=$SECONDS
	rdma_link_delete
	took $((SECONDS - start)) 15 "removing the RDMA device"
	until_true 20 no_target_sessions
	rdma_link_add
	until_true 40 logged_in
	load_stop
	logout
	login
	within 20 dd if="/dev/$(disk_of)" of=/dev/null bs=4k count=16 \
		iflag=direct status=none
}

device_of_a_portal_is_removed_and_returns()
{
	device_is_removed_and_returns $addr4:$port
}

device_of_a_wildcard_portal_is_removed_and_returns()
{
	device_is_removed_and_returns 0.0.0.0:$port
}

# The portal outlives the device; taking it away needs no device.
portal_is_removed_after_the_device()
{
	target_up
	rdma_link_delete
	write_to 0 "$(portal_attribute)"
	rmdir "$(tpg)/np/$addr4:$port"
	target_down $iqn
}

initiator_is_killed_under_load()
{
	local i killed

	command -v iscsi-perf > /dev/null || skip "libiscsi-bin is not installed"
	target_up
	for i in $(seq "$(rounds 10 3)"); do
		iscsi-perf -m 16 -b 64 -i $initiator \
			"iser://$(portal)/$iqn/0" > /dev/null 2>&1 &
		killed=$!
		until_true 10 a_target_session
		sleep 0.3
		kill -KILL $killed
		wait $killed || true
		until_true 20 no_target_sessions
	done
}

a_target_session()
{
	! no_target_sessions
}

address_moves_with_a_bond_that_fails_over()
{
	local address=10.78.0.1

	modprobe -q bonding max_bonds=0 || skip "no bonding driver"
	ip link add $bond type bond mode active-backup fail_over_mac active
	ip link add ${bond}_a type dummy
	ip link add ${bond}_b type dummy
	ip link set ${bond}_a master $bond
	ip link set ${bond}_b master $bond
	ip link set $bond mtu 4200 up
	ip address add $address/24 dev $bond
	until_true 10 grep -q up /sys/class/net/$bond/operstate
	within 10 rdma link add ${RDMA}_bond type "$RDMA" netdev $bond
	until_true 5 grep -q ACTIVE /sys/class/infiniband/${RDMA}_bond/ports/1/state
	target_new
	lun_add "$(ramdisk disk 8)"
	portal_add $address:$port
	log_in $iqn $address
	disk_of
	logout
	ip link set $bond type bond active_slave ${bond}_b
	sleep 1
	within 30 iscsiadm -m node -T $iqn -I $iface --login
	disk_of
}

tear_down_more()
{
	touch "$scratch/enough"
	initiators_down
	targets_down
	rm -f "$scratch/enough"
	if [ -e /sys/class/net/$bond ]; then
		within 20 rdma link delete ${RDMA}_bond
		ip link delete $bond
		ip link delete ${bond}_a
		ip link delete ${bond}_b
	fi
	[ -e /sys/class/infiniband/$link ] || rdma_link_add
	grep -qw "^$TARGET_MODULE" /proc/modules || insert_target_module
}

module_in_use_is_not_removed()
{
	target_up
	refused rmmod "$TARGET_MODULE" > "$scratch/said" 2>&1
	cat "$scratch/said"
	grep -q 'in use' "$scratch/said"
	log_in
	refused rmmod "$TARGET_MODULE"
	within 20 dd if="/dev/$(disk_of)" of=/dev/null bs=4k count=16 \
		iflag=direct status=none
}

module_is_removed_and_loaded_again()
{
	target_up
	log_in
	logout
	target_down $iqn
	within 20 rmmod "$TARGET_MODULE"
	refused grep -w "^$TARGET_MODULE" /proc/modules
	is "$(health_objects | grep $link)" "$(grep $link "$scratch/health/objects")" \
		"RDMA objects without the module"
	insert_target_module
	target_new
	rmdir "$target"/core/rd_mcp_77/disk
	lun_add "$(ramdisk disk 8)"
	portal_add
	login
}

# The core takes the module itself when a portal is switched on.
module_is_loaded_on_demand()
{
	within 20 rmmod "$TARGET_MODULE"
	target_new
	portal_directory "$(tpg)/np/$addr4:$port"
	write_to 1 "$(portal_attribute)"
	served_by_target_module
}

check "portal disabled under load, sessions go on" \
	portal_is_disabled_under_load
check "portal removed under load, sessions go on" portal_is_removed_under_load
check "F-12 portal switched while initiators come and go" \
	portal_is_switched_while_initiators_come_and_go 120
check "target disabled under load, enabled again" target_is_disabled_under_load 90
check "target removed under load" target_is_removed_under_load 90
check "F-13 RDMA device removed under load, returns" \
	device_of_a_portal_is_removed_and_returns 120
check "F-13 RDMA device removed under load, returns, wildcard portal" \
	device_of_a_wildcard_portal_is_removed_and_returns 120
check "F-45 portal removed after its device" portal_is_removed_after_the_device
check "F-32 initiator killed under load, $(rounds 10 3) times" \
	initiator_is_killed_under_load 120
check "F-15 address moves with a bond that fails over" \
	address_moves_with_a_bond_that_fails_over
check "module in use is not removed" module_in_use_is_not_removed
check "module removed and loaded again" module_is_removed_and_loaded_again
check "module loaded on demand by the core" module_is_loaded_on_demand
run_checks
