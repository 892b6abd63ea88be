// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <string>
#include <vector>

#include "lab.h"

namespace iserverify {

/*
 * What is wrong with @checks as a whole, a line each: a requirement (T, B, N,
 * K, E) that has neither a check nor a reason why there can be none, or both; a
 * number that is no requirement; two checks of one name.
 */
std::vector<std::string> faults_of_coverage(const std::vector<Check> &checks);

} // namespace iserverify
