// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <cstdio>
#include <memory>
#include <vector>

#include "lab.h"
#include "report.h"

/* The checks checked: each has to fail on a target that is broken for it. */
namespace iserverify {

/* Why a check is not to be run, or "". */
using ReasonToSkip = std::string (*)(const Lab &lab, const Check &check);

/*
 * Runs each of @checks with each fault that is listed for it (broken_faults.h),
 * where it has to say what is listed; and if @unbroken, against the target as
 * it is before that, where it has to pass.  False if one of them did not.
 * Throws Error if there is a check without a fault, or a fault without a check.
 */
bool self_test(Lab &lab, const std::vector<Check> &checks, bool unbroken,
	       Report &report, ReasonToSkip reason_to_skip);

/* For a person at a terminal: a line for each check and fault. */
std::unique_ptr<Report> make_self_test_report(std::FILE *to);

/*
 * Which check is seen to fail by what, as a table for the documentation.
 * Throws Error as self_test() does.
 */
void print_sightings(std::FILE *to);

} // namespace iserverify
