// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "requirement.h"

namespace iserverify {

enum class Verdict { Passed, Failed, Skipped };

/* What came of one check. */
struct Result {
	std::string group;
	std::string name;
	Title title;
	Verdict verdict = Verdict::Failed;
	std::string why; /* it failed or was skipped */
	long milliseconds = 0;
};

/* Which target it was, for reports that are read later. */
struct Subject {
	std::string address;
	std::string target_name;
	unsigned lun = 0;
};

/* A form of report; results come one by one, as they are known. */
class Report {
public:
	virtual ~Report() = default;

	virtual void begin(const Subject &subject, std::size_t checks) = 0;
	virtual void add(const Result &result) = 0;
	virtual void end() = 0;
};

/* One of report_forms(); null if there is no such form. */
std::unique_ptr<Report> make_report(const std::string &form, std::FILE *to);
/* The forms, for a usage line. */
std::vector<std::string> report_forms();

} // namespace iserverify
