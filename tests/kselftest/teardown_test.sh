#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Taking things away under load: portal, target, RDMA device, module.

. "${0%/*}/lib.sh"

bond=kst_bond

serve_under_load()
{
	target_up
	log_in
	find_disk
	load_start
}

# Sessions that exist do not hang on the portal they came through.
portal_is_disabled_under_load()
{
	local start

	serve_under_load
	start=$SECONDS
	write_to 0 $np/iser
	took_at_most 5 $start "disabling the portal"
	has_traffic
	load_stop
	logout
	refused login
	write_to 1 $np/iser
	login
}

portal_is_removed_under_load()
{
	local start

	serve_under_load
	start=$SECONDS
	rmdir $np
	took_at_most 5 $start "removing the portal"
	has_traffic
	load_stop
	logout
	portal_add
	login
}

# A login is refused while the portal is away; and one that the portal loses
# between its connection and its session iscsid tries until its time is over.
come_and_go()
{
	set +eE
	trap - ERR EXIT
	until [ -e "$scratch/enough" ]; do
		login
		logout
	done > /dev/null 2>&1
	return 0
}

portal_is_switched_while_initiators_come_and_go()
{
	local i coming start

	target_up
	node_new
	come_and_go &
	coming=$!
	for ((i = 1; i <= rounds; i++)); do
		start=$SECONDS
		write_to 0 $np/iser
		took_at_most 10 $start "disabling, round $i,"
		start=$SECONDS
		write_to 1 $np/iser
		took_at_most 10 $start "enabling, round $i,"
		pause 0.$i
	done
	touch "$scratch/enough"
	wait $coming
	logged_in || login
}

target_is_disabled_under_load()
{
	local start

	serve_under_load
	start=$SECONDS
	write_to 0 $tpg/enable
	took_at_most 10 $start "disabling the target"
	# LIO has asked the connection to end, and not waited for it.
	until_true 10 no_target_sessions
	write_to 1 $tpg/enable
	until_true 30 logged_in
	load_stop
}

target_is_removed_under_load()
{
	local start

	serve_under_load
	start=$SECONDS
	targets_down
	took_at_most 15 $start "removing the target"
	load_stop
}

# device_is_removed_and_returns PORTAL
device_is_removed_and_returns()
{
	local start

	target_new
	ramdisk disk 32
	lun_add
	portal_add "$1"
	log_in
	find_disk
	load_start
	start=$SECONDS
	rdma_link_delete
	took_at_most 15 $start "removing the RDMA device"
	until_true 20 no_target_sessions
	rdma_link_add
	until_true 40 logged_in
	load_stop
	logout
	login
	find_disk
	read_disk
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
	write_to 0 $np/iser
	rmdir $np
	targets_down
}

initiator_is_killed_under_load()
{
	local i killed

	command -v iscsi-perf > /dev/null || skip "libiscsi-bin is not installed"
	target_up
	for ((i = 1; i <= rounds; i++)); do
		iscsi-perf -m 16 -b 64 -i $initiator "iser://$portal/$iqn/0" \
			> /dev/null 2>&1 &
		killed=$!
		until_true 10 a_target_session
		pause 0.5
		kill -KILL $killed
		wait $killed || true
		until_true 20 no_target_sessions
	done
}

address_moves_with_a_bond_that_fails_over()
{
	local address=10.78.0.1

	modprobe -q bonding max_bonds=0 || skip "no bonding driver"
	ip -batch - <<- end
	link add $bond mtu 4200 type bond mode active-backup fail_over_mac active
	link add ${bond}_a mtu 4200 type dummy
	link add ${bond}_b mtu 4200 type dummy
	link set ${bond}_a master $bond
	link set ${bond}_b master $bond
	link set $bond up
	address add $address/24 dev $bond
	end
	until_true 10 holds /sys/class/net/$bond/operstate up
	within 10 rdma link add ${RDMA}_bond type "$RDMA" netdev $bond
	until_true 5 holds /sys/class/infiniband/${RDMA}_bond/ports/1/state \
		'4: ACTIVE'
	target_new
	ramdisk disk 8
	lun_add
	portal_add $address:$port
	log_in $iqn $address
	find_disk
	logout
	write_to ${bond}_b /sys/class/net/$bond/bonding/active_slave
	pause 2
	login
	find_disk
	read_disk
}

# Whoever looks at sessions in configfs and debugfs may hold up their end, and
# must not see what is gone.
sessions_are_read_while_they_come_and_go()
{
	local i reader

	target_up
	acl_add $initiator
	node_new
	read_sessions &
	reader=$!
	for ((i = 1; i <= rounds; i++)); do
		login
		logout
	done
	touch "$scratch/enough"
	wait $reader
	sessions_are 0
}

