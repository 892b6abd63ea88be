// SPDX-License-Identifier: GPL-2.0
#include "list.h"

#include <map>

#include <nlohmann/json.hpp>

#include "requirement.h"

namespace iserverify {

namespace {

constexpr const char *numbers[] = {
#define REQUIREMENT(number, ...) number,
#include "requirement.def"
#undef REQUIREMENT
};

const std::map<std::string, std::string> titles = {
#define REQUIREMENT_TITLE(number, title) {number, title},
#include "requirement_title.def"
#undef REQUIREMENT_TITLE
};

nlohmann::json requirement_as_json(const std::string &number)
{
	const Requirement *requirement = find_requirement(number);
	const auto title = titles.find(number);

	return {
		{"number", number},
		{"section", requirement->section},
		{"level", requirement->level},
		{"chapter", chapter_of(requirement->section)},
		{"title", title == titles.end() ? "" : title->second},
	};
}

nlohmann::json check_as_json(const Check &check)
{
	const Title title = take_apart(check.title);
	const std::string section = section_of(title);

	return {
		{"group", check.group},
		{"name", check.name},
		{"requirements", title.numbers},
		{"section", section},
		{"chapter", chapter_of(section)},
		{"title", title.words},
	};
}

} // namespace

std::string list_as_json(const std::vector<Check> &checks)
{
	nlohmann::json list = {
		{"requirements", nlohmann::json::array()},
		{"checks", nlohmann::json::array()},
	};

	for (const char *number : numbers)
		list["requirements"].push_back(requirement_as_json(number));
	for (const Check &check : checks)
		list["checks"].push_back(check_as_json(check));
	return list.dump(2);
}

} // namespace iserverify
