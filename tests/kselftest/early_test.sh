#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Commands that come too early, connections that go too early (F-04, F-19,
# F-22), and writes whose data never comes (F-25).

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/raw.sh"

duplicate_rtus=/sys/class/infiniband/$link/ports/1/cm_rx_duplicates/rtu

# So many that the target hangs up before the CM has looked at their RTUs. Were
# it told before that the connection is made, each RTU would be one too many,
# and with a DREQ behind it the CM would keep the connection's id for minutes.
refused_in_a_crowd()
{
	local round i before after pid pids

	[ -d "$tpg" ] || raw_target_up
	set_portal
	[ -r "$duplicate_rtus" ] || skip "this device has no InfiniBand CM"
	read -r before < "$duplicate_rtus"
	for ((round = 0; round < rounds; round++)); do
		pids=()
		for ((i = 0; i < 24; i++)); do
			"$raw_program" --initiator "$initiator$i" \
				"$addr4:${portal##*:}" "$iqn.none" \
				> "$scratch/refused$i" 2>&1 &
			pids+=($!)
		done
		for pid in "${pids[@]}"; do
			wait "$pid" || is $? 2 "exit code of a refused login"
		done
		is "$(cat "$scratch"/refused* | grep -c 'refused the login')" \
			24 "logins that were refused"
	done
	read -r after < "$duplicate_rtus"
	is $((after - before)) 0 "RTUs that the CM had no use for"
}

raw_checks early connection order task
rounds 10 5
check "F-22 refused in a crowd, the connection is made and then ended" \
	refused_in_a_crowd 120
run_checks
