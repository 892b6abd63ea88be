// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace conformance {

/* What was read is not what it should be; says which file. */
class BadInput : public std::runtime_error {
	using std::runtime_error::runtime_error;
};

struct Requirement {
	std::string number; /* T-015 */
	std::string section;
	std::string level;
	std::string chapter;
	std::string title;
	std::string untestable; /* why, from outside; or empty */
};

struct Check {
	std::string name;
	std::string group;
	std::string title;
	std::vector<std::string> requirements;
	std::string chapter;
};

/* What `iserverify --list --format json` says. */
struct Suite {
	std::vector<Requirement> requirements; /* those with a title */
	std::vector<Check> checks;
};

enum class Verdict {
	Passed,
	Failed,
	Hung,          /* the check, the target or the whole kernel */
	Crashed,       /* the target is gone: the kernel, or its process */
	NotApplicable,
	NotRun,
};

struct Outcome {
	Verdict verdict = Verdict::NotRun;
	std::string evidence; /* one line */
};

/* One target over one kind of RDMA on one kernel. */
struct Run {
	std::string target;
	std::string rdma;
	std::string kernel;
	std::string version;            /* of the target */
	std::string broken;             /* why the run ended early */
	std::vector<std::string> facts; /* what else is to be said */
	unsigned guests = 0;            /* started for it */
	std::map<std::string, Outcome> outcomes; /* by the check's name */

	const Outcome &outcome(const std::string &check) const;
};

/* All of a file. */
std::string read_text(const std::filesystem::path &file);
Suite read_suite(const std::filesystem::path &file);
/*
 * The folder that tests/conformance/one has left: run, lines of KEY=VALUE, and
 * results.jsonl, as `iserverify --format jsonl` writes it with verdicts
 * "crashed" and "hung" besides.  The last line of a check counts.  A check
 * without a line has not been run; a line for no check of @suite is an error.
 */
Run read_run(const std::filesystem::path &folder, const Suite &suite);

} // namespace conformance
