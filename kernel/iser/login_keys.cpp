// SPDX-License-Identifier: GPL-2.0
#include "iser/login_keys.h"

namespace iser {
namespace {

/* How offer and answer make the result (RFC 7143 6.2.2). */
enum class ResultFunction : u8 { And, Or, Minimum };

struct KeyRule {
	LoginKeys::Negotiated key;
	const char *name;
	ResultFunction function;
	u32 default_value;
	u32 min;
	u32 max;
};

using Negotiated = LoginKeys::Negotiated;

constexpr u32 min_length = 512;
constexpr u32 max_length = (1 << 24) - 1;

/* RFC 7143 13 and RFC 7145 6. */
constexpr KeyRule rules[] = {
	{Negotiated::RdmaExtensions, "RDMAExtensions",
	 ResultFunction::And, false, false, true},
	{Negotiated::ImmediateData, "ImmediateData",
	 ResultFunction::And, true, false, true},
	{Negotiated::InitialR2t, "InitialR2T",
	 ResultFunction::Or, true, false, true},
	{Negotiated::FirstBurstLength, "FirstBurstLength",
	 ResultFunction::Minimum, 65536, min_length, max_length},
	{Negotiated::MaxBurstLength, "MaxBurstLength",
	 ResultFunction::Minimum, 262144, min_length, max_length},
	{Negotiated::MaxOutstandingR2t, "MaxOutstandingR2T",
	 ResultFunction::Minimum, 1, 1, 65535},
	{Negotiated::ErrorRecoveryLevel, "ErrorRecoveryLevel",
	 ResultFunction::Minimum, 0, 0, 2},
	{Negotiated::TargetRecvDataSegmentLength,
	 "TargetRecvDataSegmentLength",
	 ResultFunction::Minimum, 8192, min_length, max_length},
	{Negotiated::InitiatorRecvDataSegmentLength,
	 "InitiatorRecvDataSegmentLength",
	 ResultFunction::Minimum, 8192, min_length, max_length},
};

constexpr bool every_key_has_its_rule()
{
	for (size_t i = 0; i < LoginKeys::negotiated_count; ++i)
		if (static_cast<size_t>(rules[i].key) != i)
			return false;
	return true;
}
static_assert(sizeof(rules) / sizeof(rules[0]) ==
	      LoginKeys::negotiated_count);
static_assert(every_key_has_its_rule());

const KeyRule *find_rule(const TextPair &pair)
{
	for (const KeyRule &rule : rules)
		if (pair.key_is(rule.name))
			return &rule;
	return nullptr;
}

Result<u32> legal_value(const KeyRule &rule, const TextPair &pair)
{
	if (rule.function != ResultFunction::Minimum)
		return TRY(pair.boolean()) ? 1u : 0u;

	u32 number = TRY(pair.number());

	if (number < rule.min || number > rule.max)
		return Error::Invalid;
	return number;
}

u32 combine(ResultFunction function, u32 offer, u32 answer)
{
	switch (function) {
	case ResultFunction::And:
		return offer & answer;
	case ResultFunction::Or:
		return offer | answer;
	default:
		return offer < answer ? offer : answer;
	}
}

/* Whether @value needs no answer to be the result (RFC 7143 6.2.2). */
bool decides_alone(ResultFunction function, u32 value)
{
	return (function == ResultFunction::And && !value) ||
	       (function == ResultFunction::Or && value);
}

bool printable(Bytes name)
{
	for (u8 byte : name)
		if (byte <= ' ' || byte == 0x7f)
			return false;
	return true;
}

} // namespace

void LoginKeys::Name::set(Bytes name)
{
	/* It goes into logs: an illegal one must not forge lines there. */
	if (name.empty() || name.size() >= sizeof(bytes_) || !printable(name))
		return;
	base::copy(bytes_, name);
	length_ = name.size();
}

void LoginKeys::note_request(Bytes text)
{
	TextPairs pairs(text);
	TextPair pair;

	while (pairs.next(pair)) {
		note_negotiated(pair, false);
		note_declared(pair);
	}
}

void LoginKeys::note_response(Bytes text)
{
	TextPairs pairs(text);
	TextPair pair;

	while (pairs.next(pair)) {
		note_negotiated(pair, true);
		/* Then the initiator must not act on it (RFC 7143 6.2). */
		if (pair.key_is("TaggedBufferForSolicitedDataOnly") &&
		    pair.value_is("NotUnderstood"))
			solicited_only_ = Declared::No;
	}
}

void LoginKeys::note_negotiated(const TextPair &pair, bool by_target)
{
	const KeyRule *rule = find_rule(pair);

	if (!rule)
		return;

	Negotiation &negotiation =
		negotiations_[static_cast<size_t>(rule->key)];
	Said &said = by_target ? negotiation.target : negotiation.initiator;

	if (by_target && !negotiation.initiator.spoken)
		negotiation.target_offers = true;

	auto value = legal_value(*rule, pair);

	said.spoken = true;
	said.legal = value.ok();
	said.value = value.ok() ? value.value() : 0;
}

void LoginKeys::note_declared(const TextPair &pair)
{
	if (pair.key_is("SessionType")) {
		discovery_ = pair.value_is("Discovery");
	} else if (pair.key_is("InitiatorName")) {
		initiator_name_.set(pair.value);
	} else if (pair.key_is("TargetName")) {
		target_name_.set(pair.value);
	} else if (pair.key_is("MaxRecvDataSegmentLength")) {
		auto length = pair.number();

		if (length.ok() && length.value() >= min_length &&
		    length.value() <= max_length)
			max_recv_data_segment_length_ = length.value();
	} else {
		note_declared_by_iser(pair);
	}
}

void LoginKeys::note_boolean(const TextPair &pair, Declared &declared)
{
	auto value = pair.boolean();

	if (value.ok())
		declared = value.value() ? Declared::Yes : Declared::No;
	else
		illegal_declaration_ = true;
}

/* RFC 7145 6.7 to 6.10 */
void LoginKeys::note_declared_by_iser(const TextPair &pair)
{
	if (pair.key_is("TaggedBufferForSolicitedDataOnly")) {
		note_boolean(pair, solicited_only_);
	} else if (pair.key_is("iSERHelloRequired")) {
		note_boolean(pair, hello_required_);
	} else if (pair.key_is("MaxOutstandingUnexpectedPDUs")) {
		auto number = pair.number();

		if (!number.ok() || number.value() == 1) {
			illegal_declaration_ = true;
			return;
		}
		declares_unexpected_pdus_ = true;
		unexpected_pdus_ = number.value();
	} else if (pair.key_is("MaxAHSLength")) {
		auto number = pair.number();

		if (!number.ok() || number.value() == 1)
			illegal_declaration_ = true;
	}
}

u32 LoginKeys::concluded(Negotiated key) const
{
	const KeyRule &rule = rules[static_cast<size_t>(key)];
	const Negotiation &negotiation =
		negotiations_[static_cast<size_t>(key)];
	bool target_offers = negotiation.target_offers;
	const Said &offer = target_offers ? negotiation.target :
					    negotiation.initiator;
	const Said &answer = target_offers ? negotiation.initiator :
					     negotiation.target;

	if (!answer.spoken && offer.legal &&
	    decides_alone(rule.function, offer.value))
		return offer.value;
	if (!answer.legal)
		return rule.default_value;
	if (offer.legal)
		return combine(rule.function, offer.value, answer.value);
	/* LIO reads numbers leniently; what it answers is what it uses. */
	return rule.function == ResultFunction::Minimum ? answer.value :
							  rule.default_value;
}

bool LoginKeys::rdma_extensions() const
{
	return concluded(Negotiated::RdmaExtensions);
}

bool LoginKeys::immediate_data() const
{
	return concluded(Negotiated::ImmediateData);
}

bool LoginKeys::initial_r2t() const
{
	return concluded(Negotiated::InitialR2t);
}

u32 LoginKeys::first_burst_length() const
{
	u32 first = concluded(Negotiated::FirstBurstLength);
	u32 max = max_burst_length();

	/* One must not exceed the other (RFC 7143 13.14). */
	return first < max ? first : max;
}

u32 LoginKeys::max_burst_length() const
{
	return concluded(Negotiated::MaxBurstLength);
}

u32 LoginKeys::max_outstanding_r2t() const
{
	return concluded(Negotiated::MaxOutstandingR2t);
}

u32 LoginKeys::error_recovery_level() const
{
	return concluded(Negotiated::ErrorRecoveryLevel);
}

u32 LoginKeys::target_recv_data_segment_length() const
{
	return concluded(Negotiated::TargetRecvDataSegmentLength);
}

u32 LoginKeys::initiator_recv_data_segment_length() const
{
	return concluded(Negotiated::InitiatorRecvDataSegmentLength);
}

} // namespace iser
