// SPDX-License-Identifier: GPL-2.0
/* The run of the abuse: case by case, with an innocent session in between. */
#include "abuse.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fnmatch.h>
#include <memory>
#include <random>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "abuse_case.h"

namespace iserverify {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double default_minutes = 1;
constexpr std::chrono::seconds between_progress{5};
constexpr std::chrono::seconds revival_patience{30};
/* Then whoever reads it knows enough. */
constexpr unsigned most_failures = 10;
/* How often the innocent session's data changes. */
constexpr std::uint32_t cases_between_renewals = 16;

constexpr const char *ending_names[endings] = {
	"no conn.", "closed", "refused", "answered", "silent", "left",
};

std::vector<AbuseKind> all_kinds()
{
	std::vector<AbuseKind> all;

	for (auto kinds : {login_abuse, session_abuse, connection_abuse})
		for (AbuseKind &kind : kinds())
			all.push_back(std::move(kind));
	return all;
}

bool matches(const AbuseKind &kind, const std::vector<std::string> &patterns)
{
	return patterns.empty() ||
	       std::any_of(patterns.begin(), patterns.end(),
			   [&](const std::string &pattern) {
				   return !fnmatch(pattern.c_str(), kind.name,
						   0);
			   });
}

/* What came of the cases of one kind. */
struct Tally {
	unsigned cases = 0;
	unsigned failures = 0;
	std::array<unsigned, endings> ended = {};
	Milliseconds longest{0};
};

class Run {
public:
	Run(Lab &lab, const AbuseOptions &options,
	    const std::vector<std::string> &patterns, std::uint64_t seed);

	bool passed();

private:
	std::size_t kind_of(std::uint32_t number) const;
	bool over(std::uint32_t number) const;
	/* False: the target is gone, or enough is enough. */
	bool carry_out(std::uint32_t number);
	void after(AbuseCase &one);
	void failed(AbuseCase &one, const AbuseKind &kind,
		    const std::string &why);
	bool revive();
	void trace(std::uint32_t number, const AbuseKind &kind);
	void show_progress(std::uint32_t number, const AbuseKind &kind);
	void show_summary() const;
	double seconds() const;