read_sessions()
{
	until [ -e "$scratch/enough" ]; do
		cat "$tpg/acls/$initiator/info" "$tpg/dynamic_sessions" \
			/sys/kernel/debug/lio_iser/* > /dev/null 2>&1 || true
	done
}

# LIO ends a session whose ACL gets another depth, and the initiator returns.
# Not to a depth of 1: there LIO ignores the command behind the window, whatever
# the transport, and the initiator waits for it for a minute.
queue_depth_changes_under_load()
{
	local depth start

	target_up
	acl_add $initiator
	log_in
	find_disk
	load_start
	for depth in 16 4 64; do
		start=$SECONDS
		write_to $depth "$tpg/acls/$initiator/cmdsn_depth"
		took_at_most 15 $start "changing the depth to $depth"
		until_true 40 logged_in
		until_true 20 has_traffic
		holds "$tpg/acls/$initiator/cmdsn_depth" $depth
	done
	load_stop
	read_disk
}

# In User Mode Linux KASAN goes on guarding the globals of a module that has
# gone, and reports whoever gets that memory next.
not_with_kasan()
{
	! with_kasan ||
		skip "KASAN keeps the marks of a module that was removed"
}

# Whichever registers first serves; then a person has to be told.
ib_isert_was_first()
{
	local other

	[ "$TARGET_MODULE" = lio_iser ] || skip "lio_iser says it"
	not_with_kasan
	other=$(find "/lib/modules/$(uname -r)/" -name 'ib_isert.ko*' \
		-print -quit)
	[ -n "$other" ] || skip "no ib_isert here"
	within 20 rmmod lio_iser
	within 20 insmod "$other"
	insert_target_module
	dmesg | tac | sed '/lio-iser-kst: /q' > "$scratch/said"
	within 20 rmmod lio_iser
	within 20 rmmod ib_isert
	grep 'lio_iser:.*ib_isert' "$scratch/said"
}

tear_down_more()
{
	[ ! -d /sys/module/ib_isert ] || [ "$TARGET_MODULE" = ib_isert ] ||
		rmmod ib_isert
	touch "$scratch/enough"
	initiators_down
	targets_down
	rm "$scratch/enough"
	if [ -e /sys/class/net/$bond ]; then
		within 20 rdma link delete ${RDMA}_bond
		ip link delete $bond
		ip link delete ${bond}_a
		ip link delete ${bond}_b
	fi
	rdma_link_exists || rdma_link_add
	[ -d "/sys/module/$TARGET_MODULE" ] || insert_target_module
}

module_in_use_is_not_removed()
{
	target_up
	refused rmmod "$TARGET_MODULE" 2> "$scratch/said"
	grep 'in use' "$scratch/said"
	log_in
	refused rmmod "$TARGET_MODULE"
	find_disk
	read_disk
}

module_is_removed_and_loaded_again()
{
	not_with_kasan
	target_up
	log_in
	logout
	targets_down
	within 20 rmmod "$TARGET_MODULE"
	[ ! -d "/sys/module/$TARGET_MODULE" ]
	health_check_objects "$scratch/health"
	insert_target_module
	target_up
	login
}

# The core takes the module itself when a portal is switched on.
module_is_loaded_on_demand()
{
	modinfo "$TARGET_MODULE" > /dev/null || skip "modprobe does not know it"
	not_with_kasan
	within 20 rmmod "$TARGET_MODULE"
	target_new
	portal_directory $np
	write_to 1 $np/iser
	served_by_target_module
}

rounds 50 10
check "F-10 sessions come and go while they are read" \
	sessions_are_read_while_they_come_and_go 180
check "F-26 queue depth changed under load" queue_depth_changes_under_load 120
rounds 10 3
check "portal disabled under load, sessions go on" \
	portal_is_disabled_under_load
check "portal removed under load, sessions go on" portal_is_removed_under_load
check "F-12 portal switched while initiators come and go" \
	portal_is_switched_while_initiators_come_and_go 120
check "target disabled under load, enabled again" target_is_disabled_under_load 90
check "target removed under load" target_is_removed_under_load 90
check "F-13 F-14 F-21 RDMA device removed under load, returns" \
	device_of_a_portal_is_removed_and_returns 120
check "F-13 RDMA device removed under load, returns, wildcard portal" \
	device_of_a_wildcard_portal_is_removed_and_returns 120
check "F-45 portal removed after its device" portal_is_removed_after_the_device
check "F-32 initiator killed under load, $rounds times" \
	initiator_is_killed_under_load 120
check "F-15 address moves with a bond that fails over" \
	address_moves_with_a_bond_that_fails_over
check "F-47 ib_isert was loaded first: the log says what to do" \
	ib_isert_was_first
check "module in use is not removed" module_in_use_is_not_removed
check "module removed and loaded again" module_is_removed_and_loaded_again
check "module loaded on demand by the core" module_is_loaded_on_demand
run_checks
