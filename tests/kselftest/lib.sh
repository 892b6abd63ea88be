#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What every test here stands on: KTAP output with a time limit on each check,
# and the words the checks are written in (a link, a target, a login, a disk).
#
# State is kept in the kernel, not in shell variables: the tear-down finds its
# objects by name, and so cleans up after a check that was killed.
#
# Starting a process is by far the most expensive thing in an emulated or User
# Mode Linux guest. So files are read by the shell itself, functions answer in a
# variable (disk, store, session) and not on standard output, and directories
# are made many at a time.
#
# Environment:
#   TARGET_MODULE   lio_iser (default) or ib_isert
#   TARGET_KO       path of the module, where it is not under /lib/modules
#   RDMA            rxe (default) or siw
#   CHECKS          only those whose name matches this regular expression
#   QUICK           1: fewer rounds and smaller files, for slow machines
#   TIME_SCALE      factor on every time limit (default: found out)

set -u
# iscsiadm and the sg3 tools are in sbin.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
. "$here/health.sh"

TARGET_MODULE=${TARGET_MODULE:-lio_iser}
RDMA=${RDMA:-rxe}
QUICK=${QUICK:-0}

prefix=iqn.2003-01.org.lio-iser.kst
iqn=$prefix:disk
initiator=$prefix:initiator
# shellcheck disable=SC2034
second_initiator=$prefix:second
iface=kst
second_iface=kst2
netdev=kst0
link=${RDMA}_kst
addr4=10.77.0.1
addr6=fd77::1
port=3260

configfs=/sys/kernel/config
core=$configfs/target/core
lio=$configfs/target/iscsi
tpg=$lio/$iqn/tpgt_1
np=$tpg/np/$addr4:$port
scratch=/run/lio-iser-kst
statistics=/sys/kernel/debug/lio_iser/statistics

# Emulated processors and sanitizers make everything some twenty times slower.
find_time_scale()
{
	if grep -q 'TCG' /proc/cpuinfo; then
		TIME_SCALE=5
	elif with_kasan; then
		TIME_SCALE=5
	elif grep -q 'User Mode Linux' /proc/cpuinfo; then
		TIME_SCALE=2
	else
		TIME_SCALE=1
	fi
}

with_kasan()
{
	grep -qw kasan_report /proc/kallsyms
}

[ -n "${TIME_SCALE:-}" ] || find_time_scale

# rounds FULL QUICK: sets rounds, how often a check repeats.
rounds()
{
	rounds=$1
	if [ "$QUICK" = 1 ]; then
		rounds=$2
	fi
}

# ---- results ---------------------------------------------------------------

check_names=()
check_functions=()
check_limits=()
failed=0
passed=0
skipped=0

# check NAME FUNCTION [SECONDS]: enrols a check; run_checks runs them in order.
check()
{
	[[ $1 =~ ${CHECKS:-.} ]] || return 0
	check_names+=("$1")
	check_functions+=("$2")
	check_limits+=($((${3:-60} * TIME_SCALE)))
}

# Inside a check: says why it ends.
fail()
{
	echo "$*" >&2
	exit 1
}

skip()
{
	echo "$*" > "$scratch/skip"
	exit 4
}

# A figure that is shown whether or not the check passes.
table()
{
	printf "$@" >> "$scratch/table"
}

pause()
{
	read -rt "$1" -u "$never" || true
}

# make_bounded: what pause and bounded need.
make_bounded()
{
	mkdir -p "$scratch"
	rm -f "$scratch"/fifo*
	mkfifo "$scratch/fifo1" "$scratch/fifo2"
	exec {never}<> "$scratch/fifo1" {ended}<> "$scratch/fifo2"
}

