// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <string>
#include <vector>

#include "libiser/session.h"
#include "random.h"

namespace iserverify {

using libiser::ByteVector;
using libiser::TextKeys;

/* One Login Request of a login: its flags, and its text as bytes. */
struct LoginStep {
	std::uint8_t flags = 0;
	ByteVector text;
};

/* A login as its requests, to be sent one after the answer to the other. */
struct LoginPlan {
	std::vector<LoginStep> steps;
	/* What was done to it, in words. */
	std::string changes;
};

/* Legal text of the full feature phase and of logins, of all keys there are. */
TextKeys some_keys(Random &random);

/*
 * A legal login for @options: in one stage or in two, in one piece or as a
 * chain with the C bit, its keys in one request or in several.
 */
LoginPlan legal_login(const libiser::LoginOptions &options, Random &random);

/* Changes @plan in one way: a key, a value, bytes, flags or the order. */
void mutate_login(LoginPlan &plan, Random &random);
/* Changes text in one way, whatever it is for; what was done, in words. */
std::string mutate_text(ByteVector &text, Random &random);

} // namespace iserverify
