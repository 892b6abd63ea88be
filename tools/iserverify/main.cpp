// SPDX-License-Identifier: GPL-2.0
/*
 * iserverify: holds an iSER target against RFC 7145, as an initiator that knows
 * the rules and breaks them on purpose.
 */
#include <chrono>
#include <cstdio>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "abuse.h"
#include "list.h"
#include "report.h"
#include "self_test.h"
#include "suite.h"

using namespace iserverify;

namespace {

constexpr int all_passed = 0;
constexpr int some_failed = 1;
constexpr int cannot_test = 2;

struct Call {
	std::string host;
	std::string chap;
	std::string mutual_chap;
	std::vector<std::string> only;
	std::string format = "text";
	std::string output;
	std::string profile = rules_of(default_profile).name;
	bool list = false;
	bool faults = false;
	bool self_test = false;
	bool unbroken = false;
	bool untestable = false;
	int die_at = -1;
	AbuseOptions abuse;
};

ChapAccount account(const std::string &text)
{
	const std::size_t colon = text.find(':');

	if (colon == std::string::npos)
		throw Error("a CHAP account is written NAME:SECRET");
	return {text.substr(0, colon), text.substr(colon + 1)};
}

/* HOST, HOST:PORT, [ADDRESS] or [ADDRESS]:PORT */
void take_host(Lab &lab, const std::string &text)
{
	std::size_t colon = text.rfind(':');

	if (text.starts_with('[')) {
		const std::size_t end = text.find(']');

		if (end == std::string::npos)
			throw Error("an IPv6 address is written [ADDRESS]");
		lab.address = text.substr(1, end - 1);
		colon = end + 1 < text.size() ? end + 1 : std::string::npos;
	} else {
		lab.address = text.substr(0, colon);
	}
	if (colon == std::string::npos)
		return;

	char *end = nullptr;
	const unsigned long port =
		std::strtoul(text.c_str() + colon + 1, &end, 10);

	if (text[colon] != ':' || *end || port == 0 || port > 65535)
		throw Error(text + " has no port behind the colon",
			    "Write HOST:PORT, or [ADDRESS]:PORT for IPv6.");
	lab.port = static_cast<std::uint16_t>(port);
}

/* Requirements that no check is about, and why. */
int list_untestable()
{
	for (const Requirement &one : all_requirements())
		if (one.untestable)
			fmt::print("{} {} {}: {}\n", one.number, one.section,
				   one.level, one.untestable);
	return all_passed;
}

int list(const Call &call, Profile profile)
{
	if (call.faults) {
		print_sightings(stdout);
		return all_passed;
	}
	if (call.format == "json") {
		fmt::print("{}\n", list_as_json(chosen_checks(call.only)));
		return all_passed;
	}
	for (const Check &check : chosen_checks(call.only)) {
		if (!has(check.profiles, profile))
			continue;

		const Title title = take_apart(check.title);

		fmt::print("{} {} {}{}{}\n", check.group, check.name,
			   fmt::join(title.numbers, " "),
			   title.numbers.empty() ? "" : " ", title.words);
	}
	return all_passed;
}

/* Why a check is not run, or "". */
std::string reason_to_skip(const Lab &lab, const Check &check)
{
	if (!has(check.profiles, lab.profile))
		return rules_of(lab.profile).why_not;
	if (check.writes && !lab.may_write)
		return "it writes to the LUN; see --write";
	if (check.group == std::string("chap") && lab.chap.name.empty())
		return "it needs an account; see --chap";
	return "";
}

/* Runs one check and then looks after the innocent session. */
Result run(Lab &lab, const Check &check)
{
	Result result{check.group, check.name, take_apart(check.title),
		      Verdict::Passed, reason_to_skip(lab, check), 0};
	const auto start = std::chrono::steady_clock::now();

	if (!result.why.empty()) {
		result.verdict = Verdict::Skipped;
		return result;
	}
	try {
		check.run(lab);
		lab.check_innocent();
	} catch (const NotApplicable &reason) {
		result.verdict = Verdict::Skipped;
		result.why = reason.what();
	} catch (const std::exception &error) {
		result.verdict = Verdict::Failed;
		result.why = error.what();
	}
	result.milliseconds =
		std::chrono::duration_cast<std::chrono::milliseconds>(
			std::chrono::steady_clock::now() - start).count();
	return result;
}

/*
 * siw holds even root to the limit of locked memory, and some checks register
 * more than it usually is.  Where we may not raise it they say so themselves.
 */
void raise_memory_limit()
{
	const rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};

	setrlimit(RLIMIT_MEMLOCK, &unlimited);
}

