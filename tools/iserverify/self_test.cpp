// SPDX-License-Identifier: GPL-2.0
#include "self_test.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "broken_faults.h"
#include "suite.h"

namespace iserverify {

namespace {

const Check innocent_check = {
	"innocent", "innocent", "the session that does nothing wrong",
	[](Lab &lab) {
		lab.start_innocent();
		lab.stop_innocent();
	},
	every_profile,
	false,
};

std::vector<Check> checks_and_innocent(std::vector<Check> checks)
{
	checks.push_back(innocent_check);
	return checks;
}

bool names(const std::vector<Check> &checks, const std::string &name)
{
	return std::any_of(checks.begin(), checks.end(),
			   [&](const Check &check) {
				   return check.name == name;
			   });
}

/* A check that nobody has seen fail may pass on any target. */
void expect_each_is_seen_to_fail(const std::vector<Check> &checks)
{
	std::vector<std::string> without;

	for (const Check &check : checks)
		if (sightings_of(check.name).empty())
			without.push_back(check.name);
	if (!without.empty())
		throw Error(fmt::format("no fault is listed for {}",
					fmt::join(without, ", ")),
			    "Add a line to broken_sightings.cpp.");
}

/* Throws Error if the two tables do not fit each other and the checks. */
void expect_tables_fit()
{
	const std::vector<Check> checks = checks_and_innocent(all_checks());
	const std::vector<Sighting> &sightings = all_sightings();

	for (const Sighting &one : sightings) {
		find_fault(one.fault);
		if (!names(checks, one.check))
			throw Error(fmt::format("there is no check {}",
						one.check));
	}
	expect_each_is_seen_to_fail(checks);
	for (const Fault &fault : all_faults())
		if (std::none_of(sightings.begin(), sightings.end(),
				 [&](const Sighting &one) {
					 return one.fault == fault.name;
				 }))
			throw Error(fmt::format("the fault {} is for no check",
						fault.name));
}

/*
 * What @check says of the target with @breakages; nothing: it passed.  Throws
 * NotApplicable as the check does.
 */
std::optional<std::string> said(Lab &lab, const Check &check,
				Breakages breakages)
{
	const Connector connector = lab.connector;
	BrokenTarget target(lab, connector, std::move(breakages));
	std::optional<std::string> words;

	lab.connector = [&](const ConnectOptions &options) {
		return target.connect(options);
	};
	try {
		check.run(lab);
	} catch (const NotApplicable &) {
		lab.connector = connector;
		throw;
	} catch (const std::exception &error) {
		words = error.what();
	}
	lab.connector = connector;
	return words;
}

/* Everything the same, but the innocent session's connection is broken, too. */
std::optional<std::string> said_of_innocent(Lab &lab, Breakages breakages)
{
	lab.stop_innocent();

	const auto words = said(lab, innocent_check, std::move(breakages));

	lab.start_innocent();
	return words;
}

class SelfTest {
public:
	SelfTest(Lab &lab, bool unbroken, Report &report)
		: lab_(lab), unbroken_(unbroken), report_(report)
	{
	}

	void skip(const Check &check, const std::string &why)
	{
		add(check, "", Verdict::Skipped, "skipped", why);
	}
	void run(const Check &check)
	{
		if (!unbroken_ || passes_unbroken(check))
			for (const Sighting &sighting :
			     sightings_of(check.name))
				run(check, sighting);
	}
	bool all_seen() const { return all_seen_; }

private:
	std::optional<std::string> said(const Check &check, Breakages breakages)
	{
		start_ = std::chrono::steady_clock::now();
		if (check.group == std::string(innocent_check.group))
			return said_of_innocent(lab_, std::move(breakages));

		auto words = iserverify::said(lab_, check,
					      std::move(breakages));

		lab_.check_innocent();
		return words;
	}

	/* It may find nothing to look at until the target is broken. */
	bool passes_unbroken(const Check &check)
	{
		std::optional<std::string> words;

		try {
			words = said(check, {});
		} catch (const NotApplicable &) {
			return true;
		} catch (const std::exception &error) {
			words = error.what();
		}
		if (words)
			add(check, "", Verdict::Failed,
			    "fails on a target that is not broken", *words);
		return !words;
	}

