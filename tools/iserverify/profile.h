// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <string>
#include <vector>

#include "libiser/pdu.h"

namespace iserverify {

/* Which initiator iserverify is, and so what it may ask of a target. */
enum class Profile : unsigned {
	Linux = 1,   /* what ib_iser and libiscsi do */
	Rfc7145 = 2, /* the current standard to the letter */
	Rfc5046 = 4, /* its keys, as far as an RDMA connection carries them */
};
inline constexpr Profile default_profile = Profile::Rfc7145;

/* Several: Profile's values added up. */
using Profiles = unsigned;
inline constexpr Profiles linux_only = 1;
inline constexpr Profiles rfc7145_only = 2;
/* Needs iSER messages as everyone but RFC 5046 has them. */
inline constexpr Profiles over_verbs = 3;
/* Says nothing about where the write base offset is. */
inline constexpr Profiles silent_base = 5;
/* Rules of the login and its keys, the same in all. */
inline constexpr Profiles every_profile = 7;

struct ProfileRules {
	Profile profile;
	const char *name; /* of the option --profile */
	/* Declared in every login unless a check says otherwise. */
	libiser::TextKeys keys;
	/* Why a check is not run that does not belong to it. */
	const char *why_not;
};

const ProfileRules &rules_of(Profile profile);
/* Throws Error if there is no profile with that name. */
Profile profile_of(const std::string &name);
std::vector<std::string> profile_names();

inline bool has(Profiles profiles, Profile profile)
{
	return profiles & static_cast<unsigned>(profile);
}

} // namespace iserverify
