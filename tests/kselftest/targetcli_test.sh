#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# An unchanged targetcli configures the target; its files survive the new
# transport.

. "${0%/*}/lib.sh"

portals=/iscsi/$iqn/tpg1/portals

cli()
{
	within 40 targetcli "$@"
}

# targetcli would clear everybody's targets.
only_with_targets_of_our_own()
{
	local path

	command -v targetcli > /dev/null || skip "targetcli is not installed"
	for path in "$lio"/iqn.* "$lio"/eui.* "$lio"/naa.*; do
		[ ! -d "$path" ] || skip "this machine has targets of its own"
	done
}

# One start of targetcli for all of it: they are slow.
configure()
{
	{
		echo /backstores/ramdisk create name=kst_cli size=16M
		echo /iscsi create $iqn
		echo /iscsi/$iqn/tpg1/luns create /backstores/ramdisk/kst_cli
		echo /iscsi/$iqn/tpg1 set attribute authentication=0 \
			generate_node_acls=1 demo_mode_write_protect=0 \
			cache_dynamic_acls=1
		# It makes the wildcard portal by itself.
		echo $portals delete 0.0.0.0 $port
	} | cli
	if [ "$RDMA" = siw ] && [ "$TARGET_MODULE" = ib_isert ]; then
		portal_directory $np
	else
		cli $portals create $addr4 $port
	fi
}

enable_iser()
{
	cli $portals/$addr4:$port enable_iser true | tee "$scratch/said"
	is "$(cat "$np/iser")" 1 "the portal's iser attribute"
}

use_it()
{
	log_in
	find_disk
	read_disk
	logout
}

tear_down_more()
{
	initiators_down
	if [ -e "$scratch/cli" ]; then
		rm "$scratch/cli"
		within 60 targetcli clearconfig confirm=True
	fi
	rdma_link_exists || rdma_link_add
}

with_cli()
{
	only_with_targets_of_our_own
	touch "$scratch/cli"
	"$@"
}

configures_and_serves()
{
	configure
	enable_iser
	grep -qi 'iser.*enable.*True' "$scratch/said"
	served_by_target_module
	use_it
	cli ls / | tee "$scratch/said"
	grep -q "$addr4:$port .*iser" "$scratch/said"
}

disables_and_enables()
{
	configure
	enable_iser
	cli $portals/$addr4:$port enable_iser false
	is "$(cat "$np/iser")" 0 "the portal's iser attribute"
	node_new
	refused login
	enable_iser
	login
}

saves_clears_and_restores()
{
	configure
	enable_iser
	cli saveconfig "$scratch/saved.json"
	grep -q '"iser": true' "$scratch/saved.json"
	cli clearconfig confirm=True
	[ ! -d $lio/$iqn ] || fail "clearconfig left the target"
	until_true 10 no_queue_pairs
	if [ "$RDMA" = siw ] && [ "$TARGET_MODULE" = ib_isert ]; then
		return 0
	fi
	cli restoreconfig "$scratch/saved.json"
	is "$(cat "$np/iser")" 1 "the portal's iser attribute"
	use_it
}

clears_under_load()
{
	configure
	enable_iser
	log_in
	find_disk
	load_start
	cli clearconfig confirm=True
	[ ! -d $lio/$iqn ] || fail "clearconfig left the target"
	load_stop
}

says_when_there_is_no_device()
{
	local other=10.79.0.1

	configure
	ip address add $other/24 dev lo
	cli $portals create $other $port
	cli $portals/$other:$port enable_iser true || true
	ip address del $other/24 dev lo
	is "$(cat "$tpg/np/$other:$port/iser")" 0 "the portal's iser attribute"
	# One line with the address and a cause, not only a number.
	since_this_check | grep "$other" | grep -Ei 'no .*RDMA device'
	cli $portals delete $other $port
}

deletes_a_portal_whose_device_is_gone()
{
	configure
	enable_iser
	rdma_link_delete
	cli $portals delete $addr4 $port
	[ ! -d "$np" ] || fail "the portal is still there"
}

# F-46: an unexpected file where tools expect directories makes them crash.
every_path_can_be_listed()
{
	configure
	enable_iser
	cli ls / > "$scratch/said" 2>&1 || { cat "$scratch/said"; return 1; }
	refused grep -Ei 'traceback|NotADirectory|error' "$scratch/said"
	find $configfs/target/iscsi -maxdepth 1 -mindepth 1 \
		! -name 'iqn.*' ! -name 'eui.*' ! -name 'naa.*' \
		! -name discovery_auth ! -name lio_version \
		! -name cpus_allowed_list | tee "$scratch/said"
	[ ! -s "$scratch/said" ]
}

for name in configures_and_serves disables_and_enables \
		saves_clears_and_restores clears_under_load \
		says_when_there_is_no_device \
		deletes_a_portal_whose_device_is_gone every_path_can_be_listed; do
	eval "cli_$name() { with_cli $name; }"
done

check "T-003 targetcli configures and serves" cli_configures_and_serves 120
check "targetcli disables and enables iser" cli_disables_and_enables 120
check "F-46 targetcli saveconfig, clearconfig, restoreconfig" \
	cli_saves_clears_and_restores 120
check "F-12 targetcli clearconfig under load" cli_clears_under_load 120
check "F-45 enabling iser without an RDMA device says why" \
	cli_says_when_there_is_no_device 120
check "F-45 portal deleted after its device is gone" \
	cli_deletes_a_portal_whose_device_is_gone 120
check "F-46 nothing in configfs that tools stumble over" \
	cli_every_path_can_be_listed 120
run_checks
