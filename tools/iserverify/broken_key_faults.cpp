// SPDX-License-Identifier: GPL-2.0
/* Keys of the login: RFC 7143 13 and RFC 7145 6. */
#include "broken_faults.h"
#include "broken_parts.h"

namespace iserverify {

namespace {

struct KeyAndValue {
	const char *key;
	const char *value;
};

/* Wrong as answers, whatever or whenever somebody offers them. */
constexpr KeyAndValue wrong_answers[] = {
	{"TargetRecvDataSegmentLength", "16777215"},
	{"TargetRecvDataSegmentLength", "512"},
	{"TargetRecvDataSegmentLength", "Reject"},
	{"InitiatorRecvDataSegmentLength", "16777215"},
	{"InitiatorRecvDataSegmentLength", "Irrelevant"},
	{"MaxBurstLength", "16777215"},
	{"FirstBurstLength", "16777215"},
	{"MaxOutstandingR2T", "65535"},
	{"ErrorRecoveryLevel", "2"},
	{"MaxConnections", "65535"},
	{"DefaultTime2Wait", "0"},
	{"DefaultTime2Retain", "3600"},
	{"InitialR2T", "No"},
	{"ImmediateData", "Yes"},
	{"DataPDUInOrder", "No"},
	{"DataSequenceInOrder", "No"},
	{"TaskReporting", "RFC3720,ResponseFence"},
	{"OFMarker", "NotUnderstood"},
	{"OFMarkInt", "2048"},
	{"InitiatorAlias", "host"},
	{"MaxOutstandingUnexpectedPDUs", "NotUnderstood"},
	{"MaxOutstandingUnexpectedPDUs", "1"},
	{"MaxAHSLength", "NotUnderstood"},
	{"MaxAHSLength", "1"},
	{"TaggedBufferForSolicitedDataOnly", "Yes"},
	{"initialr2t", "No"},
};

/* What the target takes a key for, good or bad. */
constexpr KeyAndValue taken_for[] = {
	{"MaxBurstLength", "65536"},
	{"TargetRecvDataSegmentLength", "2048"},
	{"MaxOutstandingUnexpectedPDUs", "16"},
	{"MaxAHSLength", "256"},
	{"iSERHelloRequired", "No"},
	{"TaggedBufferForSolicitedDataOnly", "Yes"},
};

/* What the target agrees to, good or bad, and what it goes on with. */
constexpr KeyAndValue agreed_to[] = {
	{"TargetRecvDataSegmentLength", "8192"},
	{"InitiatorRecvDataSegmentLength", "8192"},
	{"MaxBurstLength", "65536"},
	{"InitialR2T", "Yes"},
};

/* The name says it, so that the table of sightings can be read. */
Fault answers_wrongly(const char *key, const char *value)
{
	return {std::string(key) + "=" + value,
		std::string("answers ") + key + " with " + value,
		[=]() -> Breakages { return {answers(key, value)}; }};
}

Fault takes_for(const char *key, const char *value)
{
	return {std::string("takes-") + key + "-for-" + value,
		std::string("takes each value of ") + key + " for " + value,
		[=]() -> Breakages {
			return {takes(login_requests(),
				      key_becomes(key, value))};
		}};
}

Fault agrees_to(const char *key, const char *value)
{
	return {std::string("agrees-to-any-") + key,
		std::string("agrees to each value of ") + key,
		[=]() -> Breakages { return {agrees_to_any(key, value)}; }};
}

const std::vector<Fault> singular_faults = {
	{"forgets-unknown-keys", "does not answer a key that it does not know",
	 []() -> Breakages {
		 return {sends(login_responses(),
			       without_value("NotUnderstood"))};
	 }},
	{"forgets-a-key", "does not answer TargetRecvDataSegmentLength",
	 []() -> Breakages {
		 return {sends(login_responses(),
			       without_key("TargetRecvDataSegmentLength"))};
	 }},
	{"forgets-its-group", "does not declare TargetPortalGroupTag",
	 []() -> Breakages {
		 return {sends(login_responses(),
			       without_key("TargetPortalGroupTag"))};
	 }},
	{"answers-twice", "answers HeaderDigest twice",
	 []() -> Breakages {
		 return {sends(login_responses(),
			       key_added("HeaderDigest", "None"))};
	 }},
	{"agrees-to-digests", "agrees to HeaderDigest=CRC32C",
	 []() -> Breakages {
		 return {pretends("HeaderDigest", "None", "CRC32C")};
	 }},
	{"agrees-to-markers", "agrees to OFMarker=Yes",
	 []() -> Breakages { return {pretends("OFMarker", "No", "Yes")}; }},
	{"declares-nothing", "does not declare MaxOutstandingUnexpectedPDUs",
	 []() -> Breakages {
		 return {sends(login_responses(),
			       without_key("MaxOutstandingUnexpectedPDUs"))};
	 }},
	{"volunteers-keys", "declares MaxAHSLength unasked",
	 []() -> Breakages {
		 return {sends(login_responses(),
			       key_added("MaxAHSLength", "256"))};
	 }},
	{"immediate-data-always", "takes immediate data after ImmediateData=No",
	 []() -> Breakages { return {pretends("ImmediateData", "Yes",
						  "No")}; }},
};

} // namespace

std::vector<Fault> key_faults()
{
	std::vector<Fault> faults = singular_faults;

	for (const auto &[key, value] : wrong_answers)
		faults.push_back(answers_wrongly(key, value));
	for (const auto &[key, value] : taken_for)
		faults.push_back(takes_for(key, value));
	for (const auto &[key, value] : agreed_to)
		faults.push_back(agrees_to(key, value));
	return faults;
}

} // namespace iserverify
