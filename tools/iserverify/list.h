// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <string>
#include <vector>

#include "lab.h"

namespace iserverify {

/*
 * @checks and all requirements, for programs: an object with "requirements"
 * and "checks".  A requirement that binds only the initiator has no title.
 */
std::string list_as_json(const std::vector<Check> &checks);

} // namespace iserverify
