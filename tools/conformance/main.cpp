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
constexpr int bad_input = 2;

struct Call {
	std::string suite;
	std::vector<std::string> folders;
	std::string output;
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

void carry_out(const Call &call)
{
	const Suite suite = read_suite(call.suite);
	std::vector<Run> runs;

	for (const std::string &folder : call.folders)
		runs.push_back(read_run(folder, suite));
	write(call, to_markdown(suite, runs));
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
		       "table")
		->required();
	app.add_option("--output", call.output, "file of the table");
	try {
		app.parse(argc, argv);
		carry_out(call);
		return done;
	} catch (const CLI::ParseError &error) {
		return app.exit(error) == 0 ? done : bad_input;
	} catch (const std::exception &error) {
		fmt::print(stderr, "conformance-table: {}\n", error.what());
	}
	return bad_input;
}