# bounded SECONDS COMMAND...: the command as a job of its own process group.
# Its exit status; or 124: it was killed after the time; or 125: it cannot be
# killed, that is, the kernel holds it.
bounded()
{
	local limit=$1 job status

	shift
	# A job that was killed in the past may have reported after all.
	while read -rt 0.01 -u "$ended" _; do :; done
	set -m
	( set -eE
	  trap 'echo "line $LINENO: $BASH_COMMAND" >&2' ERR
	  trap 'echo $? >&"$ended"' EXIT
	  "$@" ) &
	job=$!
	set +m
	if read -rt "$limit" -u "$ended" status; then
		wait "$job"
		# Nothing that a check started outlives it.
		kill -KILL -- -"$job" 2>/dev/null
		return "$status"
	fi
	echo "still running after $limit s:"
	stuck_processes
	kill -KILL -- -"$job" 2>/dev/null
	for _ in {1..50}; do
		pause 0.1
		kill -0 -- -"$job" 2>/dev/null || return 124
	done
	echo "cannot be killed:"
	stuck_processes
	return 125
}

# Whoever waits in the kernel and will not be woken by a signal, and where.
stuck_processes()
{
	local pid

	ps -eo pid=,stat=,wchan:32=,args= | grep -v '\[.*\]$' | tail -n 12
	for pid in $(ps -eo pid=,stat= | awk '$2 ~ /^D/ { print $1 }'); do
		echo "$(ps -o pid=,comm= -p "$pid") is held by the kernel in:"
		sed 's/^/    /' "/proc/$pid/stack" 2>/dev/null | head -n 12
	done
}

# result VERDICT NAME START [DIRECTIVE]
result()
{
	local took

	took=$(((${EPOCHREALTIME/./} - $3) / 100000))
	number=$((number + 1))
	echo "$1 $number - $2 # ${4:-time=$((took / 10)).$((took % 10))s}"
}

run_check()
{
	local name=$1 function=$2 limit=$3 log=$scratch/log
	local start=${EPOCHREALTIME/./} status undone reason

	if [ -e "$scratch/skip" ] || [ -e "$scratch/table" ]; then
		rm -f "$scratch/skip" "$scratch/table"
	fi
	echo "lio-iser-kst: $name" > /dev/kmsg
	bounded "$limit" "$function" > "$log" 2>&1 < /dev/null
	status=$?
	echo "--- tear-down" >> "$log"
	bounded $((60 * TIME_SCALE)) tear_down >> "$log" 2>&1 < /dev/null
	undone=$?
	[ ! -e "$scratch/table" ] || sed 's/^/# /' "$scratch/table"

	if [ $status = 4 ] && [ $undone = 0 ]; then
		skipped=$((skipped + 1))
		read -r reason < "$scratch/skip"
		result ok "$name" "$start" "SKIP $reason"
	elif [ $status = 0 ] && [ $undone = 0 ]; then
		passed=$((passed + 1))
		result ok "$name" "$start"
	else
		failed=$((failed + 1))
		[ $status = 0 ] || echo "#   ended with status $status:"
		tail -n 60 "$log" | sed 's/^/#   /'
		[ $undone = 0 ] || echo "#   tear-down failed ($undone)"
		since_this_check | tail -n 25 | sed 's/^/#   dmesg: /'
		result 'not ok' "$name" "$start"
	fi
	if [ $status = 125 ] || [ $undone = 125 ]; then
		echo "Bail out! the kernel holds a process; restart the guest"
		trap - EXIT
		exit 1
	fi
}

# What the kernel said since the check began.
since_this_check()
{
	dmesg | tac | sed '/lio-iser-kst: /q' | tac
}

# run_checks: everything enrolled, then the state the kernel was left in.
run_checks()
{
	local i number=0

	[ $EUID = 0 ] || { echo "1..0 # SKIP needs root"; exit 4; }
	echo "KTAP version 1"
	make_bounded
	# Not as a condition of if: there the shell would not stop at errors.
	bounded $((90 * TIME_SCALE)) start_up > "$scratch/log" 2>&1 < /dev/null
	if [ $? != 0 ]; then
		sed 's/^/# /' "$scratch/log"
		stop
		if [ -e "$scratch/skip" ]; then
			echo "1..0 # SKIP $(< "$scratch/skip")"
			exit 4
		fi
		echo "1..$((${#check_names[@]} + 1))"
		echo "Bail out! no RDMA link, module or initiator to test with"
		exit 1
	fi
	trap stop EXIT
	echo "1..$((${#check_names[@]} + 1))"
	echo "# ${0##*/}: $TARGET_MODULE over $RDMA," \
	     "kernel $(uname -r), time limits times $TIME_SCALE"
	for i in "${!check_names[@]}"; do
		run_check "${check_names[i]}" "${check_functions[i]}" \
			"${check_limits[i]}"
	done
	run_check "health: kernel log, RDMA objects, taint" \
		health_of_this_run $((60 * TIME_SCALE))
	trap - EXIT
	stop
	echo "# passed $passed failed $failed skipped $skipped"
	if [ $failed -gt 0 ]; then
		exit 1
	elif [ $passed -le 1 ]; then
		exit 4
	fi
	exit 0
}