	void run(const Check &check, const Sighting &sighting)
	{
		const Fault &fault = find_fault(sighting.fault);
		std::optional<std::string> words;

		try {
			words = said(check, fault.make());
		} catch (const NotApplicable &reason) {
			words = reason.what();
		} catch (const std::exception &error) {
			add(check, fault.name, Verdict::Failed,
			    "the innocent session suffered", error.what());
			return;
		}
		if (!words)
			add(check, fault.name, Verdict::Failed,
			    "not seen to fail",
			    "it passed, though the target " + fault.does);
		else if (words->find(sighting.says) == std::string::npos)
			add(check, fault.name, Verdict::Failed,
			    "failed for another reason", *words);
		else
			add(check, fault.name, Verdict::Passed, "seen to fail",
			    *words);
	}

	void add(const Check &check, const std::string &fault, Verdict verdict,
		 const std::string &how, const std::string &why)
	{
		Title title = take_apart(check.title);
		const auto took = std::chrono::steady_clock::now() - start_;

		title.words = fmt::format("{}: {}: {}", how, check.name, why);
		if (!fault.empty())
			title.words += fmt::format(" [fault {}]", fault);
		all_seen_ = all_seen_ && verdict != Verdict::Failed;
		report_.add({check.group, check.name, title, verdict,
			     verdict == Verdict::Passed ? "" : why,
			     std::chrono::duration_cast<
				     std::chrono::milliseconds>(took)
				     .count()});
	}

	Lab &lab_;
	bool unbroken_;
	Report &report_;
	bool all_seen_ = true;
	std::chrono::steady_clock::time_point start_ =
		std::chrono::steady_clock::now();
};

class SelfTestReport final : public Report {
public:
	explicit SelfTestReport(std::FILE *to) : to_(to) {}

	void begin(const Subject &subject, std::size_t runs) override
	{
		fmt::print(to_, "{} at {}, LUN {}: {} runs\n\n",
			   subject.target_name, subject.address, subject.lun,
			   runs);
	}
	void add(const Result &result) override
	{
		fmt::print(to_, "{} ({} ms)\n", result.title.words,
			   result.milliseconds);
		std::fflush(to_);
		++count_[static_cast<int>(result.verdict)];
	}
	void end() override
	{
		fmt::print(to_, "\n{} runs: {} as they should be, {} not, {} "
			   "skipped\n", count_[0] + count_[1] + count_[2],
			   count_[static_cast<int>(Verdict::Passed)],
			   count_[static_cast<int>(Verdict::Failed)],
			   count_[static_cast<int>(Verdict::Skipped)]);
	}

private:
	std::FILE *to_;
	unsigned count_[3] = {};
};

void print_row(std::FILE *to, const Check &check, const Fault &fault,
	       const char *says)
{
	fmt::print(to, "| {} | {} | {} | `{}` | {} |\n", check.name,
		   fmt::join(take_apart(check.title).numbers, " "), fault.does,
		   fault.name, says);
}

} // namespace

bool self_test(Lab &lab, const std::vector<Check> &checks, bool unbroken,
	       Report &report, ReasonToSkip reason_to_skip)
{
	const std::vector<Check> all = checks_and_innocent(checks);
	SelfTest test(lab, unbroken, report);
	std::size_t runs = 0;

	expect_tables_fit();
	for (const Check &check : all)
		runs += reason_to_skip(lab, check).empty() ?
			sightings_of(check.name).size() : 1;
	lab.start_innocent();
	report.begin({fmt::format("{}:{}", lab.address, lab.port),
		      lab.target_name, static_cast<unsigned>(lab.lun)}, runs);
	for (const Check &check : all) {
		const std::string why = reason_to_skip(lab, check);

		if (why.empty())
			test.run(check);
		else
			test.skip(check, why);
	}
	lab.stop_innocent();
	report.end();
	return test.all_seen();
}

std::unique_ptr<Report> make_self_test_report(std::FILE *to)
{
	return std::make_unique<SelfTestReport>(to);
}

void print_sightings(std::FILE *to)
{
	expect_tables_fit();
	fmt::print(to, "# Checks seen to fail\n\n"
		   "Written by `iserverify --list --faults`. `iserverify "
		   "--self-test` runs each line:\nthe check passes on the "
		   "target as it is, and fails with these words when the\n"
		   "target seems to be broken like that.\n\n"
		   "| check | | a target that | fault | the check says |\n"
		   "|---|---|---|---|---|\n");
	for (const Check &check : checks_and_innocent(all_checks()))
		for (const Sighting &one : sightings_of(check.name))
			print_row(to, check, find_fault(one.fault), one.says);
}

} // namespace iserverify
