#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The speed of two modules in one and the same kernel, in turns: for a guest whose
# clock counts instructions, which this machine does not disturb. By the clock of
# this machine, tests/speed/side_by_side compares them.
#
#	LIO_ISER_ICOUNT=1 tests/lab/lab 6.1 --timeout 1200 -- \
#		env ROUNDS=1 tests/kselftest/compare.sh
#
# Modules are compared within a round, in which one follows the other: the ratio
# of the medians of their tenths of a second. What counts is the median of the
# rounds' ratios; who goes first changes from round to round. Half of the rounds
# lie between the two quartiles.
#
# ROUNDS (default 12), MODULES (default "lio_iser ib_isert"), and what
# perf_test.sh knows (PERF_SECONDS is 1 here).
set -u

here=$(cd "${0%/*}" && pwd)
read -ra modules <<< "${MODULES:-lio_iser ib_isert}"
rounds=${ROUNDS:-12}
export PERF_SECONDS=${PERF_SECONDS:-1}
figures=$(mktemp)
slices=$(mktemp)
trap 'rm -f "$figures" "$slices"' EXIT

measure()
{
	local round module

	for ((round = 1; round <= rounds; round++)); do
		for module in "${modules[@]}"; do
			true > "$slices"
			TARGET_MODULE=$module PERF_SLICES=$slices \
				bash "$here/perf_test.sh" | grep '^not ok'
			sed "s/^/$round /" "$slices" >> "$figures"
		done
		# Who goes first changes.
		modules=("${modules[1]}" "${modules[0]}")
		echo "# round $round of $rounds is over"
	done
}

# Lines of the figures: round module block direction depth IOPS, the IOPS of
# each row in rising order.
table()
{
	sort -k 6,6n "$figures" | awk -v first="$1" -v second="$2" \
		-v rounds="$rounds" '
		function median_of_round(row, module, round,    n) {
			n = count[row, module, round]
			return figure[row, module, round, int((n + 1) / 2)]
		}
		# Puts it where it belongs in values[1] to values[n].
		function insert(values, n, value) {
			for (; n > 1 && values[n - 1] > value; n--)
				values[n] = values[n - 1]
			values[n] = value
		}
		function quantile(values, n, part,    at) {
			at = 1 + (n - 1) * part
			return values[int(at)] + (at - int(at)) * \
				(values[int(at) + (at > int(at))] - values[int(at)])
		}
		function print_row(row,    r, one, other) {
			for (r = 1; r <= rounds; r++) {
				one = median_of_round(row, first, r)
				other = median_of_round(row, second, r)
				if (!one || !other)
					exit 1
				insert(ones, r, one)
				insert(others, r, other)
				insert(ratios, r, one / other)
			}
			printf "| %s | %.0f | %.0f | %.3f | %.3f | %.3f |\n", row, \
				quantile(ones, rounds, 0.5), \
				quantile(others, rounds, 0.5), \
				quantile(ratios, rounds, 0.5), \
				quantile(ratios, rounds, 0.25), \
				quantile(ratios, rounds, 0.75)
		}
		{
			row = $3 " " $4 ", " $5
			figure[row, $2, $1, ++count[row, $2, $1]] = $6
		}
		END {
			printf "| block, direction, depth | %s IOPS | %s IOPS | ratio | lower quartile | upper quartile |\n", first, second
			print "|---|---|---|---|---|---|"
			split("4k 128k", blocks)
			split("randread randwrite", directions)
			split("1 32", depths)
			for (b = 1; b <= 2; b++)
				for (r = 1; r <= 2; r++)
					for (d = 1; d <= 2; d++)
						print_row(blocks[b] " " directions[r] ", " depths[d])
		}'
}

first=${modules[0]}
second=${modules[1]}
measure
table "$first" "$second"