health_of_this_run()
{
	health_check "$scratch/health"
}

# ---- waiting ---------------------------------------------------------------

# until_true SECONDS COMMAND...: polls; fails when the time is over.
until_true()
{
	local limit=$(($1 * TIME_SCALE)) end

	end=$((SECONDS + limit + 1))
	shift
	until "$@" 2>/dev/null; do
		if [ $SECONDS -ge $end ]; then
			echo "not within $limit s: $*" >&2
			return 1
		fi
		pause 0.1
	done
}

# within SECONDS COMMAND...: an outside command that has to end in time.
within()
{
	local limit=$(($1 * TIME_SCALE)) status=0

	shift
	timeout -k 2 "$limit" "$@" || status=$?
	if [ $status = 124 ] || [ $status = 137 ]; then
		echo "not within $limit s: $*" >&2
	fi
	return $status
}

# refused_in_time COMMAND...: refused, and not by running into the login's
# time-out, which is 10 s.
refused_in_time()
{
	local start=$SECONDS

	refused "$@"
	took_at_most 8 $start "the refusal"
}

# refused COMMAND...: succeeds if the command fails, whatever the reason.
refused()
{
	if "$@"; then
		echo "was accepted: $*" >&2
		return 1
	fi
}

# write_to VALUE FILE: a kernel attribute. Without a newline: LIO would make it
# part of a name or a secret.
write_to()
{
	if ! printf %s "$1" > "$2"; then
		echo "cannot write '$1' to $2" >&2
		return 1
	fi
}

# is VALUE WANTED WHAT
is()
{
	if [ "$1" != "$2" ]; then
		echo "$3: is '$1', should be '$2'" >&2
		return 1
	fi
}

# holds FILE VALUE: the first line of a kernel attribute.
holds()
{
	local line

	read -r line < "$1" && [ "$line" = "$2" ]
}

# took_at_most SECONDS START WHAT: by $SECONDS.
took_at_most()
{
	[ $((SECONDS - $2)) -le $(($1 * TIME_SCALE)) ] ||
		fail "$3 took $((SECONDS - $2)) s"
}

# ---- link, module and initiator daemon --------------------------------------

start_up()
{
	local tool

	for tool in iscsiadm rdma fio sg_reset; do
		command -v $tool > /dev/null || skip "$tool is not installed"
	done
	modprobe -aq ib_iser sd_mod sg || true
	modprobe -q null_blk nr_devices=0 || true
	base_modules_up
	mountpoint -q /sys/kernel/debug ||
		mount -t debugfs debugfs /sys/kernel/debug || true
	leftovers_down
	health_start "$scratch/health"
	load_target_module
	netdev_up
	rdma_link_add
	health_remember_objects "$scratch/health"
	start_iscsid
	iface_up $iface $initiator
}

# What a target and a user-space initiator need of the kernel.
base_modules_up()
{
	modprobe -aq configfs ib_core rdma_cm ib_uverbs rdma_ucm \
		iscsi_target_mod target_core_mod target_core_file \
		target_core_iblock dummy || true
	mountpoint -q $configfs || mount -t configfs configfs $configfs
}

# The core itself asks for "ib_isert" when a portal is switched to iSER, so
# that name has to lead to the module under test. The other one is taken out:
# whichever registers first serves.
load_target_module()
{
	local other=ib_isert

	mkdir -p /run/modprobe.d
	if [ "$TARGET_MODULE" = ib_isert ]; then
		other=lio_iser
		rm -f /run/modprobe.d/lio-iser-kst.conf
	else
		echo "alias ib_isert $TARGET_MODULE" \
			> /run/modprobe.d/lio-iser-kst.conf
	fi
	[ ! -d /sys/module/$other ] || rmmod $other
	[ -d "/sys/module/$TARGET_MODULE" ] || insert_target_module
}

