// SPDX-License-Identifier: GPL-2.0
#include "list.h"

#include <map>

#include <nlohmann/json.hpp>

#include "requirement.h"

namespace iserverify {

namespace {

const std::map<std::string, std::string> titles = {
#define REQUIREMENT_TITLE(number, title) {number, title},
#include "requirement_title.def"
#undef REQUIREMENT_TITLE
};

nlohmann::json requirement_as_json(const Requirement &requirement)
{
	const auto title = titles.find(requirement.number);

	return {
		{"number", requirement.number},
		{"section", requirement.section},
		{"level", requirement.level},
		{"chapter", chapter_of(requirement.section)},
		{"title", title == titles.end() ? "" : title->second},
		{"untestable", requirement.untestable ?
				       requirement.untestable : ""},
	};
}

std::vector<std::string> profiles_of(const Check &check)
{
	std::vector<std::string> names;

	for (const std::string &name : profile_names())
		if (has(check.profiles, profile_of(name)))
			names.push_back(name);
	return names;
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
		{"profiles", profiles_of(check)},
	};
}

} // namespace

std::string list_as_json(const std::vector<Check> &checks)
{
	nlohmann::json list = {
		{"requirements", nlohmann::json::array()},
		{"checks", nlohmann::json::array()},
	};

	for (const Requirement &requirement : all_requirements())
		list["requirements"].push_back(
			requirement_as_json(requirement));
	for (const Check &check : checks)
		list["checks"].push_back(check_as_json(check));
	return list.dump(2);
}

} // namespace iserverify
