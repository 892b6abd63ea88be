// SPDX-License-Identifier: GPL-2.0
#include "iser/login_rules.h"

namespace iser {
namespace {

/* LoginOperationalNegotiation (RFC 7143 11.12.3) */
constexpr u8 operational_stage = 1;

struct OperationalKey {
	const char *name;
	bool number;
};

/* Keys of the operational stage alone (RFC 7143 13, RFC 7145 6). */
constexpr OperationalKey operational_keys[] = {
	{"HeaderDigest", false},
	{"DataDigest", false},
	{"MaxConnections", true},
	{"InitialR2T", false},
	{"ImmediateData", false},
	{"MaxBurstLength", true},
	{"FirstBurstLength", true},
	{"DefaultTime2Wait", true},
	{"DefaultTime2Retain", true},
	{"MaxOutstandingR2T", true},
	{"DataPDUInOrder", false},
	{"DataSequenceInOrder", false},
	{"ErrorRecoveryLevel", true},
	{"RDMAExtensions", false},
	{"TargetRecvDataSegmentLength", true},
	{"InitiatorRecvDataSegmentLength", true},
	{"MaxOutstandingUnexpectedPDUs", true},
	{"MaxAHSLength", true},
	{"TaggedBufferForSolicitedDataOnly", false},
	{"iSERHelloRequired", false},
};
constexpr size_t operational_count =
	sizeof(operational_keys) / sizeof(operational_keys[0]);
static_assert(operational_count <= 32);

/* The key's place in the table, or operational_count. */
size_t find_operational(const TextPair &pair)
{
	size_t i = 0;

	while (i < operational_count &&
	       !pair.key_is(operational_keys[i].name))
		++i;
	return i;
}

/* Answers that no offer can be (RFC 7143 6.2). */
bool is_refusal(const TextPair &pair)
{
	return pair.value_is("Reject") || pair.value_is("Irrelevant") ||
	       pair.value_is("NotUnderstood");
}

} // namespace

bool LoginRules::keeps(Bytes text, u8 stage)
{
	TextPairs pairs(text);
	TextPair pair;

	while (pairs.next(pair))
		if (!keeps(pair, stage))
			return false;
	return true;
}

bool LoginRules::keeps(const TextPair &pair, u8 stage)
{
	const size_t at = find_operational(pair);

	if (at == operational_count)
		return true;

	const u32 bit = 1u << at;

	if (stage != operational_stage || said_ & bit)
		return false;
	said_ |= bit;
	if (is_refusal(pair))
		return said_by_target_ & bit;
	return !operational_keys[at].number || pair.number().ok();
}

void LoginRules::note_response(Bytes text)
{
	TextPairs pairs(text);
	TextPair pair;

	while (pairs.next(pair))
		if (const size_t at = find_operational(pair);
		    at < operational_count)
			said_by_target_ |= 1u << at;
}

} // namespace iser
