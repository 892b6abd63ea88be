#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Logging in and out with open-iscsi, in every way a portal can be written.

. "${0%/*}/lib.sh"

a_login_gives_a_disk_and_a_logout_takes_it()
{
	target_up
	log_in
	find_disk
	read_disk
	sessions_are 1
	logout
	logged_out
	until_true 10 no_target_sessions
	[ ! -e "/sys/block/${disk#/dev/}" ]
}

the_session_runs_over_rdma()
{
	target_up
	log_in
	iscsiadm -m session -P 1 | grep 'Iface Transport: iser'
	count_queue_pairs
	is "$queue_pairs" 2 "connected queue pairs, both ends"
}

digests_are_off()
{
	target_up
	log_in
	iscsiadm -m session -P 2 > "$scratch/said"
	grep 'HeaderDigest: None' "$scratch/said"
	grep 'DataDigest: None' "$scratch/said"
	grep 'InitialR2T: Yes' "$scratch/said"
	grep 'ImmediateData: Yes' "$scratch/said"
}

many_cycles()
{
	local i

	target_up
	node_new
	for ((i = 1; i <= rounds; i++)); do
		login > /dev/null || fail "login $i"
		logout > /dev/null || fail "logout $i"
	done
	until_true 10 no_target_sessions
	logins_are "$rounds"
}

# serves PORTAL_IP LOGIN_IP
serves()
{
	target_new
	ramdisk disk 8
	lun_add
	portal_add "$1:$port"
	log_in $iqn "$2"
	find_disk
	read_disk
}

a_portal_on_an_ipv6_address()
{
	serves "[$addr6]" $addr6
}

a_wildcard_portal_serves_ipv4()
{
	serves 0.0.0.0 $addr4
}

a_wildcard_portal_serves_ipv6()
{
	serves '[::]' $addr6
}

# LIO says "service unavailable", which open-iscsi tries again until its login
# timeout: so these refusals take their time.
an_unknown_target_is_refused()
{
	target_up
	node_new $prefix:nowhere
	refused login $prefix:nowhere
	log_in
}

a_closed_target_refuses_a_stranger()
{
	target_up
	acl_add $second_initiator
	node_new
	refused_in_time login
	sessions_are 0
	iface_up $second_iface $second_initiator
	log_in $iqn $addr4 $second_iface
}

a_disabled_target_refuses()
{
	target_up
	write_to 0 $tpg/enable
	node_new
	refused login
	write_to 1 $tpg/enable
	login
}

rounds 50 5
check "login gives a disk, logout takes it" \
	a_login_gives_a_disk_and_a_logout_takes_it
check "the session runs over RDMA" the_session_runs_over_rdma
check "F-35 digests None, ImmediateData and InitialR2T as configured" \
	digests_are_off
check "F-27 login and logout, $rounds cycles" many_cycles 180
check "portal on an IPv6 address" a_portal_on_an_ipv6_address
check "wildcard portal 0.0.0.0" a_wildcard_portal_serves_ipv4
check "wildcard portal [::]" a_wildcard_portal_serves_ipv6
check "unknown target refused" an_unknown_target_is_refused
check "closed target refuses a stranger" a_closed_target_refuses_a_stranger
check "disabled target refuses until enabled" a_disabled_target_refuses
run_checks
