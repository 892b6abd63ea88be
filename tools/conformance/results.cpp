// SPDX-License-Identifier: GPL-2.0
#include "results.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

namespace conformance {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/* Any error of parsing or of a missing or wrong member names the file. */
template <typename Function>
auto with_json(const fs::path &file, Function function)
{
	try {
		return function(json::parse(read_text(file)));
	} catch (const json::exception &error) {
		throw BadInput(file.string() + ": " + error.what());
	}
}

Requirement to_requirement(const json &object)
{
	Requirement requirement;

	requirement.number = object.at("number");
	requirement.section = object.at("section");
	requirement.level = object.at("level");
	requirement.chapter = object.at("chapter");
	requirement.title = object.at("title");
	requirement.untestable = object.value("untestable", std::string());
	return requirement;
}

Check to_check(const json &object)
{
	Check check;

	check.name = object.at("name");
	check.group = object.at("group");
	check.title = object.at("title");
	check.requirements =
		object.at("requirements").get<std::vector<std::string>>();
	check.chapter = object.at("chapter");
	return check;
}

constexpr struct {
	const char *word;
	Verdict verdict;
} verdicts[] = {
	{"passed", Verdict::Passed},
	{"failed", Verdict::Failed},
	{"hung", Verdict::Hung},
	{"crashed", Verdict::Crashed},
	{"skipped", Verdict::NotApplicable},
};

Verdict to_verdict(const std::string &word)
{
	for (const auto &one : verdicts)
		if (word == one.word)
			return one.verdict;
	throw BadInput("no verdict is called " + word);
}

void take_result(Run &run, const Suite &suite, const std::string &line)
{
	const json result = json::parse(line);
	const std::string name = result.at("name");
	Outcome outcome;

	if (std::none_of(suite.checks.begin(), suite.checks.end(),
			 [&](const Check &check) {
				 return check.name == name;
			 }))
		throw BadInput("the suite has no check " + name);
	outcome.verdict = to_verdict(result.at("verdict"));
	outcome.evidence = result.value("why", std::string());
	run.outcomes[name] = outcome;
}

void take_results(Run &run, const Suite &suite, const fs::path &file)
{
	std::ifstream in(file);
	std::string line;
	unsigned number = 0;

	if (!in)
		throw BadInput(file.string() + ": cannot be read");
	while (std::getline(in, line)) {
		++number;
		try {
			take_result(run, suite, line);
		} catch (const std::exception &error) {
			throw BadInput(file.string() + ":" +
				       std::to_string(number) + ": " +
				       error.what());
		}
	}
}

unsigned to_count(const fs::path &file, const std::string &text)
{
	try {
		return static_cast<unsigned>(std::stoul(text));
	} catch (const std::logic_error &) {
		throw BadInput(file.string() + ": no count: " + text);
	}
}

/* Lines KEY=VALUE. */
void take_description(Run &run, const fs::path &file)
{
	std::ifstream in(file);
	std::string line;
	const std::map<std::string, std::string *> words = {
		{"target", &run.target},   {"rdma", &run.rdma},
		{"kernel", &run.kernel},   {"version", &run.version},
		{"broken", &run.broken},
	};

	if (!in)
		throw BadInput(file.string() + ": cannot be read");
	while (std::getline(in, line)) {
		const std::size_t equals = line.find('=');
		const std::string key = line.substr(0, equals);
		const std::string value =
			equals == std::string::npos ? "" :
			line.substr(equals + 1);
		const auto word = words.find(key);

		if (word != words.end())
			*word->second = value;
		else if (key == "fact")
			run.facts.push_back(value);
		else if (key == "guests")
			run.guests = to_count(file, value);
		else
			throw BadInput(file.string() + ": unknown line: " +
				       line);
	}
	if (run.target.empty() || run.rdma.empty() || run.kernel.empty())
		throw BadInput(file.string() + ": names no target, RDMA type "
			       "or kernel");
}

} // namespace

const Outcome &Run::outcome(const std::string &check) const
{
	static const Outcome not_run;
	const auto found = outcomes.find(check);

	return found == outcomes.end() ? not_run : found->second;
}

std::string read_text(const fs::path &file)
{
	std::ifstream in(file, std::ios::binary);
	std::string text(std::istreambuf_iterator<char>(in), {});

	if (!in)
		throw BadInput(file.string() + ": cannot be read");
	return text;
}

Suite read_suite(const fs::path &file)
{
	return with_json(file, [&](const json &list) {
		Suite suite;

		for (const json &object : list.at("requirements"))
			if (!object.at("title").get<std::string>().empty())
				suite.requirements.push_back(
					to_requirement(object));
		for (const json &object : list.at("checks"))
			suite.checks.push_back(to_check(object));
		if (suite.requirements.empty() || suite.checks.empty())
			throw BadInput(file.string() + ": lists nothing");
		return suite;
	});
}

Run read_run(const fs::path &folder, const Suite &suite)
{
	Run run;

	take_description(run, folder / "run");
	take_results(run, suite, folder / "results.jsonl");
	return run;
}

} // namespace conformance
