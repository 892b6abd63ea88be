// SPDX-License-Identifier: GPL-2.0
#include "profile.h"

#include "libiser/error.h"

namespace iserverify {

namespace {

const ProfileRules profiles[] = {
	{Profile::Linux, "linux", {},
	 "Linux's initiators have neither a Hello nor the keys of RFC 7145"},
	{Profile::Rfc7145, "7145",
	 {{"TaggedBufferForSolicitedDataOnly", "Yes"},
	  {"iSERHelloRequired", "No"},
	  {"MaxOutstandingUnexpectedPDUs", "16"},
	  {"MaxAHSLength", "256"}},
	 "it is about an initiator that does not declare what RFC 7145 lets "
	 "it declare"},
	{Profile::Rfc5046, "5046", {{"MaxOutstandingUnexpectedPDUs", "16"}},
	 "RFC 5046 has headers of 12 bytes and a login over TCP, which an RDMA "
	 "connection from its start has not"},
};

} // namespace

const ProfileRules &rules_of(Profile profile)
{
	for (const ProfileRules &rules : profiles)
		if (rules.profile == profile)
			return rules;
	throw libiser::Error("no such profile");
}

Profile profile_of(const std::string &name)
{
	for (const ProfileRules &rules : profiles)
		if (rules.name == name)
			return rules.profile;
	throw libiser::Error("there is no profile " + name);
}

std::vector<std::string> profile_names()
{
	std::vector<std::string> names;

	for (const ProfileRules &rules : profiles)
		names.push_back(rules.name);
	return names;
}

} // namespace iserverify
