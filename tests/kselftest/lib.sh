#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What every test here stands on: KTAP output with a time limit on each check,
# and the words the checks are written in (an RDMA link, a target, a login, a
# disk). State is kept in the kernel, never in shell variables: the tear-down
# finds its objects by name and so cleans up after a check that was killed.
#
# Environment:
#   TARGET_MODULE   lio_iser (default) or ib_isert
#   TARGET_KO       path of the module, where modprobe does not know it
#   RDMA            rxe (default) or siw
#   QUICK           1: fewer rounds and smaller files, for slow machines
#   TIME_SCALE      factor on every time limit (default: found out)

set -u
# iscsiadm and the sg3 tools are in sbin.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/health.sh"

TARGET_MODULE=${TARGET_MODULE:-lio_iser}
RDMA=${RDMA:-rxe}
QUICK=${QUICK:-0}

prefix=iqn.2003-01.org.lio-iser.kst
iqn=$prefix:disk
initiator=$prefix:initiator
second_initiator=$prefix:second
iface=kst
second_iface=kst2
netdev=kst0
link=${RDMA}_kst
addr4=10.77.0.1
addr6=fd77::1
port=3260

configfs=/sys/kernel/config
target=$configfs/target
lio=$target/iscsi
scratch=/run/lio-iser-kst

# Emulated processors and sanitizers make everything some twenty times slower.
found_time_scale()
{
	if grep -q 'TCG' /proc/cpuinfo; then
		echo 6
	elif grep -qw kasan_report /proc/kallsyms; then
		echo 5
	else
		echo 1
	fi
}

TIME_SCALE=${TIME_SCALE:-$(found_time_scale)}

# rounds FULL QUICK: how often a check repeats.
rounds()
{
	if [ "$QUICK" = 1 ]; then echo "$2"; else echo "$1"; fi
}

seconds()
{
	echo $(($1 * TIME_SCALE))
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
	check_names+=("$1")
	check_functions+=("$2")
	check_limits+=("$(seconds "${3:-60}")")
}

# Inside a check: says why it ends.
fail()
{
	echo "$*"
	exit 1
}

skip()
{
	echo "$*" > "$scratch/skip"
	exit 4
}

# bounded SECONDS COMMAND...: the command as a job of its own process group.
# 0 to 255: its exit status; 124: it was killed after the time; 125: it cannot
# be killed, that is, the kernel holds it.
bounded()
{
	local limit=$1 job timer which status

	shift
	set -m
	( set -eE; trap 'echo "line $LINENO: $BASH_COMMAND"' ERR; "$@" ) &
	job=$!
	sleep "$limit" &
	timer=$!
	set +m
	wait -n -p which "$job" "$timer"
	status=$?
	if [ "$which" = "$job" ]; then
		kill -- -"$timer" 2>/dev/null
		wait "$timer" 2>/dev/null
		# Nothing a check started outlives it.
		kill -KILL -- -"$job" 2>/dev/null
		return $status
	fi
	echo "still running after $limit s:"
	stuck_processes "$job"
	kill -TERM -- -"$job" 2>/dev/null
	sleep 1
	kill -KILL -- -"$job" 2>/dev/null
	for _ in $(seq 50); do
		kill -0 -- -"$job" 2>/dev/null || return 124
		sleep 0.1
	done
	echo "cannot be killed:"
	stuck_processes "$job"
	return 125
}

stuck_processes()
{
	local pid

	for pid in $(ps -o pid= --ppid "$1" 2>/dev/null; \
		     ps -eo pid=,stat= | awk '$2 ~ /^D/ { print $1 }'); do
		echo "  $pid $(tr '\0' ' ' < "/proc/$pid/cmdline" 2>/dev/null)" \
		     "[$(cat "/proc/$pid/comm" 2>/dev/null)]" \
		     "waits in $(cat "/proc/$pid/wchan" 2>/dev/null)"
		sed 's/^/    /' "/proc/$pid/stack" 2>/dev/null | head -12
	done
}

result()
{
	local verdict=$1 name=$2 start=$3 directive=${4:-}

	if [ -z "$directive" ]; then
		directive="time=$(awk -v a="$start" -v b="$(now)" \
			'BEGIN { printf "%.1fs", b - a }')"
	fi
	number=$((number + 1))
	echo "$verdict $number - $name # $directive"
}