int run_all(Lab &lab, const std::vector<Check> &checks, Report &report)
{
	bool failed = false;
	bool tested = false;
	const auto note = [&](const Result &result) {
		failed = failed || result.verdict == Verdict::Failed;
		report.add(result);
	};
	const auto carry_out = [&](const Check &check) {
		const Result result = run(lab, check);

		tested = tested || result.verdict != Verdict::Skipped;
		note(result);
	};

	lab.start_innocent();
	report.begin({fmt::format("{}:{}", lab.address, lab.port),
		      lab.target_name, static_cast<unsigned>(lab.lun)},
		     checks.size() + 1);
	for (const Check &check : checks)
		carry_out(check);
	note(run(lab, {"innocent", "innocent",
		       "the session that did nothing wrong logs out",
		       [](Lab &) {}, every_profile, false}));
	lab.stop_innocent();
	report.end();
	if (!tested)
		throw Error("every check was skipped, so nothing was tested");
	return failed ? some_failed : all_passed;
}

int run_self_test(Lab &lab, const Call &call, std::FILE *to)
{
	const auto report = call.format == "text" ?
		make_self_test_report(to) : make_report(call.format, to);

	return self_test(lab, chosen_checks(call.only), call.unbroken,
			 *report, reason_to_skip) ? all_passed : some_failed;
}

void define(CLI::App &app, Call &call, Lab &lab)
{
	app.add_option("host", call.host, "the target's portal: HOST[:PORT]");
	app.add_option("iqn", lab.target_name, "name of the target");
	app.add_option("lun", lab.lun, "logical unit to test with")
		->capture_default_str();
	app.add_flag("--write", lab.may_write,
		     "let checks overwrite the LUN, which needs 32 MiB");
	app.add_option("--only", call.only,
		       "checks, groups or requirements, as T-0*")
		->allow_extra_args(false);
	app.add_option("--profile", call.profile,
		       "the initiator to be: as Linux's, or to the letter of "
		       "an RFC")
		->check(CLI::IsMember(profile_names()))->capture_default_str();
	app.add_flag("--list", call.list,
		     "name the checks of the profile and end; with --format "
		     "json the requirements, too");
	app.add_flag("--untestable", call.untestable,
		     "with --list: requirements that no check is about, and "
		     "why");
	app.add_flag("--faults", call.faults,
		     "with --list: by what each check is seen to fail");
	app.add_flag("--self-test", call.self_test,
		     "see each check fail on a target that is broken for it");
	app.add_flag("--unbroken", call.unbroken,
		     "with --self-test: see each check pass before that");
	app.add_option("--format", call.format, "form of the report")
		->check(CLI::IsMember(report_forms()))->capture_default_str();
	app.add_option("--output", call.output, "file of the report");
	app.add_option("--initiator", lab.initiator_name,
		       "iSCSI name to log in with")->capture_default_str();
	app.add_option("--chap", call.chap,
		       "NAME:SECRET that proves us to the target");
	app.add_option("--mutual-chap", call.mutual_chap,
		       "NAME:SECRET that proves the target to us");
	app.add_option("--long-target", lab.long_target_name,
		       "a second target, with a long name");
	app.add_option("--targets", lab.targets,
		       "how many targets a discovery finds")
		->capture_default_str();
	/* Of the check "killed", for its child. */
	app.add_option("--die-at", call.die_at)->group("");
	define_abuse(app, call.abuse);
	app.footer("Exit code: 0 all passed, 1 something failed, 2 the target "
		   "cannot be tested.");
}

int carry_out(Call &call, Lab &lab)
{
	lab.profile = profile_of(call.profile);
	if (call.list && call.abuse.wanted) {
		list_abuse();
		return all_passed;
	}
	if (call.list || call.untestable)
		return call.untestable ? list_untestable() :
					 list(call, lab.profile);
	if (call.host.empty() || lab.target_name.empty())
		throw Error("a portal and a target are needed",
			    "iserverify HOST[:PORT] TARGET-IQN [LUN]");
	take_host(lab, call.host);
	raise_memory_limit();
	if (!call.chap.empty())
		lab.chap = account(call.chap);
	if (!call.mutual_chap.empty())
		lab.mutual_chap = account(call.mutual_chap);
	if (call.die_at >= 0)
		die_at(lab, call.die_at);

	if (call.abuse.wanted || call.abuse.victim)
		return abuse(lab, call.abuse, call.only) ? all_passed
							 : some_failed;

	std::FILE *to = call.output.empty() ? stdout :
		std::fopen(call.output.c_str(), "w");

	if (!to)
		throw Error("cannot write to " + call.output);

	const int status = call.self_test ? run_self_test(lab, call, to) :
		run_all(lab, chosen_checks(call.only),
			*make_report(call.format, to));

	if (to != stdout && std::fclose(to) != 0)
		throw Error("cannot write to " + call.output);
	return status;
}

} // namespace

int main(int argc, char **argv)
{
	CLI::App app("Holds an iSER target against RFC 7145.", "iserverify");
	Call call;
	Lab lab;

	try {
		define(app, call, lab);
		app.parse(argc, argv);
		return carry_out(call, lab);
	} catch (const CLI::ParseError &error) {
		return app.exit(error) == 0 ? all_passed : cannot_test;
	} catch (const Error &error) {
		fmt::print(stderr, "iserverify: {}. {}\n", error.what(),
			   error.remedy());
	} catch (const std::exception &error) {
		fmt::print(stderr, "iserverify: {}.\n", error.what());
	}
	return cannot_test;
}
