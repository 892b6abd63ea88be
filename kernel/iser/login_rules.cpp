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

/* The key's place in the table, or operational_count. */
size_t find_operational(const TextPair &pair)
{
	size_t i = 0;

	while (i < operational_count &&
	       !pair.key_is(operational_keys[i].name))
		++i;
	return i;
}

/*
 * Who asks, and for what.  The core reads them twice: at the login's begin, when
 * it chooses the target and the ACL, the last key that begins like that counts;
 * later the first that is called exactly so, unless it stands behind a key of
 * the authentication, where it reads no further.  A login that is not the same
 * both times can become a normal session without an ACL, and then stops the
 * kernel (seen with 6.1; 6.12 reads them in the same way).
 */
constexpr const char *identity_keys[] = {
	"InitiatorName",
	"SessionType",
	"TargetName",
};
constexpr size_t identity_count =
	sizeof(identity_keys) / sizeof(identity_keys[0]);
static_assert(operational_count + identity_count <= 32);

/* The place in the table of the key that it begins with, or identity_count. */
size_t find_identity(const TextPair &pair)
{
	size_t i = 0;

	while (i < identity_count &&
	       !starts_with(pair.key, identity_keys[i]))
		++i;
	return i;
}

bool is_authentication(const TextPair &pair)
{
	return starts_with(pair.key, "CHAP_") ||
	       starts_with(pair.key, "SRP_");
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
	bool authenticates = false;

	while (pairs.next(pair)) {
		if (!keeps(pair, stage) || !identifies(pair, authenticates))
			return false;
		authenticates |= is_authentication(pair);
	}
	return true;
}

/* False: it was said before. */
bool LoginRules::says(size_t key)
{
	const u32 bit = 1u << key;
	const bool first = !(said_ & bit);

	said_ |= bit;
	return first;
}

bool LoginRules::identifies(const TextPair &pair, bool authenticates)
{
	const size_t at = find_identity(pair);

	return at == identity_count ||
	       (pair.key_is(identity_keys[at]) && !authenticates &&
		says(operational_count + at));
}

bool LoginRules::keeps(const TextPair &pair, u8 stage)
{
	const size_t at = find_operational(pair);

	if (at == operational_count)
		return true;

	const u32 bit = 1u << at;

	if (stage != operational_stage || !says(at))
		return false;
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