now()
{
	cut -d' ' -f1 /proc/uptime
}

run_check()
{
	local name=$1 function=$2 limit=$3 log=$scratch/log start status undone

	rm -f "$scratch/skip"
	start=$(now)
	echo "lio-iser-kst: $name" > /dev/kmsg
	bounded "$limit" "$function" > "$log" 2>&1 < /dev/null
	status=$?
	echo "--- tear-down" >> "$log"
	bounded "$(seconds 60)" tear_down >> "$log" 2>&1 < /dev/null
	undone=$?

	if [ $status = 4 ] && [ $undone = 0 ]; then
		skipped=$((skipped + 1))
		result ok "$name" "$start" "SKIP $(cat "$scratch/skip")"
	elif [ $status = 0 ] && [ $undone = 0 ]; then
		passed=$((passed + 1))
		grep '^table:' "$log" | sed 's/^table:/#/'
		result ok "$name" "$start"
	else
		failed=$((failed + 1))
		[ $undone = 0 ] || echo "# tear-down failed ($undone)"
		tail -n 60 "$log" | sed 's/^/#   /'
		dmesg | sed -n "/lio-iser-kst: ${name//[\/\[\]*.]/.}/,\$p" |
			tail -n 25 | sed 's/^/#   dmesg: /'
		result 'not ok' "$name" "$start"
	fi
	if [ $status = 125 ] || [ $undone = 125 ]; then
		echo "Bail out! the kernel holds a process; restart the guest"
		trap - EXIT
		exit 1
	fi
}

# run_checks: everything enrolled, then the state the kernel was left in.
run_checks()
{
	local i number=0

	[ "$(id -u)" = 0 ] || { echo "1..0 # SKIP needs root"; exit 4; }
	echo "KTAP version 1"
	echo "1..$((${#check_names[@]} + 1))"
	echo "# $(basename "$0"): $TARGET_MODULE over $RDMA," \
	     "kernel $(uname -r), time limits times $TIME_SCALE"
	mkdir -p "$scratch"
	if ! start_up > "$scratch/log" 2>&1; then
		sed 's/^/# /' "$scratch/log"
		if [ -e "$scratch/skip" ]; then
			stop > /dev/null 2>&1
			echo "1..0 # SKIP $(cat "$scratch/skip")"
			exit 4
		fi
		stop > /dev/null 2>&1
		echo "Bail out! no RDMA link, module or initiator to test with"
		exit 1
	fi
	trap stop EXIT
	for i in "${!check_names[@]}"; do
		run_check "${check_names[i]}" "${check_functions[i]}" \
			"${check_limits[i]}"
	done
	run_check "health: kernel log, RDMA objects, taint" \
		health_of_this_run "$(seconds 60)"
	trap - EXIT
	stop > /dev/null 2>&1
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
	local limit end

	limit=$(seconds "$1")
	end=$((SECONDS + limit + 1))
	shift
	while ! "$@" > /dev/null 2>&1; do
		if [ $SECONDS -ge $end ]; then
			echo "not within $limit s: $*"
			return 1
		fi
		sleep 0.1
	done
}

# within SECONDS COMMAND...: an outside command that has to end in time.
within()
{
	local limit status=0

	limit=$(seconds "$1")
	shift
	timeout -k 2 "$limit" "$@" || status=$?
	if [ $status = 124 ] || [ $status = 137 ]; then
		echo "not within $limit s: $*"
	fi
	return $status
}

# refused COMMAND...: succeeds if the command fails, whatever the reason.
refused()
{
	if "$@"; then
		echo "was accepted: $*"
		return 1
	fi
}

# write_to VALUE FILE: a kernel attribute, with the reason if it is refused.
write_to()
{
	if ! echo "$1" > "$2"; then
		echo "cannot write '$1' to $2"
		return 1
	fi
}

# is VALUE WANTED WHAT
is()
{
	if [ "$1" != "$2" ]; then
		echo "$3: is '$1', should be '$2'"
		return 1
	fi
}

# ---- link, module and initiator daemon --------------------------------------

