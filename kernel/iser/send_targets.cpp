// SPDX-License-Identifier: GPL-2.0
#include "iser/send_targets.h"

#include "iser/text.h"

namespace iser {
namespace {

/* A stretch of the text, by position, since the text moves. */
struct Range {
	size_t start = 0;
	size_t end = 0;

	Bytes of(Bytes text) const { return text.first(end).from(start); }
};

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

/* Puts @with in the place of @what; the new length, or not_found: no room. */
size_t replace(MutableBytes text, size_t length, Range what, Bytes with)
{
	size_t rest = length - what.end;

	if (with.size() > text.size() - what.start ||
	    rest > text.size() - what.start - with.size())
		return not_found;

	MutableBytes place = text.from(what.start);

	__builtin_memmove(place.from(with.size()).data(),
			  text.from(what.end).data(), rest);
	base::copy(place, with);
	return what.start + with.size() + rest;
}

} // namespace

size_t rewrite_ports(MutableBytes text, size_t length,
		     Span<const PortRule> rules)
{
	Range pair;

	while (pair.start < length) {
		size_t nul = find(text, {pair.start, length}, 0);

		pair.end = nul == not_found ? length : nul;

		PortalText portal = parse_portal(text.first(length), pair);
		const PortRule *rule = portal.valid ?
			find_rule(text, portal, rules) : nullptr;

		if (rule) {
			size_t changed = replace(
				text, length, portal.port,
				Decimal(rule->listening_port).bytes());

			if (changed != not_found) {
				pair.end = pair.end + changed - length;
				length = changed;
			}
		}
		pair.start = pair.end + 1;
	}
	return length;
}

} // namespace iser
