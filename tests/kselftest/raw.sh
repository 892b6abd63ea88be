#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs checks of iserverify (tools/iserverify), one each, against a target
# that stays up from one to the next. Sourced behind lib.sh; then:
#   raw_target=FUNCTION    brings the target up, once
#   raw_before=FUNCTION    before each case that is enrolled from here on
#   raw_options=(...)      of iserverify, for these cases
#   raw_checks GROUP...    enrols all cases of those groups; of the profile
#                          that raw_options names, if they do
#   run_checks
#
# Environment:
#   ISERVERIFY      path of the program, where it is not build/tools/iserverify/

raw_program=${ISERVERIFY:-$here/../../build/tools/iserverify/iserverify}
raw_target=raw_target_up
raw_before=true
raw_options=()
raw_cases=0
# The longest iSCSI name is 223 bytes (RFC 7143 4.2.7.1).
raw_long_iqn=$prefix:$(printf 'long%.0s' {1..45})

# A ramdisk, a LUN 1 whose backstore knows WRITE SAME (32), Data-Out allowed.
raw_target_up()
{
	target_up 64
	fileio file 8
	lun_add 1
	# The result is Yes if either end wants it, and LIO does by default.
	write_to No "$tpg/param/InitialR2T"
}

# The same and a second target with a name that fills more than one PDU.
raw_long_target_up()
{
	raw_target_up
	store=$core/rd_mcp_77/disk
	target_new "$raw_long_iqn"
	lun_add 0 "$raw_long_iqn"
	portal_add "$addr4:$port" "$raw_long_iqn"
}

# With 40 more, the names do not fit into one PDU of any size.
raw_targets=42
raw_many_targets_up()
{
	raw_long_target_up
	raw_more_targets_up
}

raw_more_targets_up()
{
	local i

	for ((i = 2; i < raw_targets; i++)); do
		target_new "$prefix:more$i"
		portal_add "$addr4:$port" "$prefix:more$i"
	done
}

# From then on a login has to prove who it is.
raw_account=rawuser:rawsecret12345
raw_demand_chap()
{
	[ -d "$tpg" ] || raw_target_up
	write_to 1 "$tpg/attrib/authentication"
	write_to "${raw_account%%:*}" "$tpg/auth/userid"
	write_to "${raw_account#*:}" "$tpg/auth/password"
}

# raw_checks GROUP...
raw_checks()
{
	local name title function

	if [ ! -x "$raw_program" ]; then
		check "iserverify is built" raw_is_missing
		return
	fi
	while read -r _ name title; do
		# One case may be enrolled twice, with other options.
		function=raw_case_$((++raw_cases))
		eval "$function()
		{
			raw_options=(${raw_options[*]@Q})
			$raw_before
			raw_case $name
		}"
		check "$title" $function 120
	done < <("$raw_program" ${raw_options[@]+"${raw_options[@]}"} --list \
		"${@/#/--only=}")
}

raw_is_missing()
{
	fail "no $raw_program: cmake -S tools -B build/tools &&" \
		"cmake --build build/tools"
}

raw_case()
{
	local status

	if [ ! -d "$tpg" ]; then
		$raw_target
	fi
	set_portal
	"$raw_program" --write --format tap --initiator "$initiator" \
		${raw_options[@]+"${raw_options[@]}"} --only "$1" \
		--output "$scratch/raw" "$addr4:${portal##*:}" "$iqn" ||
		status=$?
	cat "$scratch/raw"
	# Nothing was tested, since this target has nothing of the kind.
	if [ ${status:-0} = 2 ] && grep -q '^ok 1 .*# SKIP' "$scratch/raw"; then
		skip "$(sed -n 's/^# //p;T;q' "$scratch/raw")"
	fi
	return ${status:-0}
}

# Both replace those of lib.sh. Between two cases the target stays, which is
# half of the point, and no connection may.
tear_down()
{
	if [ "${FUNCNAME[1]}" = bounded ] && [ -d "$tpg" ]; then
		raw_settled
	else
		initiators_down
		targets_down
	fi
}

health_of_this_run()
{
	targets_down
	health_check "$scratch/health"
}

raw_settled()
{
	if rdma_link_exists && ! until_true 20 no_queue_pairs; then
		rdma resource show qp
		return 1
	fi
	until_true 20 no_target_sessions
	until_true 20 no_connections
}
