// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "broken.h"

namespace iserverify {

/* A way to be broken. */
struct Fault {
	std::string name;
	std::string does; /* a sentence whose subject is the target */
	std::function<Breakages()> make;
};

/* A fault by which a check is seen to fail. */
struct Sighting {
	const char *check;
	const char *fault;
	const char *says; /* a part of what the check says then */
};

/* By the layer that is broken. */
std::vector<Fault> connection_faults();
std::vector<Fault> login_faults();
std::vector<Fault> key_faults();
std::vector<Fault> data_faults();
std::vector<Fault> pdu_faults();

const std::vector<Fault> &all_faults();
/* Throws Error if there is none of that name. */
const Fault &find_fault(const std::string &name);
/* In the order of the table; empty if there is none. */
std::vector<Sighting> sightings_of(const std::string &check);
const std::vector<Sighting> &all_sightings();

} // namespace iserverify
