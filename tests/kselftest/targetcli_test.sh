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

saved=/etc/rtslib-fb-target
enable="$portals/$addr4:$port enable_iser true"

# configure [COMMAND]...: a target with a portal, then these; in one start of
# targetcli, they are slow. Its words are in $scratch/said.
configure()
{
	only_with_targets_of_our_own
	if [ "$TARGET_MODULE" = ib_isert ] && [ "$RDMA" = siw ]; then
		skip "ib_isert over siw needs more than targetcli"
	fi
	# It saves what there is at its end, over what may have been saved.
	rm -rf "$scratch/saved"
	[ ! -d $saved ] || cp -rp $saved "$scratch/saved"
	{
		echo /backstores/ramdisk create name=kst_cli size=16M
		echo /iscsi create $iqn
		echo /iscsi/$iqn/tpg1/luns create /backstores/ramdisk/kst_cli
		echo /iscsi/$iqn/tpg1 set attribute authentication=0 \
			generate_node_acls=1 demo_mode_write_protect=0 \
			cache_dynamic_acls=1
		# It makes the wildcard portal by itself.
		echo $portals delete 0.0.0.0 $port
		echo $portals create $addr4 $port
		printf '%s\n' "$@"
	} | cli > "$scratch/said" 2>&1
	cat "$scratch/said"
}

enabled_is()
{
	holds $np/iser "$1" || fail "the portal's iser attribute is not $1"
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
	targets_down
	if [ -d "$scratch/saved" ]; then
		rm -rf $saved
		mv "$scratch/saved" $saved
	fi
	rdma_link_exists || rdma_link_add
}

configures_and_serves()
{
	configure "$enable" 'ls /'
	grep -i 'iser.*enable.*True' "$scratch/said"
	enabled_is 1
	served_by_target_module
	grep "$addr4:$port .*iser" "$scratch/said"
	refused grep -Ei 'traceback|NotADirectory' "$scratch/said"
	use_it
}

disables_and_enables()
{
	configure "$enable" "${enable/true/false}"
	enabled_is 0
	node_new
	refused login
	cli $enable
	enabled_is 1
	login
}

saves_clears_and_restores()
{
	rm -f "$scratch/saved.json"
	configure "$enable" "saveconfig $scratch/saved.json"
	grep '"iser": true' "$scratch/saved.json"
	log_in
	find_disk
	load_start
	{
		echo clearconfig confirm=True
		echo ls /iscsi
	} | cli > "$scratch/said" 2>&1
	[ ! -d $lio/$iqn ] || fail "clearconfig left the target"
	load_stop
	cli restoreconfig "$scratch/saved.json"
	enabled_is 1
	until_true 40 logged_in
	find_disk
	read_disk
}

other=10.79.0.1

says_when_there_is_no_device()
{
	ip address add $other/32 dev lo
	configure "$portals create $other $port" \
		"$portals/$other:$port enable_iser true"
	ip address del $other/32 dev lo
	holds $tpg/np/$other:$port/iser 0
	# One line with the address and a cause, not only a number.
	since_this_check | grep "$other" | grep -Ei 'no .*RDMA device'
	cli $portals delete $other $port
	[ ! -d $tpg/np/$other:$port ] || fail "the portal is still there"
}

deletes_a_portal_whose_device_is_gone()
{
	configure "$enable"
	enabled_is 1
	rdma_link_delete
	cli $portals delete $addr4 $port
	[ ! -d $np ] || fail "the portal is still there"
}

# An unexpected file where tools expect directories makes them crash.
nothing_in_configfs_is_new()
{
	target_up
	find $lio -maxdepth 1 -mindepth 1 \
		! -name 'iqn.*' ! -name discovery_auth ! -name lio_version \
		! -name cpus_allowed_list > "$scratch/said"
	find $tpg $tpg/np/* -maxdepth 1 -mindepth 1 ! -type d \
		! -name enable ! -name rtpi ! -name dynamic_sessions \
		! -name iser ! -name cxgbit >> "$scratch/said"
	cat "$scratch/said"
	[ ! -s "$scratch/said" ]
}

check "targetcli configures and serves" configures_and_serves 120
check "targetcli disables and enables iser" disables_and_enables 120
check "F-46 targetcli saveconfig, clearconfig under load, restoreconfig" \
	saves_clears_and_restores 150
check "F-45 enabling iser without an RDMA device says why" \
	says_when_there_is_no_device 120
check "F-45 portal deleted after its device is gone" \
	deletes_a_portal_whose_device_is_gone 120
check "F-46 nothing new in configfs for tools to stumble over" \
	nothing_in_configfs_is_new
run_checks