start_up()
{
	command -v iscsiadm rdma fio sg_reset > /dev/null ||
		missing "open-iscsi, rdma, fio or sg3-utils not installed"
	mountpoint -q $configfs || mount -t configfs configfs $configfs
	modprobe -aq configfs ib_core rdma_cm iscsi_target_mod \
		target_core_mod target_core_file target_core_iblock \
		ib_iser dummy null_blk nr_devices=0 || true
	modprobe -q null_blk nr_devices=0 || true
	stop_leftovers
	health_start "$scratch/health"
	load_target_module
	link_up
	health_remember_objects "$scratch/health"
	start_iscsid
	initiator_up
}

missing()
{
	echo "$*" | tee "$scratch/skip"
	exit 4
}

# The core itself asks for "ib_isert" when a portal is switched to iSER, so
# that name has to lead to the module under test and to no other.
load_target_module()
{
	local other=ib_isert

	[ "$TARGET_MODULE" = ib_isert ] && other=lio_iser
	mkdir -p /run/modprobe.d
	rm -f /run/modprobe.d/lio-iser-kst.conf
	if [ "$TARGET_MODULE" != ib_isert ]; then
		echo "alias ib_isert $TARGET_MODULE" \
			> /run/modprobe.d/lio-iser-kst.conf
	fi
	if grep -qw "^$other" /proc/modules; then
		rmmod $other || return 1
	fi
	grep -qw "^$TARGET_MODULE" /proc/modules && return 0
	insert_target_module
}

insert_target_module()
{
	local ko=${TARGET_KO:-}

	if [ -z "$ko" ]; then
		ko=$(find "/lib/modules/$(uname -r)" \
			-name "$TARGET_MODULE.ko*" | head -n 1)
	fi
	if [ -z "$ko" ]; then
		echo "no $TARGET_MODULE.ko: set TARGET_KO or install it"
		return 1
	fi
	within 30 insmod "$ko"
}

link_up()
{
	ip link show $netdev > /dev/null 2>&1 ||
		ip link add $netdev address 02:77:00:00:00:01 type dummy
	ip link set $netdev mtu 4200 up
	ip addr replace $addr4/24 dev $netdev
	ip addr replace $addr6/64 dev $netdev nodad
	rdma_link_add
}

rdma_link_add()
{
	modprobe -q "rdma_$RDMA" || modprobe -q "$RDMA" || true
	within 10 rdma link add $link type "$RDMA" netdev $netdev
	until_true 5 grep -q ACTIVE /sys/class/infiniband/$link/ports/1/state
}

rdma_link_delete()
{
	within 20 rdma link delete $link
}

start_iscsid()
{
	mkdir -p /run/lock/iscsi
	[ -s /etc/iscsi/initiatorname.iscsi ] ||
		echo "InitiatorName=$initiator" > /etc/iscsi/initiatorname.iscsi
	pidof iscsid > /dev/null && return 0
	setsid iscsid < /dev/null > /dev/null 2>&1
	until_true 10 pidof iscsid
}

initiator_up()
{
	iface_up $iface $initiator
}

iface_up()
{
	iscsiadm -m iface -I "$1" -o delete > /dev/null 2>&1 || true
	iscsiadm -m iface -I "$1" -o new > /dev/null || return 1
	iscsiadm -m iface -I "$1" -o update \
		-n iface.transport_name -v iser > /dev/null || return 1
	iscsiadm -m iface -I "$1" -o update \
		-n iface.initiatorname -v "$2" > /dev/null
}

# What an earlier, killed run may have left.
stop_leftovers()
{
	tear_down > /dev/null 2>&1
	rdma link delete $link > /dev/null 2>&1
	ip link delete $netdev > /dev/null 2>&1
	rm -f "$scratch/skip"
	true
}

stop()
{
	bounded "$(seconds 60)" tear_down > /dev/null 2>&1
	iscsiadm -m iface -I $iface -o delete > /dev/null 2>&1
	iscsiadm -m iface -I $second_iface -o delete > /dev/null 2>&1
	within 20 rdma link delete $link > /dev/null 2>&1
	ip link delete $netdev > /dev/null 2>&1
	rm -f /run/modprobe.d/lio-iser-kst.conf
	true
}

# ---- backstores --------------------------------------------------------------

