// SPDX-License-Identifier: GPL-2.0
#include "suite.h"

#include <algorithm>
#include <fnmatch.h>
#include <iterator>

#include "requirement.h"

namespace iserverify {

namespace {

/* Groups that send no data for the LUN. */
constexpr const char *reading_groups[] = {
	"early", "login", "chap", "stalled", "connection", "hello", "text",
	"keys", "open", "order",
};
/*
 * And checks among these that do, or others that do not.  A mistake here fails
 * the check: without --write its sessions refuse to write.
 */
constexpr const char *writing_checks[] = {
	"hello-required", "hello-depths", "hello-no-reads",
	"hello-unsolicited", "silent-base",
};
constexpr const char *reading_checks[] = {
	"short-first-login", "short-second-login", "short-full-feature",
	"lie-first-login", "lie-later-login", "lie-text", "lie-nop-out",
	"lie-logout", "lie-task-management", "no-data", "short-read",
	"read-to-nowhere", "functions", "abort-unknown", "abort-numbered",
	"reassign", "unknown-function", "logout-reasons", "logout-no-reason",
	"login-in-full-feature", "snack", "unknown-opcodes", "target-opcodes",
	"iser-opcodes-login", "iser-opcodes", "reserved", "send-opcodes",
	"pings", "large-ping", "pings-without-answer", "answer-to-no-ping",
	"cmd-sn", "padding",
	"stags-nowhere", "short-buffer", "private-data",
	"odd-private-data",
	"stat-sn", "exp-cmd-sn", "rejects-numbered", "immediate-command", "immediates",
	"immediates-beyond", "silence", "target-ping", "nop-out-form",
};

template <typename List> bool has(const List &list, const std::string &name)
{
	return std::find(std::begin(list), std::end(list), name) !=
	       std::end(list);
}

bool writes(const Check &check)
{
	if (has(writing_checks, check.name))
		return true;
	return !has(reading_groups, check.group) &&
	       !has(reading_checks, check.name);
}

bool matches(const Check &check, const std::string &pattern)
{
	const auto is = [&](const std::string &text) {
		return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
	};
	const Title title = take_apart(check.title);

	return is(check.group) || is(check.name) ||
	       std::any_of(title.numbers.begin(), title.numbers.end(), is);
}

void add_once(std::vector<Check> &chosen, const Check &check)
{
	for (const Check &one : chosen)
		if (one.name == std::string(check.name))
			return;
	chosen.push_back(check);
}

/* An earlier pattern chose all that this one would. */
bool known(const std::vector<Check> &chosen, const std::string &pattern)
{
	return std::any_of(chosen.begin(), chosen.end(),
			   [&](const Check &check) {
				   return matches(check, pattern);
			   });
}

} // namespace

std::vector<Check> all_checks()
{
	std::vector<Check> all;

	for (auto checks : {length_checks, login_checks, connection_checks,
			    data_checks, task_checks, protocol_checks,
			    hello_checks, rdma_checks, key_checks,
			    session_key_checks, stage_checks,
			    unsolicited_checks, stag_checks, flow_checks,
			    order_checks})
		for (Check check : checks()) {
			check.writes = writes(check);
			all.push_back(check);
		}
	return all;
}

std::vector<Check> chosen_checks(const std::vector<std::string> &patterns)
{
	std::vector<Check> chosen;

	if (patterns.empty()) {
		for (const Check &check : all_checks())
			if (check.group != std::string("open"))
				chosen.push_back(check);
		return chosen;
	}
	for (const std::string &pattern : patterns) {
		const std::size_t before = chosen.size();

		for (const Check &check : all_checks())
			if (matches(check, pattern))
				add_once(chosen, check);
		if (chosen.size() == before && !known(chosen, pattern))
			throw Error("no check, group or requirement matches " +
				    pattern, "See iserverify --list.");
	}
	return chosen;
}

} // namespace iserverify
