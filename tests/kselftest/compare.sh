#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The speed of two modules in one and the same kernel, in turns. What else the
# machine does changes from one minute to the next by more than the modules
# differ, so a round is short, and a ratio is of figures of the same round: the
# table has the median of the rounds' ratios, and where half of them lie.
#
#	tests/lab/lab uml --timeout 900 -- tests/kselftest/compare.sh
#
# ROUNDS (default 12), MODULES (default "lio_iser ib_isert"), and what
# perf_test.sh knows (PERF_SECONDS is 1 here).
set -u

here=$(cd "${0%/*}" && pwd)
read -ra modules <<< "${MODULES:-lio_iser ib_isert}"
rounds=${ROUNDS:-12}
export PERF_SECONDS=${PERF_SECONDS:-1}
figures=$(mktemp)
trap 'rm -f "$figures"' EXIT

measure()
{
	local round module

	for ((round = 1; round <= rounds; round++)); do
		for module in "${modules[@]}"; do
			TARGET_MODULE=$module bash "$here/perf_test.sh" |
				tee -a "$figures" | grep '^not ok'
		done
		# Who goes first changes.
		modules=("${modules[1]}" "${modules[0]}")
		echo "# round $round of $rounds is over"
	done
}

# Lines of the figures: # module rdma block direction depth IOPS MB/s mean_us
table()
{
	awk -v first="$1" -v second="$2" '
		function sort(values, n,    i, j, value) {
			for (i = 2; i <= n; i++) {
				value = values[i]
				for (j = i; j > 1 && values[j - 1] > value; j--)
					values[j] = values[j - 1]
				values[j] = value
			}
		}
		# Of sorted values; between two of them in proportion.
		function quantile(values, n, part,    place, low) {
			place = 1 + (n - 1) * part
			low = int(place)
			if (low == n)
				return values[n]
			part = place - low
			return (1 - part) * values[low] + part * values[low + 1]
		}
		function median_of(row, module, n,    i, values) {
			for (i = 1; i <= n; i++)
				values[i] = figure[row, module, i]
			sort(values, n)
			return quantile(values, n, 0.5)
		}
		$1 == "#" && ($2 == first || $2 == second) && $6 ~ /^[0-9]+$/ {
			row = $4 " " $5 ", " $6
			if (!(row in seen)) {
				seen[row] = 1
				rows[++count] = row
			}
			figure[row, $2, ++runs[row, $2]] = $7
		}
		END {
			printf "| block, direction, depth | %s IOPS | %s IOPS | ratio | middle half |\n", first, second
			print "|---|---|---|---|---|"
			for (i = 1; i <= count; i++) {
				row = rows[i]
				n = runs[row, first]
				if (n == 0 || n != runs[row, second])
					exit 1
				for (j = 1; j <= n; j++)
					ratios[j] = figure[row, first, j] / \
						figure[row, second, j]
				sort(ratios, n)
				printf "| %s | %.0f | %.0f | %.3f | %.3f to %.3f |\n", \
					row, median_of(row, first, n), \
					median_of(row, second, n), \
					quantile(ratios, n, 0.5), \
					quantile(ratios, n, 0.25), \
					quantile(ratios, n, 0.75)
			}
			exit count == 0
		}' "$figures"
}

first=${modules[0]}
second=${modules[1]}
measure
table "$first" "$second"