# Each prints the configfs path of the backstore, for lun_add.
ramdisk()
{
	local name=$1 mib=$2 path=$target/core/rd_mcp_77/$1

	mkdir -p "$path" || return 1
	write_to "rd_pages=$((mib * 256))" "$path/control" || return 1
	backstore_enable "$path" "$name"
}

fileio()
{
	local name=$1 mib=$2 path=$target/core/fileio_77/$1

	mkdir -p "$path" || return 1
	truncate -s "${mib}M" "$scratch/$name.img"
	write_to "fd_dev_name=$scratch/$name.img,fd_dev_size=$((mib << 20))" \
		"$path/control" || return 1
	backstore_enable "$path" "$name"
}

# iblock NAME DEVICE
iblock()
{
	local name=$1 path=$target/core/iblock_77/$1

	mkdir -p "$path" || return 1
	write_to "udev_path=$2" "$path/control" || return 1
	write_to "$2" "$path/udev_path" || return 1
	backstore_enable "$path" "$name"
}

backstore_enable()
{
	write_to 1 "$1/enable" || return 1
	write_to "$(echo "$2" | sha1sum | cut -c1-32)" \
		"$1/wwn/vpd_unit_serial" > /dev/null || return 1
	echo "$1"
}

# null_disk NAME MIB [DELAY_MS]: a block device that keeps data; prints it.
null_disk()
{
	local path=$configfs/nullb/kst_$1

	mkdir -p "$path" || return 1
	write_to "$2" "$path/size" || return 1
	write_to 1 "$path/memory_backed" || return 1
	if [ -n "${3:-}" ]; then
		write_to 2 "$path/irqmode" || return 1
		write_to $(($3 * 1000000)) "$path/completion_nsec" || return 1
	fi
	write_to 1 "$path/power" || return 1
	if [ -e "/sys/block/kst_$1" ]; then
		echo "/dev/kst_$1"
	else
		echo "/dev/nullb$(cat "$path/index")"
	fi
}

# ---- target ------------------------------------------------------------------

tpg()
{
	echo "$lio/${1:-$iqn}/tpgt_1"
}

# target_new [IQN]: open to every initiator; no LUN, no portal yet.
target_new()
{
	local tpg

	tpg=$(tpg "${1:-$iqn}")
	mkdir -p "$tpg" || return 1
	write_to 0 "$tpg/attrib/authentication"
	write_to 1 "$tpg/attrib/generate_node_acls"
	write_to 1 "$tpg/attrib/cache_dynamic_acls"
	write_to 0 "$tpg/attrib/demo_mode_write_protect"
	write_to 1 "$tpg/enable"
}

# lun_add BACKSTORE [LUN] [IQN]
lun_add()
{
	local lun

	lun=$(tpg "${3:-$iqn}")/lun/lun_${2:-0}
	mkdir -p "$lun" || return 1
	ln -s "$1" "$lun/kst"
}

# acl_add INITIATOR [IQN]: an ACL with LUN 0; makes the target a closed one.
acl_add()
{
	local tpg acl

	tpg=$(tpg "${2:-$iqn}")
	acl=$tpg/acls/$1
	write_to 0 "$tpg/attrib/generate_node_acls"
	mkdir -p "$acl/lun_0" || return 1
	ln -s "$tpg/lun/lun_0" "$acl/lun_0/kst"
}

# portal_add [IP:PORT] [IQN]
portal_add()
{
	local np

	np=$(tpg "${2:-$iqn}")/np/${1:-$addr4:$port}
	portal_directory "$np" || return 1
	write_to 1 "$np/iser" || return 1
	served_by_target_module
}

# LIO listens on the portal's TCP port itself, and an iWARP listener wants the
# same one. The in-tree driver can only be tested over siw if LIO's socket is
# put out of the way, in another network namespace.
portal_directory()
{
	if [ "$RDMA" = siw ] && [ "$TARGET_MODULE" = ib_isert ]; then
		unshare -n mkdir -p "$1"
	else
		mkdir -p "$1"
	fi
}

served_by_target_module()
{
	local users

	users=$(awk -v m="$TARGET_MODULE" '$1 == m { print $3 }' /proc/modules)
	if [ "${users:-0}" -lt 1 ]; then
		echo "the portal is not served by $TARGET_MODULE"
		return 1
	fi
}

