// SPDX-License-Identifier: GPL-2.0
#include "tally.h"

#include <fmt/format.h>

namespace conformance {

void Tally::add(const Outcome &outcome)
{
	++counts_[static_cast<int>(outcome.verdict)];
}

unsigned Tally::of(Verdict verdict) const
{
	return counts_[static_cast<int>(verdict)];
}

unsigned Tally::applicable() const
{
	return passed() + of(Verdict::Failed) + of(Verdict::Hung) +
	       of(Verdict::Crashed);
}

/* The worst one decides. */
std::string Tally::in_words() const
{
	const char *word = of(Verdict::Crashed) ? "crashes" :
			   of(Verdict::Hung) ? "hangs" :
			   of(Verdict::Failed) ? "no" :
			   of(Verdict::NotRun) ? "not run" :
			   passed() ? "yes" : "n/a";

	if (passed() && applicable() > passed())
		return fmt::format("{}, {} of {} pass", word, passed(),
				   applicable());
	return word;
}

std::string Tally::score() const
{
	return applicable() ?
		fmt::format("{} of {}", passed(), applicable()) : "-";
}

} // namespace conformance
