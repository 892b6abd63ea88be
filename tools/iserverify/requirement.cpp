// SPDX-License-Identifier: GPL-2.0
#include "requirement.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iterator>
#include <sstream>

namespace iserverify {

namespace {

/* There is a check, or one of the reasons why not that several have. */
constexpr const char *checked = nullptr;
constexpr const char *initiator = "binds the initiator";
constexpr const char *datamover =
	"internal: the Datamover Interface is not on the wire";
constexpr const char *memory =
	"needs the target's own figures: memory does not show on the wire";
constexpr const char *stream =
	"needs the login as a TCP stream, which is RFC 5046's own binding";
constexpr const char *below_verbs =
	"happens below verbs: an initiator sees the data, not the RDMA Read";
constexpr const char *exhaustion =
	"needs resources that run out in the target at a given moment";
constexpr const char *no_event =
	"nothing that an initiator does provokes an Asynchronous Message";
constexpr const char *recovery_level_1 =
	"needs ErrorRecoveryLevel 1, which has no use over RDMA";
constexpr const char *recovery_level_2 =
	"needs ErrorRecoveryLevel 2 and a connection lost in mid task";
constexpr const char *ipsec = "IPsec is below the connection";
constexpr const char *advice = "advice, with nothing to observe";

constexpr Requirement requirements[] = {
#define REQUIREMENT(number, section, level, untestable) \
	{number, section, level, untestable},
#include "requirement.def"
#undef REQUIREMENT
};

/* RFC 7145's chapters. */
constexpr const char *chapters[] = {
	"", "1 Definitions", "2 Introduction", "3 Upper layer interface",
	"4 Lower layer requirements", "5 Login and termination",
	"6 Login keys", "7 iSCSI PDUs over iSER", "8 Flow control and STags",
	"9 Control and data transfer", "10 Errors", "11 Security",
};

/* T-015, K-6, OQ-12, E11, 4.7 */
bool is_number(const std::string &word)
{
	const auto digit = [](unsigned char c) { return std::isdigit(c); };
	const auto letter =
		std::find_if_not(word.begin(), word.end(), [](unsigned char c) {
			return std::isupper(c);
		});
	const std::size_t letters = letter - word.begin();

	if (letters == 0)
		return word.find('.') != std::string::npos &&
		       std::all_of(word.begin(), word.end(), [&](char c) {
			       return c == '.' || digit(c);
		       });
	if (letters > 2 || letter == word.end())
		return false;
	if (*letter != '-')
		return word[0] == 'E' && std::all_of(letter, word.end(), digit);
	return letter + 1 != word.end() &&
	       std::all_of(letter + 1, word.end(), digit);
}

} // namespace

std::span<const Requirement> all_requirements()
{
	return requirements;
}

const Requirement *find_requirement(const std::string &number)
{
	const auto found = std::find_if(
		std::begin(requirements), std::end(requirements),
		[&](const Requirement &one) { return number == one.number; });

	return found == std::end(requirements) ? nullptr : found;
}

Title take_apart(const std::string &title)
{
	Title parts;
	std::istringstream words(title);
	std::string word;

	while (words >> word) {
		if (parts.words.empty() && is_number(word))
			parts.numbers.push_back(word);
		else
			parts.words += (parts.words.empty() ? "" : " ") + word;
	}
	return parts;
}

std::string section_of(const Title &title)
{
	for (const std::string &number : title.numbers)
		if (const Requirement *found = find_requirement(number))
			return found->section;
	return "";
}

std::string chapter_of(const std::string &section)
{
	const unsigned long chapter = std::strtoul(section.c_str(), nullptr, 10);

	if (chapter == 0 || chapter >= std::size(chapters))
		return "beyond the RFC's requirements";
	return chapters[chapter];
}

} // namespace iserverify
