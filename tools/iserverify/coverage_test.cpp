// SPDX-License-Identifier: GPL-2.0
/* Every requirement has a check or a reason; and a gap would be seen. */
#include <algorithm>
#include <cstdio>

#include "coverage.h"
#include "suite.h"

using namespace iserverify;

namespace {

int failed;

void expect_true(bool condition, const char *what)
{
	std::printf("%s: %s\n", condition ? "ok" : "not ok", what);
	failed += !condition;
}

bool has_fault(const std::vector<Check> &checks, const std::string &wanted)
{
	const std::vector<std::string> faults = faults_of_coverage(checks);

	return std::find(faults.begin(), faults.end(), wanted) != faults.end();
}

void nothing(Lab &)
{
}

void gaps_are_seen()
{
	std::vector<Check> checks = all_checks();

	std::erase_if(checks, [](const Check &check) {
		return std::string(check.title).find("T-052") !=
		       std::string::npos;
	});
	expect_true(has_fault(checks, "T-052 has no check and no reason"),
		    "a requirement without a check is seen");
	checks = all_checks();
	checks.push_back({"x", "x", "T-009 of the Datamover", nothing});
	expect_true(has_fault(checks, "T-009 is said to be untestable, yet x "
			      "is about it"), "a reason too many is seen");
	checks.back().title = "T-999 of nothing";
	expect_true(has_fault(checks, "x is about T-999, which is not listed"),
		    "a number that does not exist is seen");
	checks.back().name = "snack";
	expect_true(has_fault(checks, "two checks are called snack"),
		    "a name that is there twice is seen");
}

} // namespace

int main()
{
	for (const std::string &fault : faults_of_coverage(all_checks())) {
		std::printf("not ok: %s\n", fault.c_str());
		++failed;
	}
	gaps_are_seen();
	std::printf("%zu checks\n", all_checks().size());
	return failed != 0;
}
