#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# All tests, none of which touches this system.  Goes on after a failure; the
# last line counts, the exit code is 1 if anything failed.
#
# Environment:
#   PARTS          of: build unit fuzz uml siw stock (default: all)
#   FUZZ_SECONDS   for each parser (default 60)
#   TESTS          of the guest tests only these, as "login chap"
# shellcheck disable=SC2317 # called by name
set -u

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=SCRIPTDIR/lab/common.sh
. "$here/lab/common.sh"
# Every failure is looked at and counted.
set +e
shopt -u inherit_errexit

logs=$checkout/build/check
failures=$logs/failures
parts=${PARTS:-build unit fuzz uml siw stock}
fuzz_seconds=${FUZZ_SECONDS:-60}
stock_kernels=(6.1 6.12)

all_passed=0
all_failed=0
rows=()

# What each part finds out about itself.
passed=0
failed=0
skipped=0

count()
{
	passed=$((passed + $1))
	failed=$((failed + $2))
	skipped=$((skipped + ${3:-0}))
}

# fails WORDS [LOG]: says so, with the end of the log, and once more in the last
# lines of all: a long run's output is often cut to these.
fails()
{
	echo "  not ok: $1" | tee -a "$failures"
	[ -z "${2:-}" ] || {
		tail -n 20 "$2"
		echo "all of it: $2"
	} | sed 's/^/    /'
}

# one_fails WORDS [LOG]: what counts as one test.
one_fails()
{
	fails "$@"
	count 0 1
}

# one WORDS COMMAND...: one test.
one()
{
	local words=$1 log

	shift
	log=$logs/$(tr -c 'A-Za-z0-9.\n' _ <<< "$words").log
	if "$@" > "$log" 2>&1; then
		echo "  ok: $words"
		count 1 0
		return 0
	fi
	one_fails "$words" "$log"
	return 1
}

packages()
{
	"$lab_dir/packages" make cmake pkg-config gcc g++ binutils kmod \
		libgtest-dev clang-14 libclang-rt-14-dev \
		librdmacm-dev libibverbs-dev \
		libcli11-dev libfmt-dev nlohmann-json3-dev
}

# Parts ------------------------------------------------------------------------

check_module()
{
	"$checkout/tools/check-module" "$cache/build/$1/lio_iser.ko"
}

build_iserverify()
{
	cmake -S "$checkout/tools" -B "$checkout/build/tools" &&
		cmake --build "$checkout/build/tools" "-j$(nproc)"
}

# Every requirement has a check, or a reason why there is none.
test_tools()
{
	ctest --test-dir "$checkout/build/tools" --output-on-failure
}

install_and_uninstall()
{
	(
		. "$lab_dir/kernels.sh"
		"$here/tools/install_test.sh" "$(stock_release 6.1)"
	)
}

# A check without a fault ends this, too.
sightings_are_documented()
{
	local program=$checkout/build/tools/iserverify/iserverify
	local documented=$checkout/Documentation/checks-seen-to-fail.md

	"$program" --list --faults > "$logs/seen-to-fail.md" &&
		diff "$documented" "$logs/seen-to-fail.md"
}

part_build()
{
	local kernel

	for kernel in "${stock_kernels[@]}"; do
		one "module for $kernel, W=1, warnings are errors" \
			"$lab_dir/build" "$kernel" &&
			one "module for $kernel is like one in C" \
				check_module "$kernel"
	done
	one 'make install and make uninstall' install_and_uninstall
	if one 'libiser and iserverify' build_iserverify; then
		one 'iserverify: coverage, and what its abuse sends' \
			test_tools
		one 'libiser installed, and a program that uses it' \
			"$here/tools/libiser_install_test.sh"
		one 'checks-seen-to-fail.md is what iserverify says' \
			sightings_are_documented
		one 'conformance.md names what iserverify knows' \
			"$here/conformance/up-to-date"
	fi
}

