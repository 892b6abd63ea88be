// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <string>
#include <vector>

#include "results.h"

namespace conformance {

/*
 * The whole document, in Markdown: scores, chapters, requirements, checks, and
 * what failed.  Throws BadInput if there are no runs.
 */
std::string to_markdown(const Suite &suite, const std::vector<Run> &runs);

/*
 * How the checks and requirements that a document of to_markdown() has differ
 * from those of @suite: a line for each.
 */
std::vector<std::string> differences(const std::string &document,
				     const Suite &suite);

} // namespace conformance
