// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <string>
#include <vector>

#include "lab.h"

namespace iserverify {

/* All checks, each with writes set, in the order they are run in. */
std::vector<Check> all_checks();

/*
 * Those whose group, name or a number matches one of @patterns, as a shell
 * would: T-0*.  Without patterns all but the group "open", of checks that are
 * known to fail for a reason outside the target's protocol.  Throws Error for
 * a pattern that matches nothing.
 */
std::vector<Check> chosen_checks(const std::vector<std::string> &patterns);

} // namespace iserverify
