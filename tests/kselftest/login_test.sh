#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Logging in and out with open-iscsi, in every way a portal can be written.

. "$(dirname "$0")/lib.sh"

a_login_gives_a_disk_and_a_logout_takes_it()
{
	local disk

	target_up
	log_in
	disk=$(disk_of)
	within 20 dd if="/dev/$disk" of=/dev/null bs=1M count=8 iflag=direct
	is "$(target_sessions)" 1 "sessions the target counts"
	logout
	logged_out
	until_true 10 no_target_sessions
	[ ! -e "/sys/block/$disk" ]
}

the_session_runs_over_rdma()
{
	local s

	target_up
	log_in
	s=$(session_of)
	is "$(cat "$s"/device/../iscsi_host/*/netdev 2>/dev/null ||
		cat /sys/class/iscsi_transport/iser/handle > /dev/null && echo iser)" \
		iser "transport"
	is "$(queue_pairs)" 2 "connected queue pairs, both ends"
	iscsiadm -m session -P 1 | grep -q 'Iface Transport: iser'
}

digests_are_off_and_lengths_are_the_target_s()
{
	target_up
	log_in
	iscsiadm -m session -P 2 > "$scratch/session"
	cat "$scratch/session"
	grep -q 'HeaderDigest: None' "$scratch/session"
	grep -q 'DataDigest: None' "$scratch/session"
	grep -q 'InitialR2T: Yes' "$scratch/session"
	grep -q 'ImmediateData: Yes' "$scratch/session"
}

many_cycles()
{
	local i

	target_up
	node_new
	for i in $(seq "$(rounds 50 5)"); do
		login > /dev/null || fail "login $i"
		logout > /dev/null || fail "logout $i"
	done
	until_true 10 no_target_sessions
	is "$(target_logins)" "$(rounds 50 5)" "logins the target counts"
}

a_portal_on_an_ipv6_address()
{
	target_new
	lun_add "$(ramdisk disk 8)"
	portal_add "[$addr6]:$port"
	log_in $iqn $addr6
	within 20 dd if="/dev/$(disk_of)" of=/dev/null bs=64k count=16 iflag=direct
}

a_wildcard_portal_serves_ipv4()
{
	target_new
	lun_add "$(ramdisk disk 8)"
	portal_add "0.0.0.0:$port"
	log_in $iqn $addr4
	disk_of
}

a_wildcard_portal_serves_ipv6()
{
	target_new
	lun_add "$(ramdisk disk 8)"
	portal_add "[::]:$port"
	log_in $iqn $addr6
	disk_of
}

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
	refused login
	is "$(target_sessions)" 0 "sessions the target counts"
	iface_up $second_iface $second_initiator
	log_in $iqn $addr4 $second_iface
}

a_disabled_target_refuses()
{
	target_up
	write_to 0 "$(tpg)/enable"
	node_new
	refused login
	write_to 1 "$(tpg)/enable"
	login
}

check "login gives a disk, logout takes it" \
	a_login_gives_a_disk_and_a_logout_takes_it
check "the session runs over RDMA" the_session_runs_over_rdma
check "F-35 digests None, ImmediateData and InitialR2T as configured" \
	digests_are_off_and_lengths_are_the_target_s
check "F-27 login and logout, $(rounds 50 5) cycles" many_cycles 120
check "portal on an IPv6 address" a_portal_on_an_ipv6_address
check "wildcard portal 0.0.0.0" a_wildcard_portal_serves_ipv4
check "wildcard portal [::]" a_wildcard_portal_serves_ipv6
check "unknown target refused" an_unknown_target_is_refused
check "closed target refuses a stranger" a_closed_target_refuses_a_stranger
check "disabled target refuses until enabled" a_disabled_target_refuses
run_checks
