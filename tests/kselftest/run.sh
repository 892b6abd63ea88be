#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs the tests and sums them up; exit code 0 pass, 1 fail, 4 nothing ran.

set -u

here=$(cd "$(dirname "$0")" && pwd)
modules=${TARGET_MODULE:-lio_iser}
rdmas=${RDMA:-rxe}
guest=
tests=()

usage()
{
	cat <<- end
	usage: run.sh [-m MODULE[,MODULE]] [-r RDMA[,RDMA]] [-g KERNEL] [TEST]...
	  -m  lio_iser (default), ib_isert, or both
	  -r  rxe (default), siw, or both
	  -g  each test in a fresh guest of the lab: uml, uml-debug, 6.1, 6.12;
	      without it, here
	  TEST as login or login_test.sh; default: all but perf. QUICK=1: fewer
	  rounds. GUEST_TIMEOUT: seconds for each guest (900). GUEST_OUT: a
	  folder for the guest's kernel log and what tests leave in /out.
	end
}

# The order is from the simple to the violent.
all_tests="health login chap discovery provider io two_initiators libiscsi nopin
targetcli commands bad_input early keys login_abuse protocol rules libiser
iserverify selftest abuse tmf teardown faults memory"

test_file()
{
	local name=${1##*/}

	name=${name%.sh}
	echo "${name%_test}_test.sh"
}

# run_one MODULE RDMA FILE: its output goes through, its lines are kept.
run_one()
{
	local status

	if [ -n "$guest" ]; then
		"$here/../lab/lab" "$guest" --timeout "${GUEST_TIMEOUT:-900}" \
			--env TARGET_MODULE="$1" --env RDMA="$2" \
			--env QUICK="${QUICK:-0}" \
			--env KIB_LIMIT="${KIB_LIMIT:-}" \
			--env ABUSE_SECONDS="${ABUSE_SECONDS:-}" \
			--env ABUSE_SEED="${ABUSE_SEED:-}" \
			--env ABUSE_ONLY="${ABUSE_ONLY:-}" \
			${GUEST_OUT:+--out "$GUEST_OUT"} \
			-- "tests/kselftest/$3"
	else
		TARGET_MODULE=$1 RDMA=$2 bash "$here/$3"
	fi 2>&1 | tee "$results/output"
	status=${PIPESTATUS[0]}
	count "$1" "$2" "$3" "$status"
}

# count MODULE RDMA FILE STATUS
count()
{
	local file=$results/output ok bad skip lost=0 planned

	skip=$(grep -c '^ok .*# SKIP' "$file")
	ok=$(($(grep -c '^ok ' "$file") - skip))
	bad=$(grep -c '^not ok ' "$file")
	planned=$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' "$file" | head -n 1)
	# What was planned and never reported did not pass.
	lost=$((${planned:-1} - ok - bad - skip))
	[ $lost -ge 0 ] || lost=0
	if [ "$4" != 0 ] && [ "$4" != 4 ] && [ $((bad + lost)) = 0 ]; then
		lost=1
	fi
	if [ "$4" = 4 ] && [ "${planned:-0}" = 0 ]; then
		skip=1
	fi
	passed=$((passed + ok))
	failed=$((failed + bad + lost))
	skipped=$((skipped + skip))
	printf '%-9s %-4s %-24s %4d passed %4d failed %4d skipped%s\n' \
		"$1" "$2" "$3" "$ok" $((bad + lost)) "$skip" \
		"$([ $lost -gt 0 ] && echo "  ($lost never ended)")" \
		>> "$results/summary"
	{
		grep -h '^not ok ' "$file"
		grep -h '^Bail out' "$file"
	} | sed "s/^/  $1 $2 $3: /" >> "$results/failures"
	grep -h '^# ' "$file" | grep -E 'KiB|MB/s|rxe |siw ' |
		grep -v "$3" >> "$results/tables"
}

while getopts 'm:r:g:h' option; do
	case $option in
	m) modules=$OPTARG ;;
	r) rdmas=$OPTARG ;;
	g) guest=$OPTARG ;;
	h) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
tests=("$@")
# shellcheck disable=SC2206
[ ${#tests[@]} -gt 0 ] || tests=($all_tests)

passed=0
failed=0
skipped=0
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
touch "$results/summary" "$results/failures" "$results/tables"

start=$SECONDS
for test in "${tests[@]}"; do
	file=$(test_file "$test")
	[ -e "$here/$file" ] || { echo "no test $test" >&2; exit 2; }
	for rdma in ${rdmas//,/ }; do
		for module in ${modules//,/ }; do
			run_one "$module" "$rdma" "$file"
		done
	done
done

echo
[ ! -s "$results/tables" ] || { echo "measured:"; cat "$results/tables"; echo; }
cat "$results/summary"
[ ! -s "$results/failures" ] || { echo "failures:"; cat "$results/failures"; }
echo "in $((SECONDS - start)) s:"
echo "$passed passed, $failed failed, $skipped skipped"
if [ $failed -gt 0 ]; then
	exit 1
elif [ $passed = 0 ]; then
	exit 4
fi
exit 0
