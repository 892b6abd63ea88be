#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The speed of two modules in one and the same kernel, in turns.
#
# What else the machine does changes from one second to the next by more than
# the modules differ, and only ever takes time away.  So the figure of a module
# is the 90th percentile of its tenths of a second: what it does when it is left
# alone.  The same ratio of the odd and of the even rounds alone tells how far
# it can be trusted.
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
	sort -k 6,6n "$figures" | awk -v first="$1" -v second="$2" '
		function note(row, module, part, value) {
			figure[row, module, part, ++count[row, module, part]] = value
		}
		function undisturbed(row, module, part,    n) {
			n = count[row, module, part]
			return figure[row, module, part, int((9 * n + 9) / 10)]
		}
		function ratio(row, part) {
			if (!count[row, second, part])
				return "-"
			return sprintf("%.3f", undisturbed(row, first, part) / \
				       undisturbed(row, second, part))
		}
		{
			row = $3 " " $4 ", " $5
			note(row, $2, "all", $6)
			note(row, $2, $1 % 2 ? "odd" : "even", $6)
		}
		END {
			printf "| block, direction, depth | %s IOPS | %s IOPS | ratio | odd rounds | even rounds |\n", first, second
			print "|---|---|---|---|---|---|"
			split("4k 128k", blocks)
			split("randread randwrite", directions)
			split("1 32", depths)
			for (b = 1; b <= 2; b++)
				for (r = 1; r <= 2; r++)
					for (d = 1; d <= 2; d++) {
						row = blocks[b] " " directions[r] ", " depths[d]
						if (!count[row, first, "all"] || !count[row, second, "all"])
							exit 1
						printf "| %s | %.0f | %.0f | %s | %s | %s |\n", row, \
							undisturbed(row, first, "all"), \
							undisturbed(row, second, "all"), \
							ratio(row, "all"), ratio(row, "odd"), ratio(row, "even")
					}
		}'
}

first=${modules[0]}
second=${modules[1]}
measure
table "$first" "$second"
