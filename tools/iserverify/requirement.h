// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

namespace iserverify {

/* One of the RFCs' MUSTs and SHOULDs, or a row of their tables. */
struct Requirement {
	const char *number;  /* as T-015 */
	const char *section; /* of RFC 7145, as 5.1.2 */
	const char *level;   /* MUST, SHOULD, MAY or with NOT */
	/* Why no check can be about it; null: there is one. */
	const char *untestable;
};

/* All of them, in the order of their numbers. */
std::span<const Requirement> all_requirements();

/* By number; null if there is none. */
const Requirement *find_requirement(const std::string &number);

/* What a check's title begins with: requirements, keys (K-6), faults (F-01). */
struct Title {
	std::vector<std::string> numbers;
	std::string words;
};
Title take_apart(const std::string &title);

/* "5.1.2" of the first requirement, or "" if the check has none. */
std::string section_of(const Title &title);
/* "5 Login/Full Feature Phase", for the summary. */
std::string chapter_of(const std::string &section);

} // namespace iserverify