insert_target_module()
{
	local ko=${TARGET_KO:-}

	if [ -z "$ko" ]; then
		ko=$(find "/lib/modules/$(uname -r)/" \
			-name "$TARGET_MODULE.ko*" -print -quit)
	fi
	[ -n "$ko" ] || fail "no $TARGET_MODULE.ko: install it or set TARGET_KO"
	within 30 insmod "$ko"
}

netdev_up()
{
	ip -batch - <<- end
	link add $netdev address 02:77:00:00:00:01 mtu 4200 type dummy
	link set $netdev up
	address add $addr4/24 dev $netdev
	address add $addr6/64 dev $netdev nodad
	end
}

rdma_link_add()
{
	modprobe -q "rdma_$RDMA" || modprobe -q "$RDMA" || true
	within 10 rdma link add $link type "$RDMA" netdev $netdev
	until_true 5 holds /sys/class/infiniband/$link/ports/1/state '4: ACTIVE'
}

rdma_link_delete()
{
	within 20 rdma link delete $link
}

rdma_link_exists()
{
	[ -d /sys/class/infiniband/$link ]
}

start_iscsid()
{
	mkdir -p /run/lock/iscsi
	[ -s /etc/iscsi/initiatorname.iscsi ] ||
		echo "InitiatorName=$initiator" > /etc/iscsi/initiatorname.iscsi
	pidof iscsid > /dev/null && return 0
	setsid iscsid < /dev/null > /dev/null 2>&1
	until_true 10 pidof iscsid > /dev/null
}

# iface_up NAME INITIATOR
iface_up()
{
	iscsiadm -m iface -I "$1" -o new > /dev/null || return 1
	iscsiadm -m iface -I "$1" -o update \
		-n iface.transport_name -v iser \
		-n iface.initiatorname -v "$2" > /dev/null
}

# What an earlier, killed run may have left.
leftovers_down()
{
	tear_down > /dev/null 2>&1 || true
	! rdma_link_exists || rdma link delete $link || true
	[ ! -e /sys/class/net/$netdev ] || ip link delete $netdev || true
	# Deleting an iface takes its node records along.
	forget_records || true
	iscsiadm -m iface -I $iface -o delete > /dev/null 2>&1 || true
	rm -f "$scratch/skip"
}

stop()
{
	bounded $((60 * TIME_SCALE)) leftovers_down > /dev/null 2>&1 < /dev/null
	rm -f /run/modprobe.d/lio-iser-kst.conf
}

# ---- backstores --------------------------------------------------------------

# Each sets store to the configfs path of the backstore, for lun_add.

# ramdisk NAME MIB
ramdisk()
{
	store=$core/rd_mcp_77/$1
	[ -d "$store" ] || mkdir -p "$store"
	write_to "rd_pages=$(($2 * 256))" "$store/control"
	backstore_enable "$1"
}

# fileio NAME MIB
fileio()
{
	store=$core/fileio_77/$1
	mkdir -p "$store"
	truncate -s "${2}M" "$scratch/$1.img"
	write_to "fd_dev_name=$scratch/$1.img,fd_dev_size=$(($2 << 20))" \
		"$store/control"
	backstore_enable "$1"
}

# iblock NAME DEVICE
iblock()
{
	store=$core/iblock_77/$1
	mkdir -p "$store"
	write_to "udev_path=$2" "$store/control"
	write_to "$2" "$store/udev_path"
	backstore_enable "$1"
}

backstore_enable()
{
	write_to 1 "$store/enable"
	write_to "kst-$1-of-lio-iser" "$store/wwn/vpd_unit_serial"
}

# null_disk NAME MIB: a block device that keeps data; sets null_disk.
null_disk()
{
	local path=$configfs/nullb/kst_$1 index

	mkdir -p "$path"
	write_to "$2" "$path/size"
	write_to 1 "$path/memory_backed"
	write_to 1 "$path/power"
	if [ -e "/sys/block/kst_$1" ]; then
		null_disk=/dev/kst_$1
	else
		read -r index < "$path/index"
		null_disk=/dev/nullb$index
	fi
}

# ---- target ------------------------------------------------------------------

