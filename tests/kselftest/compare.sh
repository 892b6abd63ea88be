#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The speed of two modules in one and the same kernel, in turns, so that what
# else the machine does meets both: a table with the median of all rounds, which
# one disturbed round does not move.
#
#	tests/lab/lab uml --timeout 900 -- tests/kselftest/compare.sh
#
# ROUNDS (default 5), MODULES (default "lio_iser ib_isert"), and what
# perf_test.sh knows.
set -u

here=$(cd "${0%/*}" && pwd)
read -ra modules <<< "${MODULES:-lio_iser ib_isert}"
rounds=${ROUNDS:-5}
figures=$(mktemp)
trap 'rm -f "$figures"' EXIT

measure()
{
	local round module

	for ((round = 1; round <= rounds; round++)); do
		for module in "${modules[@]}"; do
			TARGET_MODULE=$module bash "$here/perf_test.sh" |
				tee -a "$figures" | grep '^not ok\|^#  '
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
		# Keeps each module'"'"'s figures of a row in rising order.
		function insert(row, module, value,    i) {
			i = ++runs[row, module]
			while (i > 1 && figure[row, module, i - 1] > value) {
				figure[row, module, i] = figure[row, module, i - 1]
				i--
			}
			figure[row, module, i] = value
		}
		function median(row, module,    n, low, high) {
			n = runs[row, module]
			low = figure[row, module, int((n + 1) / 2)]
			high = figure[row, module, int((n + 2) / 2)]
			return (low + high) / 2
		}
		$1 == "#" && ($2 == first || $2 == second) && $6 ~ /^[0-9]+$/ {
			row = $4 " " $5 ", " $6
			if (!(row in seen)) {
				seen[row] = 1
				rows[++count] = row
			}
			insert(row, $2, $7)
		}
		END {
			printf "| block, direction, depth | %s IOPS | %s IOPS | ratio |\n", first, second
			print "|---|---|---|---|"
			for (i = 1; i <= count; i++) {
				row = rows[i]
				if (!runs[row, first] || !runs[row, second])
					exit 1
				a = median(row, first)
				b = median(row, second)
				printf "| %s | %.0f | %.0f | %.3f |\n", row, a, b, a / b
			}
			exit count == 0
		}' "$figures"
}

first=${modules[0]}
second=${modules[1]}
measure
table "$first" "$second"
