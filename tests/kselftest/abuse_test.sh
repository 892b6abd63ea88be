#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# iserverify's abuse mode: whatever an initiator sends, nothing is reported by
# the kernel, nothing is left behind, and who is innocent does not notice.
#
# Environment:
#   ABUSE_SECONDS   how long, in all (default 60)
#   ABUSE_SEED      of the first round (default: drawn)
#   ABUSE_ONLY      a pattern of the kinds of cases

. "${BASH_SOURCE[0]%/*}/lib.sh"

program=${ISERVERIFY:-$here/../../build/tools/iserverify/iserverify}
seconds=${ABUSE_SECONDS:-60}
seed=${ABUSE_SEED:-$((RANDOM << 15 | RANDOM))}
slabs=/sys/kernel/slab
# A round is as long as the kernel's log holds what the target says about it: in
# the lab; elsewhere a long run wants log_buf_len=8M.
round=120

serve()
{
	[ -x "$program" ] || fail "no $program: see tools/README.md"
	target_up 64
	fileio file 8
	lun_add 1
	write_to No $tpg/param/InitialR2T
	set_portal
	# What comes from here is to be in the log, all of it.
	echo on > /proc/sys/kernel/printk_devkmsg
}

# abuse OPTIONS...: one run, its cases named in the kernel's log.
abuse()
{
	"$program" --abuse --trace /dev/kmsg --initiator $initiator \
		${ABUSE_ONLY:+--only "$ABUSE_ONLY"} "$@" \
		"$addr4:${portal##*:}" $iqn
}

# What has to be as before when nobody is connected: RDMA objects, LIO's
# sessions and its slabs, and what the module has allocated.
counts()
{
	local slab key value

	health_objects
	echo "sessions $(< $lio/$iqn/fabric_statistics/iscsi_instance/sessions)"
	# A link is a slab that others have a share in.
	for slab in se_sess_cache lio_qr_cache lio_dr_cache \
			lio_ooo_cache lio_r2t_cache; do
		if [ -L $slabs/$slab ] || [ ! -w $slabs/$slab/shrink ]; then
			continue
		fi
		echo 1 > $slabs/$slab/shrink
		echo "$slab $(sed 's/ .*//' $slabs/$slab/objects)"
	done
	[ -r $statistics ] || return 0
	while read -r key value; do
		case $key in
		connections_alive | allocations_alive)
			echo "$key $value" ;;
		esac
	done < $statistics
}

as_before()
{
	counts > "$scratch/counts.after"
	cmp -s "$scratch/counts.before" "$scratch/counts.after"
}

nothing_is_left()
{
	until_true 30 as_before && return 0
	diff -u "$scratch/counts.before" "$scratch/counts.after" || true
	cat ${statistics%/*}/connections || true
	fail "something is left behind"
}

# The log is looked at while it still has all of the round.
the_kernel_is_silent()
{
	health_check_log "$scratch/health"
	health_check_taint "$scratch/health"
	health_mark "$scratch/health"
}

# rounds_of SECONDS OPTIONS...
rounds_of()
{
	local left=$1 now first=0

	shift
	serve
	# What is allocated once and kept is not counted.
	abuse --seed "$seed" --cases 20 "$@"
	until_true 30 no_target_sessions
	until_true 30 no_queue_pairs
	until_true 30 no_connections
	counts > "$scratch/counts.before"
	cat "$scratch/counts.before"
	while [ "$left" -gt 0 ]; do
		now=$((left < round ? left : round))
		abuse --seed "$seed" --first-case $first \
			--minutes "$(printf '%d.%03d' $((now / 60)) \
				$((now % 60 * 1000 / 60)))" "$@" |
			tee "$scratch/round" >> "$scratch/rounds"
		[ "${PIPESTATUS[0]}" = 0 ] || {
			tail -n 200 "$scratch/round"
			fail "the target did not stand it"
		}
		tail -n 1 "$scratch/round" | sed 's/^/# /' >&2
		nothing_is_left
		the_kernel_is_silent
		first=$((first + 100000))
		left=$((left - now))
	done
	table '%s\n' "$(sum_up)"
	# Whoever gave the guest a folder wants to know what was done.
	[ ! -d /out ] || cat "$scratch/rounds" >> /out/abuse.txt
}

# Over all rounds: cases, and the slowest answers.
sum_up()
{
	sed -n 's/^seed .*: \([0-9]*\) cases .* session \([0-9]*\) ms, slowest login \([0-9]*\) ms$/\1 \2 \3/p' \
			"$scratch/rounds" |
		awk -v seed="$seed" '
			{ cases += $1
			  if ($2 > answer) answer = $2
			  if ($3 > login) login = $3 }
			END { printf "seed %s: %d cases in %d rounds; slowest answer %d ms, slowest login %d ms",
			      seed, cases, NR, answer, login }'
}

abuse_while_reading()
{
	rounds_of $(((seconds + 1) / 2))
}

abuse_while_writing()
{
	rounds_of $((seconds / 2)) --write
}

# Without --write nothing is written, whatever is sent.
nothing_is_written()
{
	target_new
	fileio disk 48
	lun_add
	write_to No $tpg/param/InitialR2T
	portal_add
	set_portal
	head -c 48M /dev/urandom > "$scratch/pattern"
	cp "$scratch/pattern" "$scratch/disk.img"
	echo on > /proc/sys/kernel/printk_devkmsg
	abuse --seed "$seed" --minutes 0.1 || fail "the target did not stand it"
	sync
	cmp "$scratch/pattern" "$scratch/disk.img"
}

# The same seed and number: the same case, alone.
a_case_can_be_repeated()
{
	serve
	abuse --seed 7 --case 3 | grep '^case' > "$scratch/one"
	abuse --seed 7 --case 3 | grep '^case' > "$scratch/two"
	[ -s "$scratch/one" ]
	diff "$scratch/one" "$scratch/two"
}

check "abuse: a case can be repeated" a_case_can_be_repeated
check "abuse without --write writes nothing" nothing_is_written 120
check "abuse, reading" abuse_while_reading $((seconds * 2 + 120))
check "abuse, writing" abuse_while_writing $((seconds * 2 + 120))
run_checks
