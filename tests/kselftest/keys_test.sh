#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every key of a login with good values and with bad ones, in each profile; and
# what a target has to be told first.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/raw.sh"

silent_write_base=/sys/module/lio_iser/parameters/silent_write_base

raw_checks keys
raw_options=(--profile linux)
raw_checks keys
raw_options=(--profile 5046)
raw_checks keys
raw_options=()

# What silence about the write base means in the RFC; Linux has it otherwise.
silence_as_in_the_rfc()
{
	[ -e "$silent_write_base" ] || skip "only lio_iser has the choice"
	write_to 0 "$silent_write_base"
	raw_case silent-base
}

silence_as_in_linux()
{
	[ -e "$silent_write_base" ] || skip "only lio_iser has the choice"
	write_to 1 "$silent_write_base"
	raw_options=(--profile linux)
	raw_case writes-silent
}

check "N-018 silent_write_base=0: the base is that of the whole buffer" \
	silence_as_in_the_rfc
check "N-018 silent_write_base=1: the base is behind unsolicited data" \
	silence_as_in_linux
run_checks
