#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# An initiator that is silently gone is noticed: the target asks with a NOP-In
# and frees the connection when no answer comes. One that is only idle stays.

. "$(dirname "$0")/lib.sh"

interval=3
answer=3

# serve NAME: a target for this initiator, which asks soon.
serve()
{
	local attrib

	target_up 8
	acl_add "$1"
	attrib=$(tpg)/acls/$1/attrib
	write_to $answer "$attrib/nopin_response_timeout"
	write_to $interval "$attrib/nopin_timeout"
}

# node_quiet: this initiator asks nothing itself.
node_quiet()
{
	node_new
	node_set $iqn $iface node.conn[0].timeo.noop_out_interval 0 \
		node.conn[0].timeo.noop_out_timeout 0
}

# libiscsi answers from its own process: stopped, it answers nothing, while the
# RDMA device goes on acknowledging for it.
a_stopped_initiator_is_dropped()
{
	local perf

	command -v iscsi-perf > /dev/null || skip "libiscsi-bin is not installed"
	serve $second_initiator
	iscsi-perf -m 1 -b 8 -i $second_initiator "iser://$(portal)/$iqn/0" \
		> /dev/null 2>&1 &
	perf=$!
	until_true 10 a_target_session
	sleep 1
	kill -STOP $perf
	sleep 1
	is "$(target_sessions)" 1 "sessions the target counts"
	until_true $((interval + answer + 10)) no_target_sessions
	kill -KILL $perf
}

a_target_session()
{
	! no_target_sessions
}

# The black hole: packets leave and arrive nowhere, the link stays up. rxe
# loops packets back within the device as long as they bear its own hardware
# address, so a new one loses all of the old connection's. siw speaks TCP.
cut_the_cable()
{
	if [ "$RDMA" = rxe ]; then
		ip link set $netdev address 02:77:00:00:00:02
	else
		nft add table inet kst
		nft 'add chain inet kst in { type filter hook input priority 0; }'
		nft "add rule inet kst in tcp dport $(rdma_port) drop"
		nft "add rule inet kst in tcp sport $(rdma_port) drop"
	fi
}

mend_the_cable()
{
	ip link set $netdev address 02:77:00:00:00:01
	nft delete table inet kst 2>/dev/null || true
}

tear_down_more()
{
	mend_the_cable
}

a_cut_cable_is_noticed_without_traffic()
{
	serve $initiator
	node_quiet
	login
	disk_of
	sleep 1
	cut_the_cable
	sleep 1
	is "$(target_sessions)" 1 "sessions the target counts"
	until_true $((interval + answer + 10)) no_target_sessions
	mend_the_cable
	until_true 40 logged_in
}

# What the device has sent, of both ends: neither says a word but the target
# that asks. siw counts nothing, there the netdev of the loop does.
packets()
{
	cat "/sys/class/infiniband/$link/ports/1/hw_counters/sent_pkts" \
		2>/dev/null || cat /sys/class/net/lo/statistics/tx_packets
}

an_idle_initiator_stays()
{
	local sent

	serve $initiator
	node_quiet
	login
	disk_of
	sleep 2
	sent=$(packets)
	sleep $((3 * (interval + answer)))
	[ "$(packets)" -gt "$sent" ] || fail "the target asked nothing"
	is "$(target_logins)" 1 "logins the target counts"
	is "$(target_sessions)" 1 "sessions the target counts"
	within 20 dd if="/dev/$(disk_of)" of=/dev/null bs=4k count=16 \
		iflag=direct status=none
}

logout_just_when_it_asks()
{
	local i

	serve $initiator
	node_quiet
	for i in $(seq "$(rounds 4 1)"); do
		login
		sleep $interval
		logout
	done
	until_true 10 no_target_sessions
}

check "F-37 a stopped initiator is dropped" a_stopped_initiator_is_dropped
check "F-37 a cut cable is noticed without traffic" \
	a_cut_cable_is_noticed_without_traffic 90
check "F-37 an idle initiator stays" an_idle_initiator_stays
check "F-24 logout just when the target asks" logout_just_when_it_asks
run_checks