part_unit()
{
	local build=$checkout/build/tests log=$logs/unit.log bad total

	if ! cmake -S "$here" -B "$build" > "$log" 2>&1 ||
	   ! cmake --build "$build" "-j$(nproc)" >> "$log" 2>&1; then
		one_fails 'unit tests are compiled' "$log"
		return
	fi
	ctest --test-dir "$build" --output-on-failure "-j$(nproc)" \
		> "$log" 2>&1
	# "97% tests passed, 3 tests failed out of 120"
	read -r bad total < <(sed -n \
		's/.*passed, \([0-9]*\) tests failed out of \([0-9]*\)$/\1 \2/p' \
		"$log")
	[ "${bad:-1}" = 0 ] || {
		fails 'unit tests' "$log"
		# "	17 - Loopback.LoginToLogout (Failed)"
		sed -n 's/^\t *[0-9]* - /  unit: /p' "$log" >> "$failures"
	}
	[ -z "${total:-}" ] || count $((total - bad)) "$bad"
}

# The fuzzers run for a given time, the processors' share of which matters
# little: meanwhile the kernel that guests need next is made, if it is not there.
prepare_ahead()
{
	if [[ " $parts " = *' uml '* ]]; then
		"$lab_dir/prepare" uml > "$logs/prepare.log" 2>&1 &
	fi
}

part_fuzz()
{
	local log=$logs/fuzz.log targets bad

	prepare_ahead
	"$here/fuzz/run" "$fuzz_seconds" 2>&1 | tee "$log" | sed -u 's/^/  /'
	read -r targets bad < <(sed -n \
		's/^fuzz: \([0-9]*\) targets, .*, \([0-9]*\) failed$/\1 \2/p' \
		"$log")
	[ "${bad:-1}" = 0 ] || fails 'fuzz' "$log"
	[ -z "${targets:-}" ] || count $((targets - bad)) "$bad"
}

# All but the measurement of speed, which needs a calm machine.
guest_tests()
{
	local file name

	if [ -n "${TESTS:-}" ]; then
		tr ' ' '\n' <<< "$TESTS"
		return
	fi
	for file in "$here"/kselftest/*_test.sh; do
		name=${file##*/}
		[ "$name" = perf_test.sh ] || echo "${name%_test.sh}"
	done
}

# stream NAME KERNEL TEST...: each in a guest of its own; a line for each check.
stream()
{
	local name=$1 kernel=$2

	shift 2
	"$here/kselftest/run.sh" -g "$kernel" "$@" 2>&1 < /dev/null |
		tee "$logs/$name.log" |
		sed -u -n "s/^\(ok\|not ok\|Bail out!\)/  $name: \1/p"
}