# target_up [MIB]: the usual one: a ramdisk at LUN 0, one IPv4 portal.
target_up()
{
	local store

	target_new || return 1
	store=$(ramdisk disk "${1:-32}") || return 1
	lun_add "$store" || return 1
	portal_add
}

# target_down IQN
target_down()
{
	local tpg acl lun np

	tpg=$(tpg "$1")
	[ -d "$tpg" ] || return 0
	echo 0 > "$tpg/enable"
	for np in "$tpg"/np/*; do
		[ -d "$np" ] && rmdir "$np"
	done
	for acl in "$tpg"/acls/*; do
		[ -d "$acl" ] || continue
		for lun in "$acl"/lun_*; do
			[ -d "$lun" ] || continue
			find "$lun" -type l -delete
			rmdir "$lun"
		done
		rmdir "$acl"
	done
	for lun in "$tpg"/lun/lun_*; do
		[ -d "$lun" ] || continue
		find "$lun" -maxdepth 1 -type l -delete
		rmdir "$lun"
	done
	rmdir "$tpg"
	rmdir "$lio/$1"
}

targets_down()
{
	local path

	for path in "$lio/$prefix"*; do
		[ -d "$path" ] && target_down "$(basename "$path")"
	done
	for path in "$target"/core/*_77/*; do
		[ -d "$path/attrib" ] && rmdir "$path"
	done
	for path in "$target"/core/*_77; do
		[ -d "$path" ] && rmdir "$path"
	done
	for path in $configfs/nullb/kst_*; do
		[ -d "$path" ] && { echo 0 > "$path/power"; rmdir "$path"; }
	done
	rm -f "$scratch"/*.img
	true
}

# target_sessions [IQN]: how many the target counts.
target_sessions()
{
	cat "$lio/${1:-$iqn}/fabric_statistics/iscsi_instance/sessions"
}

target_logins()
{
	cat "$lio/${1:-$iqn}/fabric_statistics/iscsi_login_stats/accepts"
}

no_target_sessions()
{
	[ "$(target_sessions "${1:-$iqn}")" = 0 ]
}

# Connected queue pairs of both ends.
queue_pairs()
{
	rdma resource show qp | grep "link $link/" | grep -c 'type RC' || true
}

# ---- initiator ----------------------------------------------------------------

# The port the portal is found at over RDMA: see portal_directory.
rdma_port()
{
	if [ "$RDMA" = siw ] && [ "$TARGET_MODULE" != ib_isert ]; then
		echo $((port + ${IWARP_PORT_OFFSET:-1}))
	else
		echo $port
	fi
}

# portal [IP]: as iscsiadm wants it.
portal()
{
	case ${1:-$addr4} in
	*:*)	echo "[${1}]:$(rdma_port)" ;;
	*)	echo "${1:-$addr4}:$(rdma_port)" ;;
	esac
}

# node_new [IQN] [IP] [IFACE]: a node record that gives up soon.
node_new()
{
	local node_iqn=${1:-$iqn} ip=${2:-$addr4} by=${3:-$iface}

	iscsiadm -m node -T "$node_iqn" -p "$(portal "$ip")" -I "$by" \
		-o new > /dev/null || return 1
	node_set "$node_iqn" "$by" \
		node.session.initial_login_retry_max 1 \
		node.session.timeo.replacement_timeout "$(seconds 5)" \
		node.conn[0].timeo.login_timeout "$(seconds 10)" \
		node.conn[0].timeo.logout_timeout "$(seconds 10)" \
		node.session.err_timeo.abort_timeout "$(seconds 10)" \
		node.session.err_timeo.lu_reset_timeout "$(seconds 15)" \
		node.conn[0].timeo.noop_out_interval "$(seconds 5)" \
		node.conn[0].timeo.noop_out_timeout "$(seconds 5)"
}

# node_set IQN IFACE KEY VALUE [KEY VALUE]...
node_set()
{
	local node_iqn=$1 by=$2
	local pairs=()

	shift 2
	while [ $# -ge 2 ]; do
		pairs+=(-n "$1" -v "$2")
		shift 2
	done
	iscsiadm -m node -T "$node_iqn" -I "$by" -o update "${pairs[@]}"
}

# login [IQN] [IFACE]: one attempt, the record has to exist.
login()
{
	within 30 iscsiadm -m node -T "${1:-$iqn}" -I "${2:-$iface}" --login
}

logout()
{
	within 30 iscsiadm -m node -T "${1:-$iqn}" -I "${2:-$iface}" --logout
}

# log_in [IQN] [IP] [IFACE]: record and login in one.
log_in()
{
	node_new "$@" || return 1
	login "${1:-$iqn}" "${3:-$iface}"
}

# session_of [IQN] [INITIATOR]: its directory in sysfs.
session_of()
{
	local s

	for s in /sys/class/iscsi_session/session*; do
		[ -d "$s" ] || continue
		[ "$(cat "$s/targetname" 2>/dev/null)" = "${1:-$iqn}" ] || continue
		[ "$(cat "$s/initiatorname" 2>/dev/null)" = \
			"${2:-$initiator}" ] || continue
		echo "$s"
		return 0
	done
	return 1
}

logged_in()
{
	local s

	s=$(session_of "$@") || return 1
	[ "$(cat "$s/state")" = LOGGED_IN ]
}

logged_out()
{
	! session_of "$@" > /dev/null
}

# disk_of [IQN] [INITIATOR] [LUN]: waits for it; prints its name, as sda.
disk_of()
{
	local s

	s=$(session_of "${1:-$iqn}" "${2:-$initiator}") || return 1
	until_true 15 disk_in "$s" "${3:-0}" || return 1
	disk_in "$s" "${3:-0}"
}

disk_in()
{
	local path

	for path in "$1"/device/target*/*:"$2"/block/*; do
		[ -b "/dev/$(basename "$path")" ] || return 1
		basename "$path"
		return 0
	done
	return 1
}

initiators_down()
{
	local s left=0

	for s in /sys/class/iscsi_session/session*; do
		[ -d "$s" ] || continue
		case $(cat "$s/targetname" 2>/dev/null) in
		"$prefix"*)
			within 20 iscsiadm -m session -r "${s##*session}" \
				--logout > /dev/null || true ;;
		esac
	done
	for s in /sys/class/iscsi_session/session*; do
		case $(cat "$s/targetname" 2>/dev/null) in
		"$prefix"*)
			echo "session to $(cat "$s/targetname") does not end"
			left=1 ;;
		esac
	done
	for s in /etc/iscsi/nodes/"$prefix"* /var/lib/iscsi/nodes/"$prefix"*; do
		[ -d "$s" ] && rm -rf "$s"
	done
	for s in /etc/iscsi/send_targets /var/lib/iscsi/send_targets; do
		find "$s" -maxdepth 1 -name "*$addr4*" -exec rm -rf {} + \
			2>/dev/null || true
	done
	return $left
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
	until_true 20 no_queue_pairs || {
		left=1
		rdma resource show qp
	}
	return $left
}

no_queue_pairs()
{
	[ "$(queue_pairs)" = 0 ]
}

# ---- I/O ------------------------------------------------------------------------

# fio_job NAME OPTIONS...: one fio run, direct, with its report in the log.
fio_job()
{
	local name=$1

	shift
	fio --name="$name" --ioengine=libaio --direct=1 --group_reporting \
		--output="$scratch/fio.$name" "$@" || {
		cat "$scratch/fio.$name"
		return 1
	}
}

# verified_load DEVICE OPTIONS...: writes and reads back by checksum until told
# to end; in the background. Its end and status: see load_ends.
load_start()
{
	local device=$1

	shift
	fio --name=load --ioengine=libaio --direct=1 --filename="$device" \
		--rw=randrw --bs=4k --iodepth=16 --size=8m --time_based \
		--runtime="$(seconds 60)" --output="$scratch/fio.load" "$@" &
	load_pid=$!
	until_true 10 has_traffic "$(basename "$device")"
}

has_traffic()
{
	local before

	before=$(cut -c1-40 "/sys/block/$1/stat" | awk '{ print $1 }')
	sleep 0.2
	[ "$(awk '{ print $1 }' "/sys/block/$1/stat")" -gt $((before + 10)) ]
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
