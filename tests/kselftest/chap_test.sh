#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# CHAP, one-way and mutual; wrong secrets are refused on either side.

. "${0%/*}/lib.sh"

secret=one-way-secret-1
mutual_secret=mutual-secret-22

# target_with_chap [MUTUAL]
target_with_chap()
{
	local auth=$tpg/acls/$initiator/auth

	target_up 8
	acl_add $initiator
	write_to 1 $tpg/attrib/authentication
	write_to user $auth/userid
	write_to $secret $auth/password
	if [ -n "${1:-}" ]; then
		write_to target $auth/userid_mutual
		write_to $mutual_secret $auth/password_mutual
	fi
	node_new
}

# initiator_with_chap SECRET [MUTUAL_SECRET]
initiator_with_chap()
{
	node_set node.session.auth.authmethod CHAP \
		node.session.auth.username user \
		node.session.auth.password "$1" \
		${2:+node.session.auth.username_in target
		     node.session.auth.password_in "$2"}
}

accepted()
{
	login
	sessions_are 1
	find_disk
	read_disk
}

refused_at_once()
{
	refused_in_time login
	sessions_are 0
}

one_way()
{
	target_with_chap
	initiator_with_chap $secret
	accepted
}

mutual()
{
	target_with_chap mutual
	initiator_with_chap $secret $mutual_secret
	accepted
}

wrong_secret_is_refused_by_the_target()
{
	target_with_chap
	initiator_with_chap not-the-right-secret
	refused_at_once
	# The target is not spoilt by it.
	initiator_with_chap $secret
	accepted
}

no_secret_is_refused_by_the_target()
{
	target_with_chap
	refused_at_once
}

wrong_mutual_secret_is_refused_by_the_initiator()
{
	target_with_chap mutual
	initiator_with_chap $secret not-the-right-mutual
	refused_at_once
	initiator_with_chap $secret $mutual_secret
	accepted
}

wrong_secret_is_refused_with_mutual_chap()
{
	target_with_chap mutual
	initiator_with_chap not-the-right-secret $mutual_secret
	refused_at_once
}

# However long they take: open-iscsi of 6.12 now and then sends its next Login
# Request before it has put the last one away ("Login/Text in progress"), and
# then needs half a minute to try again.
many_refusals_leave_nothing()
{
	local before i

	target_with_chap
	initiator_with_chap not-the-right-secret
	refused login
	until_true 10 no_queue_pairs
	before=$(health_objects)
	for ((i = 1; i <= rounds; i++)); do
		refused login > /dev/null 2>&1 || fail "attempt $i"
	done
	until_true 10 no_queue_pairs
	is "$(health_objects)" "$before" "RDMA objects"
	initiator_with_chap $secret
	accepted
}

rounds 20 3
check "CHAP one-way" one_way
check "F-34 CHAP mutual" mutual
check "CHAP wrong secret refused by the target" \
	wrong_secret_is_refused_by_the_target
check "CHAP required, none offered: refused" no_secret_is_refused_by_the_target
check "CHAP mutual, wrong secret of the target refused by the initiator" \
	wrong_mutual_secret_is_refused_by_the_initiator
check "CHAP mutual, wrong secret of the initiator refused" \
	wrong_secret_is_refused_with_mutual_chap
check "F-32 refused logins, $rounds times, leave nothing" \
	many_refusals_leave_nothing 120
run_checks