# target_new [IQN]: open to every initiator; no LUN, no portal yet.
target_new()
{
	local tpg=$lio/${1:-$iqn}/tpgt_1

	[ -d "$tpg" ] || mkdir -p "$tpg"
	write_to 0 "$tpg/attrib/authentication"
	write_to 1 "$tpg/attrib/generate_node_acls"
	write_to 1 "$tpg/attrib/cache_dynamic_acls"
	write_to 0 "$tpg/attrib/demo_mode_write_protect"
	write_to 1 "$tpg/enable"
}

# lun_add [LUN] [IQN]: the backstore in $store.
lun_add()
{
	local lun=$lio/${2:-$iqn}/tpgt_1/lun/lun_${1:-0}

	[ -d "$lun" ] || mkdir "$lun"
	ln -s "$store" "$lun/kst"
}

# acl_add INITIATOR: an ACL with LUN 0; makes the target a closed one.
acl_add()
{
	write_to 0 "$tpg/attrib/generate_node_acls"
	mkdir "$tpg/acls/$1" "$tpg/acls/$1/lun_0"
	ln -s "$tpg/lun/lun_0" "$tpg/acls/$1/lun_0/kst"
}

# portal_add [IP:PORT] [IQN]
portal_add()
{
	local np=$lio/${2:-$iqn}/tpgt_1/np/${1:-$addr4:$port}

	portal_directory "$np"
	write_to 1 "$np/iser"
	served_by_target_module
}

# LIO listens on the portal's TCP port itself, and an iWARP listener wants the
# same one. The in-tree driver can only be tested over siw if LIO's socket is
# put out of the way, in another network namespace.
portal_directory()
{
	if [ -d "$1" ]; then
		return 0
	elif [ "$RDMA" = siw ] && [ "$TARGET_MODULE" = ib_isert ]; then
		unshare -n mkdir "$@"
	else
		mkdir "$@"
	fi
}

served_by_target_module()
{
	local users

	read -r users < "/sys/module/$TARGET_MODULE/refcnt"
	[ "$users" -ge 1 ] ||
		fail "the portal is not served by $TARGET_MODULE"
}

# target_up [MIB]: the usual one: a ramdisk at LUN 0, one IPv4 portal.
target_up()
{
	mkdir -p "$tpg" "$tpg/lun/lun_0" $core/rd_mcp_77/disk
	ramdisk disk "${1:-32}"
	lun_add
	target_new
	portal_add
}

