// SPDX-License-Identifier: GPL-2.0
/*
 * iser-raw: tries on an iSER target what no honest initiator does, and says in
 * TAP what came of it.  It writes to LUN 0 of the target.
 */
#include <cstdio>
#include <cstring>
#include <getopt.h>

#include "lab.h"

using namespace raw;

namespace {

const char usage[] =
	"usage: iser-raw [OPTIONS] HOST PORT TARGET-IQN CASE|GROUP...\n"
	"       iser-raw --list [GROUP...]\n"
	"\n"
	"Overwrites LUN 0 of the target, which needs 32 MiB.  Options:\n"
	"  --initiator NAME           iSCSI name to log in with\n"
	"  --chap NAME:SECRET         proves us to the target\n"
	"  --mutual-chap NAME:SECRET  proves the target to us\n"
	"  --long-target IQN          a second target, with a long name\n"
	"  --targets COUNT            how many targets a discovery finds\n"
	"\n"
	"Exit code: 0 all passed, 1 something failed, 2 the target cannot be\n"
	"reached or the call is wrong.\n";

std::vector<Case> all_cases()
{
	std::vector<Case> all;

	for (auto cases : {length_cases, login_cases, connection_cases,
			   data_cases, task_cases, protocol_cases,
			   hello_cases})
		for (const Case &one : cases())
			all.push_back(one);
	return all;
}

std::vector<Case> chosen(char **names)
{
	std::vector<Case> cases;

	for (; *names; ++names) {
		std::size_t before = cases.size();

		for (const Case &one : all_cases())
			if (!std::strcmp(one.group, *names) ||
			    !std::strcmp(one.name, *names))
				cases.push_back(one);
		if (cases.size() == before)
			throw Error(std::string("no case or group ") + *names,
				    "See iser-raw --list.");
	}
	return cases;
}

int list(char **names)
{
	for (const Case &one : *names ? chosen(names) : all_cases())
		std::printf("%s %s %s\n", one.group, one.name, one.title);
	return 0;
}

ChapAccount account(const char *text)
{
	const char *colon = std::strchr(text, ':');

	if (!colon)
		throw Error("NAME:SECRET is expected");
	return {std::string(text, colon), colon + 1};
}

/* Whether the case passed; says so. */
bool run(Lab &lab, const Case &one, unsigned number)
{
	std::string why;

	try {
		one.run(lab);
		lab.check_innocent();
	} catch (const std::exception &error) {
		why = error.what();
	}
	if (!why.empty())
		std::printf("# %s\n", why.c_str());
	std::printf("%sok %u - %s\n", why.empty() ? "" : "not ", number,
		    one.title);
	std::fflush(stdout);
	return why.empty();
}

int run_all(Lab &lab, const std::vector<Case> &cases)
{
	unsigned number = 0;
	unsigned failed = 0;

	lab.start_innocent();
	std::printf("TAP version 13\n1..%zu\n", cases.size() + 1);
	for (const Case &one : cases)
		failed += !run(lab, one, ++number);
	failed += !run(lab, {"", "", "the innocent session logs out",
			     [](Lab &) {}}, ++number);
	lab.stop_innocent();
	return failed ? 1 : 0;
}

int call(int argc, char **argv)
{
	static const option options[] = {
		{"die-at", required_argument, nullptr, 'd'},
		{"list", no_argument, nullptr, 'l'},
		{"help", no_argument, nullptr, 'h'},
		{"initiator", required_argument, nullptr, 'i'},
		{"chap", required_argument, nullptr, 'c'},
		{"mutual-chap", required_argument, nullptr, 'm'},
		{"long-target", required_argument, nullptr, 'o'},
		{"targets", required_argument, nullptr, 't'},
		{},
	};
	Lab lab;
	bool listing = false;
	int dying = -1; /* the stage */
	int option;

	while ((option = getopt_long(argc, argv, "lh", options, nullptr)) != -1)
		switch (option) {
		case 'd': dying = std::atoi(optarg); break;
		case 'l': listing = true; break;
		case 'h': std::fputs(usage, stdout); return 0;
		case 'i': lab.initiator_name = optarg; break;
		case 'c': lab.chap = account(optarg); break;
		case 'm': lab.mutual_chap = account(optarg); break;
		case 'o': lab.long_target_name = optarg; break;
		case 't':
			lab.targets = static_cast<unsigned>(
				std::atoi(optarg));
			break;
		default: std::fputs(usage, stderr); return 2;
		}
	if (listing)
		return list(argv + optind);
	if (argc - optind < 4) {
		std::fputs(usage, stderr);
		return 2;
	}
	lab.address = argv[optind];
	lab.port = static_cast<std::uint16_t>(std::atoi(argv[optind + 1]));
	lab.target_name = argv[optind + 2];
	if (dying >= 0)
		die_at(lab, dying);
	return run_all(lab, chosen(argv + optind + 3));
}

} // namespace

int main(int argc, char **argv)
{
	try {
		return call(argc, argv);
	} catch (const Error &error) {
		std::fprintf(stderr, "iser-raw: %s. %s\n", error.what(),
			     error.remedy().c_str());
	} catch (const std::exception &error) {
		std::fprintf(stderr, "iser-raw: %s.\n", error.what());
	}
	return 2;
}