	Lab &lab_;
	const AbuseOptions &options_;
	const std::uint64_t seed_;
	const std::vector<AbuseKind> kinds_ = all_kinds();
	std::vector<bool> chosen_;
	std::vector<Tally> tallies_;
	std::unique_ptr<std::FILE, int (*)(std::FILE *)> trace_{nullptr,
								std::fclose};
	const Clock::time_point start_ = Clock::now();
	Clock::time_point shown_ = Clock::now();
	Slowest slowest_;
	unsigned cases_ = 0;
	unsigned failures_ = 0;
};

Run::Run(Lab &lab, const AbuseOptions &options,
	 const std::vector<std::string> &patterns, std::uint64_t seed)
	: lab_(lab), options_(options), seed_(seed), tallies_(kinds_.size())
{
	for (const AbuseKind &kind : kinds_)
		chosen_.push_back(matches(kind, patterns));
	if (std::find(chosen_.begin(), chosen_.end(), true) == chosen_.end())
		throw Error("no kind of abuse has that name",
			    "See iserverify --abuse --list.");
	if (options.trace.empty())
		return;
	trace_.reset(std::fopen(options.trace.c_str(), "w"));
	if (!trace_)
		throw Error("cannot write to " + options.trace);
}

double Run::seconds() const
{
	return std::chrono::duration<double>(Clock::now() - start_).count();
}

/* By the seed alone, so that a choice of kinds leaves the numbers as they are. */
std::size_t Run::kind_of(std::uint32_t number) const
{
	unsigned all = 0;

	for (const AbuseKind &kind : kinds_)
		all += kind.weight;

	unsigned drawn = Random::of_case(~seed_, number).below(all);
	std::size_t chosen = 0;

	while (drawn >= kinds_[chosen].weight)
		drawn -= kinds_[chosen++].weight;
	return chosen;
}

bool Run::over(std::uint32_t number) const
{
	if (options_.only)
		return number != *options_.only;
	if (options_.cases && cases_ >= *options_.cases)
		return true;
	if (options_.cases && !options_.minutes)
		return false;
	return seconds() >= options_.minutes.value_or(default_minutes) * 60;
}

void Run::trace(std::uint32_t number, const AbuseKind &kind)
{
	if (!trace_)
		return;
	fmt::print(trace_.get(), "iserverify: seed {} case {} {}\n", seed_,
		   number, kind.name);
	std::fflush(trace_.get());
}

/* Whatever the case did, others have not noticed. */
void Run::after(AbuseCase &one)
{
	one.check_innocent();
	if (lab_.may_write && cases_ % cases_between_renewals == 0)
		lab_.renew_innocent(one.number);
}

bool Run::carry_out(std::uint32_t number)
{
	const std::size_t index = kind_of(number);
	const AbuseKind &kind = kinds_[index];
	Tally &tally = tallies_[index];
	const auto start = Clock::now();

	if (!chosen_[index])
		return true;

	AbuseCase one(lab_, seed_, number, slowest_);
	Ending ending = Ending::Left;

	one.verbose = options_.only.has_value();
	trace(number, kind);
	++cases_;
	++tally.cases;
	try {
		try {
			ending = kind.run(one);
		} catch (const ConnectError &error) {
			one.note(error.what());
			ending = Ending::Unconnected;
		} catch (const ConnectionLost &error) {
			one.note(error.what());
			ending = Ending::Closed;
		} catch (const LoginRefused &error) {
			one.note(error.what());
			ending = Ending::Refused;
		} catch (const TimedOut &error) {
			one.note(error.what());
			ending = Ending::Silent;
		}
		after(one);
	} catch (const std::exception &error) {
		++tally.failures;
		failed(one, kind, error.what());
		if (failures_ >= most_failures || !revive())
			return false;
	}
	++tally.ended[static_cast<std::size_t>(ending)];
	tally.longest = std::max(tally.longest,
				 std::chrono::ceil<Milliseconds>(Clock::now() -
								 start));
	if (options_.only)
		fmt::print("case {} ({}): {}\n", number, kind.name,
			   ending_names[static_cast<std::size_t>(ending)]);
	show_progress(number, kind);
	return true;
}

void Run::failed(AbuseCase &one, const AbuseKind &kind, const std::string &why)
{
	++failures_;
	fmt::print("FAILED: case {} ({}): {}\n", one.number, kind.name, why);
	for (const std::string &line : one.notes())
		fmt::print("    {}\n", line);
	fmt::print("    again: --abuse --seed {} --case {}\n", seed_,
		   one.number);
	std::fflush(stdout);
}

/* An innocent session again, which finds what the last one has left. */
bool Run::revive()
{
	const auto deadline = Clock::now() + revival_patience;

	do {
		try {
			lab_.start_innocent();
			return true;
		} catch (const std::exception &error) {
			fmt::print("    the innocent session: {}\n",
				   error.what());
		}
		std::this_thread::sleep_for(std::chrono::seconds(1));
	} while (Clock::now() < deadline);
	fmt::print("The target does not serve any more.\n");
	return false;
}

void Run::show_progress(std::uint32_t number, const AbuseKind &kind)
{
	if (Clock::now() - shown_ < between_progress)
		return;
	shown_ = Clock::now();
	fmt::print("{:6.0f} s {:7} cases {:6.1f}/s  slowest answer {} ms, "
		   "login {} ms  {} failed  last: {} ({})\n",
		   seconds(), cases_, cases_ / seconds(),
		   slowest_.answer.count(), slowest_.login.count(), failures_,
		   number, kind.name);
	std::fflush(stdout);
}

void Run::show_summary() const
{
	fmt::print("\n{:16}{:>8}", "kind", "cases");
	for (const char *name : ending_names)
		fmt::print("{:>10}", name);
	fmt::print("{:>8}{:>11}\n", "failed", "longest");
	for (std::size_t i = 0; i < kinds_.size(); ++i) {
		const Tally &tally = tallies_[i];

		if (!chosen_[i])
			continue;
		fmt::print("{:16}{:8}", kinds_[i].name, tally.cases);
		for (unsigned count : tally.ended)
			fmt::print("{:10}", count);
		fmt::print("{:8}{:8} ms\n", tally.failures,
			   tally.longest.count());
	}
	fmt::print("\nseed {}: {} cases in {:.0f} s, {} failed; slowest answer "
		   "to the innocent session {} ms, slowest login {} ms\n",
		   seed_, cases_, seconds(), failures_,
		   slowest_.answer.count(), slowest_.login.count());
	std::fflush(stdout);
}

bool Run::passed()
{
	for (std::uint32_t number = options_.only.value_or(options_.first);
	     !over(number); ++number)
		if (!carry_out(number))
			break;
	show_summary();
	if (failures_ == 0)
		lab_.stop_innocent();
	if (cases_ == 0)
		throw Error("no case was run",
			    "Give it more time, or another --case.");
	return failures_ == 0;
}

std::uint64_t new_seed()
{
	std::random_device device;

	return device();
}

} // namespace

void define_abuse(CLI::App &app, AbuseOptions &options)
{
	app.add_flag("--abuse", options.wanted,
		     "send malformed PDUs, floods and the like; not for a "
		     "target that others use");
	app.add_option("--seed", options.seed,
		       "the same seed: the same cases");
	app.add_option("--minutes", options.minutes,
		       "how long the abuse goes on (1)");
	app.add_option("--cases", options.cases, "or how many cases");
	app.add_option("--case", options.only,
		       "this case alone, and all that it sends");
	app.add_option("--first-case", options.first,
		       "number of the first case");
	app.add_option("--trace", options.trace,
		       "a file that gets a line before each case");
	/* Of the kind "killed", for its child. */
	app.add_option("--abuse-victim", options.victim)->group("");
}

void list_abuse()
{
	for (const AbuseKind &kind : all_kinds())
		fmt::print("{:16}{}\n", kind.name, kind.title);
}

bool abuse(Lab &lab, const AbuseOptions &options,
	   const std::vector<std::string> &kinds)
{
	if (options.victim)
		be_a_victim(lab, *options.victim);
	const std::uint64_t seed = options.seed.value_or(new_seed());
	Run run(lab, options, kinds, seed);

	lab.start_innocent();
	fmt::print("seed {}; one case again: --abuse --seed {} --case NUMBER\n",
		   seed, seed);
	std::fflush(stdout);
	return run.passed();
}

} // namespace iserverify
