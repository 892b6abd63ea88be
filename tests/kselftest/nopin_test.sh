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

# The black hole: packets leave and arrive nowhere, the link stays up. Packets
# of rxe to its own host never leave the device, and no filter sees them; siw
# speaks TCP. So this is about siw, whatever the others run over.
use_siw()
{
	[ "$RDMA" != siw ] || return 0
	command -v nft > /dev/null || skip "nft is not installed"
	rdma_link_delete
	RDMA=siw
	link=siw_kst
	set_portal
	rdma_link_add || skip "no siw in this kernel"
}

cut_the_cable()
{
	nft -f - <<- end
	table inet kst {
		chain in {
			type filter hook input priority 0;
			tcp dport ${portal##*:} drop
			tcp sport ${portal##*:} drop
		}
	}
	end
}

mend_the_cable()
{
	nft delete table inet kst
}

tear_down_more()
{
	mend_the_cable 2>/dev/null || true
	if [ "$RDMA" != siw ] && [ -d /sys/class/infiniband/siw_kst ]; then
		initiators_down
		targets_down
		rdma link delete siw_kst
	fi
	rdma_link_exists || rdma_link_add
}

a_cut_cable_is_noticed_without_traffic()
{
	use_siw
	serve $initiator
	log_in_quietly
	pause 1
	cut_the_cable
	sessions_are 1
	until_true $((interval + answer + 10)) no_target_sessions
	mend_the_cable
	until_true 60 logged_in
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
check "F-23 F-37 a cut cable is noticed without traffic" \
	a_cut_cable_is_noticed_without_traffic 90
check "F-37 an idle initiator stays" an_idle_initiator_stays
check "F-24 logout just when the target asks" logout_just_when_it_asks
run_checks