# targets_down [IQN]: that one, or all of ours with their backstores. Links
# first, then directories from the leaves, in one go each.
targets_down()
{
	local path link links=() directories=() last=()

	shopt -s nullglob
	for path in "$lio/${1:-$prefix}"*; do
		echo 0 > "$path/tpgt_1/enable"
		for link in "$path"/tpgt_1/acls/*/lun_*/* \
				"$path"/tpgt_1/lun/lun_*/*; do
			[ ! -L "$link" ] || links+=("$link")
		done
		directories+=("$path"/tpgt_1/np/*
			"$path"/tpgt_1/acls/*/lun_* "$path"/tpgt_1/acls/*
			"$path"/tpgt_1/lun/lun_*
			"$path"/tpgt_1 "$path")
	done
	if [ -z "${1:-}" ]; then
		directories+=("$core"/*_77/*/ "$core"/*_77)
		for path in "$core"/*/kst_cli; do
			directories+=("$path" "${path%/*}")
		done
		for path in $configfs/nullb/kst_*; do
			last+=("$path")
		done
	fi
	shopt -u nullglob
	[ ${#links[@]} = 0 ] || rm "${links[@]}"
	[ ${#directories[@]} = 0 ] || rmdir "${directories[@]}"
	for path in "${last[@]}"; do
		echo 0 > "$path/power"
		rmdir "$path"
	done
	[ ! -e $scratch/disk.img ] || rm $scratch/*.img
}

# sessions_are COUNT [IQN]: as the target counts them.
sessions_are()
{
	holds "$lio/${2:-$iqn}/fabric_statistics/iscsi_instance/sessions" "$1" ||
		fail "the target's sessions are not $1 but $(cat \
		"$lio/${2:-$iqn}/fabric_statistics/iscsi_instance/sessions")"
}

no_target_sessions()
{
	holds "$lio/${1:-$iqn}/fabric_statistics/iscsi_instance/sessions" 0
}

# Connections that the module has not forgotten, in whatever state.
no_connections()
{
	local key value

	[ -r $statistics ] || return 0
	while read -r key value; do
		[ "$key" != connections_alive ] || [ "$value" = 0 ] || return 1
	done < $statistics
}

a_target_session()
{
	! no_target_sessions
}

# logins_are COUNT: how many the target has accepted.
logins_are()
{
	local line

	read -r line < $lio/$iqn/fabric_statistics/iscsi_login_stats/accepts
	is "$line" "$1" "logins the target counts"
}

# Connected queue pairs, of both ends: sets queue_pairs.
count_queue_pairs()
{
	local line

	queue_pairs=0
	while read -r line; do
		[[ $line != *"link $link/"*'type RC'* ]] ||
			queue_pairs=$((queue_pairs + 1))
	done < <(rdma resource show qp)
}

no_queue_pairs()
{
	count_queue_pairs
	[ $queue_pairs = 0 ]
}

# ---- initiator ----------------------------------------------------------------

# set_portal [IP]: sets portal, as iscsiadm wants it. On siw the port is not
# the portal's: see portal_directory.
set_portal()
{
	local rdma_port=$port

	if [ "$RDMA" = siw ] && [ "$TARGET_MODULE" != ib_isert ]; then
		rdma_port=$((port + ${IWARP_PORT_OFFSET:-1}))
	fi
	case ${1:-$addr4} in
	*:*)	portal=[$1]:$rdma_port ;;
	*)	portal=${1:-$addr4}:$rdma_port ;;
	esac
}

set_portal
node_portal=$portal,1

# node_new [IQN] [IP] [IFACE]: a node record that gives up soon. The usual one
# is kept from check to check, as long as nobody changes it.
node_new()
{
	local node_iqn=${1:-$iqn} by=${3:-$iface} portal

	set_portal "${2:-$addr4}"
	# Without the portal group's tag, records of two ifaces are one.
	node_portal=$portal,1
	[ ! -e "$scratch/node.$node_iqn.$portal.$by" ] || return 0
	iscsiadm -m node -T "$node_iqn" -p "$node_portal" -I "$by" \
		-o new > /dev/null
	node_update "$node_iqn" "$by" \
		node.session.initial_login_retry_max 1 \
		node.session.timeo.replacement_timeout $((5 * TIME_SCALE)) \
		node.conn[0].timeo.login_timeout $((10 * TIME_SCALE)) \
		node.conn[0].timeo.logout_timeout $((10 * TIME_SCALE)) \
		node.session.err_timeo.abort_timeout $((10 * TIME_SCALE)) \
		node.session.err_timeo.lu_reset_timeout $((15 * TIME_SCALE)) \
		node.conn[0].timeo.noop_out_interval $((5 * TIME_SCALE)) \
		node.conn[0].timeo.noop_out_timeout $((5 * TIME_SCALE))
	true > "$scratch/node.$node_iqn.$portal.$by"
}

node_update()
{
	local node_iqn=$1 by=$2 pairs=()

	shift 2
	while [ $# -ge 2 ]; do
		pairs+=(-n "$1" -v "$2")
		shift 2
	done
	iscsiadm -m node -T "$node_iqn" -p "$node_portal" -I "$by" -o update \
		"${pairs[@]}"
}

# node_set KEY VALUE [KEY VALUE]...: in the usual record, for this check.
node_set()
{
	true > "$scratch/node.changed"
	node_update $iqn $iface "$@"
}

# login [IQN] [IFACE]: one attempt, at the portal of the latest record.
login()
{
	within 30 iscsiadm -m node -T "${1:-$iqn}" -p "$node_portal" \
		-I "${2:-$iface}" --login
}

logout()
{
	within 30 iscsiadm -m node -T "${1:-$iqn}" -p "$node_portal" \
		-I "${2:-$iface}" --logout
}

# log_in [IQN] [IP] [IFACE]: record and login in one.
log_in()
{
	node_new "$@"
	login "${1:-$iqn}" "${3:-$iface}"
}

# find_session [IQN] [INITIATOR]: sets session, its directory in sysfs.
find_session()
{
	for session in /sys/class/iscsi_session/session*; do
		holds "$session/targetname" "${1:-$iqn}" &&
			holds "$session/initiatorname" "${2:-$initiator}" &&
			return 0
	done 2>/dev/null
	return 1
}

logged_in()
{
	find_session "$@" && holds "$session/state" LOGGED_IN
}

logged_out()
{
	! find_session "$@"
}

# find_disk [IQN] [INITIATOR] [LUN]: waits for it; sets disk, as /dev/sda.
find_disk()
{
	find_session "${1:-$iqn}" "${2:-$initiator}" || fail "no session"
	until_true 15 disk_in "$session" "${3:-0}"
}

disk_in()
{
	for disk in "$1"/device/target*/*:"$2"/block/*; do
		disk=/dev/${disk##*/}
		# The kernel makes the node a moment before it can be opened.
		[ -b "$disk" ] && : < "$disk" && return 0
	done
	return 1
}

# read_disk: a little, past all caches.
read_disk()
{
	within 20 dd if="$disk" of=/dev/null bs=64k count=16 iflag=direct \
		status=none
}

initiators_down()
{
	local one name left=0 records

	for one in /sys/class/iscsi_session/session*; do
		read -r name < "$one/targetname" || continue
		[[ $name != "$prefix"* ]] ||
			within 20 iscsiadm -m session -r "${one##*session}" \
				--logout > /dev/null || true
	done 2>/dev/null
	for one in /sys/class/iscsi_session/session*; do
		read -r name < "$one/targetname" || continue
		if [[ $name = "$prefix"* ]]; then
			echo "session to $name does not end" >&2
			left=1
		fi
	done 2>/dev/null
	records=("$scratch"/node.*)
	case "${records[*]}" in
	"$scratch/node.*" | "$scratch/node.$iqn.$addr4:"*".$iface") ;;
	*)	forget_records ;;
	esac
	return $left
}

forget_records()
{
	rm -rf "$scratch"/node.* /etc/iscsi/nodes/"$prefix"* \
		/etc/iscsi/send_targets/*"$addr4"*
	[ ! -e "/etc/iscsi/ifaces/$second_iface" ] ||
		iscsiadm -m iface -I $second_iface -o delete > /dev/null
}

# tear_down: after each check; fails if something could not be taken away.
tear_down()
{
	local left=0

	if declare -F tear_down_more > /dev/null; then
		tear_down_more || left=1
	fi
	initiators_down || left=1
	targets_down || left=1
	if rdma_link_exists && ! until_true 20 no_queue_pairs; then
		rdma -d resource show qp
		rdma -d resource show pd
		rdma -d resource show cm_id
		cat /sys/kernel/debug/lio_iser/connections || true
		left=1
	fi
	return $left
}

# ---- I/O ------------------------------------------------------------------------

# fio_job NAME OPTIONS...: one fio run, direct, with its report in the log.
fio_job()
{
	local name=$1

	shift
	fio --name="$name" --verify_state_save=0 --ioengine=libaio --direct=1 --group_reporting \
		--output="$scratch/fio.$name" "$@" || {
		cat "$scratch/fio.$name"
		return 1
	}
}

# load_start [OPTIONS...]: random reads and writes on $disk, in the background.
load_start()
{
	fio --name=load --verify_state_save=0 --ioengine=libaio --direct=1 --filename="$disk" \
		--rw=randrw --bs=4k --iodepth=16 --size=8m --time_based \
		--runtime=$((60 * TIME_SCALE)) \
		--output="$scratch/fio.load" "$@" &
	load_pid=$!
	until_true 30 has_traffic
}

# has_traffic: $disk, right now.
has_traffic()
{
	local before now

	read -r before _ < "/sys/block/${disk#/dev/}/stat"
	pause 0.3
	read -r now _ < "/sys/block/${disk#/dev/}/stat"
	[ "$now" -gt "$before" ]
}

load_stop()
{
	kill "$load_pid" 2>/dev/null || true
	until_true 30 load_gone
}

load_gone()
{
	! kill -0 "$load_pid" 2>/dev/null
}
