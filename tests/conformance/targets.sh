# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The targets that are compared, each behind the same words. Sourced behind
# lib.sh and raw.sh; then, with TARGET one of lio_iser, ib_isert and tgt:
#   target_start     up, open to everyone, on a fresh machine
#   target_more      raw_targets targets in all, for discoveries
#   target_chap on|off
#   target_gone      sets evidence and succeeds if the target is no more
#   target_lun       the LUN to test with
#   not_applicable NAME   sets reason and succeeds if that check does not apply

target_lun=0
[ "$TARGET" != tgt ] || target_lun=1

target_start()
{
	start_"$TARGET"
}

target_more()
{
	more_"$TARGET"
}

target_chap()
{
	chap_"$1"_"$TARGET"
}

target_gone()
{
	gone_"$TARGET"
}

# What is said of a run in the table, one line each.
fact()
{
	echo "$*" >> "$OUT/facts"
}

# In the kernel -----------------------------------------------------------------

start_lio_iser()
{
	load_target_module
	raw_long_target_up
}

# The suite needs the way round that portal_directory knows; a user who does
# not know it gets this far.
start_ib_isert()
{
	load_target_module
	if [ "$RDMA" = siw ] && [ ! -e "$OUT/facts" ]; then
		try_plain_portal
	fi
	raw_long_target_up
}

try_plain_portal()
{
	local said

	target_new
	mkdir "$np"
	if said=$( (printf 1 > "$np/iser") 2>&1); then
		fact "iser can be enabled on a portal as it is"
	else
		fact "iser cannot be enabled on a portal: ${said##*: };" \
			"LIO's own TCP socket has the port. For this table" \
			"the portal was made in another network namespace"
	fi
	targets_down
}

more_lio_iser()
{
	raw_more_targets_up
}

more_ib_isert()
{
	raw_more_targets_up
}

chap_on_lio_iser()
{
	raw_demand_chap
}

chap_on_ib_isert()
{
	raw_demand_chap
}

chap_off_lio_iser()
{
	write_to 0 "$tpg/attrib/authentication"
}

chap_off_ib_isert()
{
	write_to 0 "$tpg/attrib/authentication"
}

# A kernel that is gone is noticed from outside.
gone_lio_iser()
{
	return 1
}

gone_ib_isert()
{
	return 1
}

# tgt ---------------------------------------------------------------------------

tgtd_log=$OUT/logs/tgtd

# Its disks begin at LUN 1; LUN 0 is a controller. The first connection waits
# until tgtd has registered its buffers, which are 1 GiB if it is not told.
start_tgt()
{
	tgtd --version > "$OUT/version"
	truncate -s 64M "$scratch/disk.img"
	setsid tgtd -f --iser pool_sz_mb=16 > "$tgtd_log" 2>&1 < /dev/null &
	until_true 10 tgt_admin --mode target --op show > /dev/null
	tgt_target 1 "$iqn"
	tgt_target 2 "$raw_long_iqn"
	tgt_admin --mode logicalunit --op new --tid 1 --lun 1 \
		-b "$scratch/disk.img"
	# As LIO is set here, and as the checks need it.
	tgt_admin --mode target --op update --tid 1 --name InitialR2T --value No
	tgt_admin --mode target --op update --tid 1 \
		--name ImmediateData --value Yes
	until_true 20 tgt_can_be_tested > /dev/null
}

# That it does not close behind a logout is found by checks.
tgt_can_be_tested()
{
	"$raw_program" --only pings --initiator "$initiator" \
		"$addr4:$port" "$iqn" "$target_lun" 2>&1 | grep -q passed
}

tgt_admin()
{
	tgtadm --lld iser "$@"
}

# tgt_target NUMBER IQN. Over iSER tgtd wants both, the address and the name.
tgt_target()
{
	tgt_admin --mode target --op new --tid "$1" -T "$2"
	tgt_admin --mode target --op bind --tid "$1" -I ALL
	tgt_admin --mode target --op bind --tid "$1" -Q "$initiator"
}

more_tgt()
{
	local i

	for ((i = 2; i < raw_targets; i++)); do
		tgt_target $((i + 1)) "$prefix:more$i"
	done
}

chap_on_tgt()
{
	tgt_admin --mode account --op new --user "${raw_account%%:*}" \
		--password "${raw_account#*:}"
	tgt_admin --mode account --op bind --tid 1 --user "${raw_account%%:*}"
}

chap_off_tgt()
{
	tgt_admin --mode account --op unbind --tid 1 \
		--user "${raw_account%%:*}"
	tgt_admin --mode account --op delete --user "${raw_account%%:*}"
}

gone_tgt()
{
	local line

	! pidof tgtd > /dev/null || return 1
	line=$(dmesg | grep 'tgtd.*\(segfault\|trap\|error\)' | tail -n 1)
	evidence="tgtd ended: ${line:-$(tail -n 1 "$tgtd_log")}"
}

# ---------------------------------------------------------------------------------

not_applicable()
{
	reason=
	case $TARGET:$1 in
	tgt:long-cdb)
		reason="tgt's disks know no WRITE SAME (32)" ;;
	esac
	[ -n "$reason" ]
}
