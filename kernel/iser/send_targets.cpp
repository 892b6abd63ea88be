// SPDX-License-Identifier: GPL-2.0
#include "iser/send_targets.h"

#include "iser/text.h"
#include "iser/text_edit.h"

namespace iser {
namespace {

/* ADDRESS:PORT,TAG taken apart. */
struct PortalText {
	bool valid = false;
	Range address = {};
	Range port = {};
};

constexpr size_t not_found = ~size_t{0};

size_t find(Bytes text, Range range, u8 wanted)
{
	for (size_t i = range.start; i < range.end; ++i)
		if (text[i] == wanted)
			return i;
	return not_found;
}

size_t find_last(Bytes text, Range range, u8 wanted)
{
	for (size_t i = range.end; i > range.start; --i)
		if (text[i - 1] == wanted)
			return i - 1;
	return not_found;
}

/* The portal in @pair, if that is a TargetAddress with a port. */
PortalText parse_portal(Bytes text, Range pair)
{
	size_t equals_sign = find(text, pair, '=');

	if (equals_sign == not_found ||
	    !equals(Range{pair.start, equals_sign}.of(text), "TargetAddress"))
		return {};

	size_t comma = find(text, pair, ',');
	Range portal = {equals_sign + 1,
			comma == not_found ? pair.end : comma};
	size_t colon = find_last(text, portal, ':');

	if (colon == not_found)
		return {};
	return {
		.valid = true,
		.address = {portal.start, colon},
		.port = {colon + 1, portal.end},
	};
}

const PortRule *find_rule(Bytes text, const PortalText &portal,
			  Span<const PortRule> rules)
{
	for (const PortRule &rule : rules)
		if (base::equal(portal.address.of(text), rule.address) &&
		    base::equal(portal.port.of(text),
				Decimal(rule.port).bytes()))
			return &rule;
	return nullptr;
}

} // namespace

bool asks_for_own_target(Bytes text)
{
	TextPairs pairs(text);
	TextPair pair;

	return pairs.next(pair) && pair.key_is("SendTargets") &&
	       pair.value.empty() && !pairs.next(pair);
}

size_t rewrite_ports(MutableBytes text, size_t length,
		     Span<const PortRule> rules)
{
	for (size_t start = 0; start < length;) {
		Range pair = pair_at(text.first(length), start);
		PortalText portal = parse_portal(text.first(length), pair);
		const PortRule *rule = portal.valid ?
			find_rule(text, portal, rules) : nullptr;

		if (rule) {
			size_t changed = replace(
				text, length, portal.port,
				Decimal(rule->listening_port).bytes());

			if (changed != no_room) {
				length = changed;
				pair = pair_at(text.first(length), start);
			}
		}
		start = pair.end + 1;
	}
	return length;
}

} // namespace iser
