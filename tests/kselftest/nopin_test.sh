#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# An initiator that is silently gone is noticed: the target asks with a NOP-In
# and frees the connection when no answer comes. One that is only idle stays.

. "${0%/*}/lib.sh"

interval=3
answer=3

# serve NAME: a target for this initiator, which asks soon.
serve()
{
	local attrib=$tpg/acls/$1/attrib

	target_up 8
	acl_add "$1"
	write_to $answer "$attrib/nopin_response_timeout"
	write_to $interval "$attrib/nopin_timeout"
}

# log_in_quietly: this initiator asks nothing itself.
log_in_quietly()
{
	node_new
	node_set node.conn[0].timeo.noop_out_interval 0 \
		node.conn[0].timeo.noop_out_timeout 0
	login
	find_disk
}

# libiscsi answers from its own process: stopped, it answers nothing, while the
# RDMA device goes on acknowledging for it.
a_stopped_initiator_is_dropped()
{
	local perf

	command -v iscsi-perf > /dev/null || skip "libiscsi-bin is not installed"
	serve $second_initiator
	iscsi-perf -m 1 -b 8 -i $second_initiator "iser://$portal/$iqn/0" \
		> /dev/null 2>&1 &
	perf=$!
	until_true 10 a_target_session
	pause 1
	kill -STOP $perf
	sessions_are 1
	until_true $((interval + answer + 10)) no_target_sessions
	kill -KILL $perf
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
		nft "add rule inet kst in tcp dport ${portal##*:} drop"
		nft "add rule inet kst in tcp sport ${portal##*:} drop"
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
	log_in_quietly
	pause 1
	cut_the_cable
	sessions_are 1
	until_true $((interval + answer + 10)) no_target_sessions
	mend_the_cable
	until_true 40 logged_in
}

# Sets packets: what the device has sent, of both ends. Neither says a word but
# the target that asks. siw counts nothing; its packets pass the loop.
count_packets()
{
	local counter=/sys/class/infiniband/$link/ports/1/hw_counters/sent_pkts

	[ -e $counter ] || counter=/sys/class/net/lo/statistics/tx_packets
	read -r packets < $counter
}

an_idle_initiator_stays()
{
	local before

	serve $initiator
	log_in_quietly
	pause 2
	count_packets
	before=$packets
	pause $((2 * (interval + answer)))
	count_packets
	[ "$packets" -gt "$before" ] || fail "the target asked nothing"
	logins_are 1
	sessions_are 1
	read_disk
}

logout_just_when_it_asks()
{
	local i

	serve $initiator
	log_in_quietly
	for ((i = 1; i <= rounds; i++)); do
		pause $interval
		logout
		login
	done
	logout
	until_true 10 no_target_sessions
}

rounds 3 1
check "F-37 a stopped initiator is dropped" a_stopped_initiator_is_dropped
check "F-37 a cut cable is noticed without traffic" \
	a_cut_cable_is_noticed_without_traffic 90
check "F-37 an idle initiator stays" an_idle_initiator_stays
check "F-24 logout just when the target asks" logout_just_when_it_asks
run_checks