# failed_checks LOG: a line for each, with the last thing it said about itself
# or, if it said nothing, the kernel.
failed_checks()
{
	awk '
	/^#   --- tear-down$/ { next }
	/^#   (dmesg: |ended with status )/ { if (!said) reason = $0; next }
	/^#   / { reason = $0; said = 1; next }
	/^not ok / || /^Bail out!/ {
		sub(/^# */, "", reason)
		print $0 (reason ? ": " substr(reason, 1, 120) : "")
	}
	{ reason = ""; said = 0 }' "$1"
	grep ' never ended)$' "$1"
}

# sum_up NAME...: what streams have counted; a stream without a result failed.
sum_up()
{
	local name ok bad skip

	for name in "$@"; do
		read -r ok bad skip < <(sed -n \
			's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' \
			"$logs/$name.log")
		if [ -z "${skip:-}" ]; then
			one_fails "$name ended without a result" \
				"$logs/$name.log"
			continue
		fi
		count "$ok" "$bad" "$skip"
		[ "$bad" = 0 ] || {
			failed_checks "$logs/$name.log" |
				sed "s/^/  $name: /" | tee -a "$failures"
			echo "    all of it: $logs/$name.log"
		}
	done
}

guest_needs()
{
	build_iserverify > "$logs/raw.log" 2>&1 || {
		one_fails 'iserverify is compiled' "$logs/raw.log"
	}
	"$lab_dir/prepare" "$1" || return
	# What prepare_ahead has begun; prepare has said so, and waited for it.
	wait
	"$lab_dir/build" "$1" > "$logs/build.log" 2>&1 || {
		fails "the module for $1 is built" "$logs/build.log"
		return 1
	}
}

# jobs_in_pairs: reads "NAME KERNEL ARGUMENT..." for stream, one in a line. Two
# at a time: a guest of User Mode Linux has one processor.
jobs_in_pairs()
{
	local name kernel arguments names=()

	while read -r name kernel arguments; do
		[ ${#names[@]} -lt 2 ] || wait -n
		names+=("$name")
		# shellcheck disable=SC2086 # words
		stream "$name" "$kernel" $arguments &
	done
	wait
	sum_up "${names[@]}"
}

part_uml()
{
	guest_needs uml || return
	jobs_in_pairs <<< "$(guest_tests | sed 's/.*/uml-& uml &/')"
}

# iWARP differs where addresses, ports, registrations and receive queues are
# concerned.
part_siw()
{
	guest_needs uml || return
	jobs_in_pairs <<< "$(printf '%s\n' io provider protocol login discovery \
		bad_input | sed 's/.*/siw-& uml -r siw &/')"
}

part_stock()
{
	local tests=(login chap io provider) kernel

	[ -z "${TESTS:-}" ] || mapfile -t tests < <(guest_tests)
	for kernel in "${stock_kernels[@]}"; do
		guest_needs "$kernel" || return
	done
	export QUICK=1
	jobs_in_pairs <<< "$(
		for kernel in "${stock_kernels[@]}"; do
			echo "$kernel $kernel ${tests[*]}"
		done
		[ -n "${TESTS:-}" ] || for kernel in "${stock_kernels[@]}"; do
			echo "$kernel-siw $kernel -r siw provider"
		done)"
}

# -----------------------------------------------------------------------------

heading()
{
	case $1 in
	build) echo "the module, for Debian's 6.1 and 6.12" ;;
	unit) echo 'unit tests, with address and undefined-behaviour sanitizers' ;;
	fuzz) echo "every parser fuzzed for $fuzz_seconds s" ;;
	siw) echo 'logins, discovery and data over iWARP' ;;
	uml) echo 'real and raw initiators, in User Mode Linux' ;;
	stock) echo "the same, shorter, on Debian's 6.1 and 6.12" ;;
	esac
}

clock()
{
	printf '%d:%02d' $(($1 / 60)) $(($1 % 60))
}

run_part()
{
	local start=$SECONDS took

	passed=0
	failed=0
	skipped=0
	printf '\n%s: %s\n' "$1" "$(heading "$1")"
	"part_$1"
	# A part in which nothing ran has not passed.
	[ $((passed + failed)) -gt 0 ] || {
		fails "nothing of part $1 ran"
		failed=1
	}
	took=$(clock $((SECONDS - start)))
	echo "$1: $passed passed, $failed failed, $skipped skipped, $took"
	rows+=("$(printf '  %-8s %6d %6d %7d %8s' \
		"$1" $passed $failed $skipped "$took")")
	all_passed=$((all_passed + passed))
	all_failed=$((all_failed + failed))
}

# A function, so that the script may change while it runs.
main()
{
	local part

	for part in $parts; do
		[ "$(type -t "part_$part")" = function ] ||
			die "no part '$part'; there are build unit fuzz uml siw stock"
	done
	mkdir -p "$logs"
	true > "$failures"
	packages || exit 2
	for part in $parts; do
		run_part "$part"
	done
	printf '\n  %-8s %6s %6s %7s %8s\n' part passed failed skipped time
	printf '%s\n' "${rows[@]}"
	printf '  all, in %s\n\n' "$(clock $SECONDS)"
	[ ! -s "$failures" ] || {
		echo 'what failed:'
		cat "$failures"
		echo
	}
	echo "$all_passed passed, $all_failed failed"
	[ $all_failed = 0 ]
	exit
}

main
