// SPDX-License-Identifier: GPL-2.0
#include "coverage.h"

#include <map>
#include <set>

#include "requirement.h"

namespace iserverify {

namespace {

using Numbers = std::map<std::string, std::string>;

/* Which check is about each number. */
Numbers numbers_of(const std::vector<Check> &checks)
{
	Numbers numbers;

	for (const Check &check : checks)
		for (const std::string &number :
		     take_apart(check.title).numbers)
			numbers[number] = check.name;
	return numbers;
}

/* Faults, open questions and tables are not listed in requirement.def. */
bool is_listed(const std::string &number)
{
	return number[0] == 'E' || number.starts_with("T-") ||
	       number.starts_with("I-") || number.starts_with("B-") ||
	       number.starts_with("N-") || number.starts_with("K-");
}

} // namespace

std::vector<std::string> faults_of_coverage(const std::vector<Check> &checks)
{
	const Numbers numbers = numbers_of(checks);
	std::vector<std::string> faults;
	std::set<std::string> names;

	for (const Requirement &one : all_requirements()) {
		/* An initiator's are checked where the target takes part. */
		if (one.number[0] == 'I')
			continue;
		const auto found = numbers.find(one.number);

		if (found == numbers.end() && !one.untestable)
			faults.push_back(std::string(one.number) +
					 " has no check and no reason");
		else if (found != numbers.end() && one.untestable)
			faults.push_back(std::string(one.number) +
					 " is said to be untestable, yet " +
					 found->second + " is about it");
	}
	for (const auto &[number, check] : numbers)
		if (is_listed(number) && !find_requirement(number))
			faults.push_back(check + " is about " + number +
					 ", which is not listed");
	for (const Check &check : checks)
		if (!names.insert(check.name).second)
			faults.push_back(std::string("two checks are called ") +
					 check.name);
	return faults;
}

} // namespace iserverify
