// SPDX-License-Identifier: GPL-2.0
/*
 * conformance-table: makes Documentation/conformance.md of what
 * tests/conformance has found.
 */
#include <cstdio>
#include <fstream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "table.h"

using namespace conformance;

namespace {

constexpr int done = 0;
constexpr int out_of_date = 1;
constexpr int bad_input = 2;

struct Call {
	std::string suite;
	std::vector<std::string> folders;
	std::string output;
	std::string check;
};

void write(const Call &call, const std::string &text)
{
	if (call.output.empty()) {
		fmt::print("{}", text);
		return;
	}

	std::ofstream out(call.output, std::ios::binary);

	out << text;
	out.close();
	if (!out)
		throw BadInput(call.output + ": cannot be written");
}

int check(const Call &call, const Suite &suite)
{
	const auto found = differences(read_text(call.check), suite);

	for (const std::string &difference : found)
		fmt::print("{}: {}\n", call.check, difference);
	return found.empty() ? done : out_of_date;
}

int carry_out(const Call &call)
{
	const Suite suite = read_suite(call.suite);
	std::vector<Run> runs;

	if (!call.check.empty())
		return check(call, suite);
	for (const std::string &folder : call.folders)
		runs.push_back(read_run(folder, suite));
	write(call, to_markdown(suite, runs));
	return done;
}

} // namespace

int main(int argc, char **argv)
{
	CLI::App app("Makes a table of what iserverify found.",
		     "conformance-table");
	Call call;

	app.add_option("suite", call.suite,
		       "what iserverify --list --format json says")
		->required();
	app.add_option("folder", call.folders,
		       "results of tests/conformance/one, in the order of the "
		       "table");
	app.add_option("--output", call.output, "file of the table");
	app.add_option("--check", call.check,
		       "only say how the suite and this table differ; exit "
		       "code 1 if they do");
	try {
		app.parse(argc, argv);
		return carry_out(call);
	} catch (const CLI::ParseError &error) {
		return app.exit(error) == 0 ? done : bad_input;
	} catch (const std::exception &error) {
		fmt::print(stderr, "conformance-table: {}\n", error.what());
	}
	return bad_input;
}
