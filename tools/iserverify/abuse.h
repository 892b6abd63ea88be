// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace iserverify {

class Lab;

/* What the command line says about abuse mode. */
struct AbuseOptions {
	bool wanted = false;
	std::optional<std::uint64_t> seed;
	std::optional<double> minutes;
	std::optional<std::uint32_t> cases;
	/* Only this one. */
	std::optional<std::uint32_t> only;
	std::uint32_t first = 0;
	/* Gets a line before each case, for what survives the target. */
	std::string trace;
	/* This process is to be killed: its seed. */
	std::optional<std::uint64_t> victim;
};

void define_abuse(CLI::App &app, AbuseOptions &options);
/* Names the kinds of cases there are. */
void list_abuse();

/*
 * Case by case until the time is over.  @kinds: patterns of their names, all if
 * there is none.  True if the target stood it.
 */
bool abuse(Lab &lab, const AbuseOptions &options,
	   const std::vector<std::string> &kinds);

} // namespace iserverify
