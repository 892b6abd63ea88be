#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In a guest: runs the checks of iserverify that $OUT/todo names, lines "GROUP
# NAME", against TARGET over RDMA. Each adds a line to $OUT/results.jsonl, as
# iserverify writes it; the verdicts "hung" and "crashed" are added here.
#
# A verdict that is not good counts only if nothing ran in this guest before:
# an earlier check may be to blame. Ends with 0 when all is done, and with 10
# when the rest wants a fresh guest. $OUT/started says that checks have begun.
#
# Environment: TARGET (lio_iser, ib_isert, tgt), RDMA (rxe, siw), OUT.

[ "$TARGET" = tgt ] || TARGET_MODULE=$TARGET
conformance=${BASH_SOURCE[0]%/*}
. "$conformance/../kselftest/lib.sh"
. "$conformance/../kselftest/raw.sh"
. "$conformance/targets.sh"

fresh_guest=10
log=$scratch/log
said=$scratch/said
check_limit=$((30 * TIME_SCALE))

up()
{
	base_modules_up
	netdev_up
	rdma_link_add
	target_start
}

# What this guest has brought up besides.
more=
chap=off

# get_ready GROUP
get_ready()
{
	if [ "$1" = text ] && [ -z "$more" ]; then
		bounded $((60 * TIME_SCALE)) target_more || return
		more=1
	fi
	if [ "$1" = chap ] && [ $chap = off ]; then
		bounded $((20 * TIME_SCALE)) target_chap on || return
		chap=on
	elif [ "$1" != chap ] && [ $chap = on ]; then
		bounded $((20 * TIME_SCALE)) target_chap off || return
		chap=off
	fi
}

# Nothing has come of this guest yet.
first=1

# result VERDICT WHY: of the check that is under way.
result()
{
	local why=$2

	why=${why//\\/\\\\}
	why=${why//\"/\\\"}
	printf '{"name":"%s","verdict":"%s","why":"%s"}\n' \
		"${left[0]}" "$1" "${why//[[:cntrl:]]/ }" >> "$OUT/results.jsonl"
}

# Ends this guest, whose machine or target may have been damaged.
leave()
{
	exit $fresh_guest
}

# try_again WHY: an earlier check of this guest may be to blame: not counted.
try_again()
{
	echo "${left[0]} ${1//[[:cntrl:]]/ }" >> "$OUT/again"
	leave
}

# bad VERDICT WHY
bad()
{
	[ -n "$first" ] || try_again "$1: $2"
	result "$1" "$2"
	leave
}

# Who waits in the kernel and will not be woken, and where: sets evidence.
find_who_hangs()
{
	local pid name where all=

	for pid in $(ps -eo pid=,stat= | awk '$2 ~ /^D/ { print $1 }'); do
		read -r name < "/proc/$pid/comm" || continue
		where=$(sed -n 's/^\[<0>\] \([^+]*\).*/\1/p' \
			"/proc/$pid/stack" |
			grep -vE '^(schedule|__?wait_|wait_for_c|__switch)' |
			head -n 2 | tr '\n' ' ')
		all+="${all:+; }$name is held in ${where:-the kernel }"
	done 2> /dev/null
	evidence="no end within $check_limit s${all:+; ${all% }}"
}

# take_line JSON: what iserverify says of the check that is under way.
take_line()
{
	local line=$1 why

	case $line in
	*'"name":"innocent"'*)
		return ;;
	*"\"name\":\"${left[0]}\""*) ;;
	*)	# A name that is a group's, too, has chosen more than was asked for.
		return ;;
	esac
	case $line in
	*'"verdict":"failed"'*)
		! target_gone || bad crashed "$evidence"
		if [ -z "$first" ]; then
			why=${line##*'"why":"'}
			try_again "failed: ${why%'"}'*}"
		fi
		printf '%s\n' "$line" >> "$OUT/results.jsonl"
		leave ;;
	esac
	printf '%s\n' "$line" >> "$OUT/results.jsonl"
	first=
	left=("${left[@]:1}")
	[ ${#left[@]} = 0 ] || mark
}

# In the kernel's log, where the check that is under way begins.
mark()
{
	echo "lio-iser-kst: ${left[0]}" > /dev/kmsg
}

# verify OPTIONS...: all that is left of this batch.
verify()
{
	"$raw_program" --write --format jsonl --initiator "$initiator" \
		--long-target "$raw_long_iqn" --targets "$raw_targets" \
		"$@" "${left[@]/#/--only=}" \
		"$addr4:${portal##*:}" "$iqn" "$target_lun" 2> "$said"
	echo "end $?"
}

# batch GROUP NAME...: checks that the target is set up for in one way.
batch()
{
	local group=$1 options=() line=

	shift
	left=("$@")
	get_ready "$group" > "$log" 2>&1 ||
		bad failed "the target cannot be set up for it: $(tail -n 1 "$log")"
	[ "$group" != chap ] || options=(--chap "$raw_account")
	mark
	exec {lines}< <(verify "${options[@]}")
	while read -rt $check_limit -u "$lines" line; do
		case $line in
		end\ *)	break ;;
		*)	take_line "$line" ;;
		esac
	done
	exec {lines}<&-
	[ ${#left[@]} != 0 ] || return 0
	! target_gone || bad crashed "$evidence"
	case $line in
	end\ *)
		read -r line < "$said"
		bad failed "cannot be tested: ${line#iserverify: }" ;;
	*)
		find_who_hangs
		bad hung "$evidence" ;;
	esac
}

# Groups that the target is set up for in the same way.
kind_of()
{
	case $1 in
	chap | text) kind=$1 ;;
	*) kind=plain ;;
	esac
}

all_batches()
{
	local group name kind batch_kind='' names=()

	while read -r -u "$todo" group name; do
		kind_of "$group"
		if [ "$kind" != "$batch_kind" ] && [ ${#names[@]} != 0 ]; then
			batch "$batch_kind" "${names[@]}"
			names=()
		fi
		batch_kind=$kind
		if not_applicable "$name"; then
			left=("$name")
			result skipped "$reason"
		else
			names+=("$name")
		fi
	done
	[ ${#names[@]} = 0 ] || batch "$batch_kind" "${names[@]}"
}

main()
{
	mkdir -p "$OUT/logs"
	make_bounded
	set_portal
	bounded $((90 * TIME_SCALE)) up > "$log" 2>&1 < /dev/null
	if [ $? != 0 ]; then
		tail -n 20 "$log"
		exit 1
	fi
	uname -r > "$OUT/kernel"
	true > "$OUT/started"
	exec {todo}< "$OUT/todo"
	all_batches
	until_true 20 no_queue_pairs > /dev/null 2>&1 ||
		fact "$queue_pairs queue pairs were still there 20 s after" \
			"the last check"
	exit 0
}

main
