// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <string>
#include <vector>

#include "results.h"

namespace conformance {

/* How many of some outcomes are what. */
class Tally {
public:
	void add(const Outcome &outcome);

	unsigned passed() const { return of(Verdict::Passed); }
	/* Whatever does not apply or was not run does not count. */
	unsigned applicable() const;
	unsigned of(Verdict verdict) const;

	/* "yes", "no", "no, 2 of 3 pass", "crashes", "hangs", "n/a", "not run" */
	std::string in_words() const;
	/* "5 of 7", or "-" where nothing applies. */
	std::string score() const;

private:
	unsigned counts_[static_cast<int>(Verdict::NotRun) + 1] = {};
};

} // namespace conformance
