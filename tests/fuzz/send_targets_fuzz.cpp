// SPDX-License-Identifier: GPL-2.0
#include "fuzz/fuzz.h"
#include "iser/send_targets.h"

using namespace iser;

namespace {

constexpr u8 ipv4[] = {'1', '0', '.', '0', '.', '0', '.', '1'};
constexpr u8 ipv6[] = {'[', ':', ':', '1', ']'};

struct Rules {
	explicit Rules(fuzz::Input &input)
		: rules{{ipv4, port(input), port(input)},
			{ipv6, 3260, port(input)}}
	{
	}
	/* Mostly ports that the corpus knows. */
	static u16 port(fuzz::Input &input)
	{
		u8 choice = input.byte();

		return choice < 128 ? u16{3260} :
				      static_cast<u16>(choice * 257u);
	}

	PortRule rules[2];
};

/* The rule for one pair, or none; by way of strings. */
const PortRule *rule_for(const std::string &pair, const Rules &rules)
{
	for (const PortRule &rule : rules.rules) {
		std::string head = "TargetAddress=" + fuzz::str(rule.address) +
				   ":" + std::to_string(rule.port);

		if (pair == head || pair.rfind(head + ",", 0) == 0)
			return &rule;
	}
	return nullptr;
}

std::string replaced(const std::string &pair, const PortRule &rule)
{
	std::string head = "TargetAddress=" + fuzz::str(rule.address) + ":";
	std::string old = std::to_string(rule.port);

	return head + std::to_string(rule.listening_port) +
	       pair.substr(head.size() + old.size());
}

/* The same by strings: pair by pair, as long as there is room. */
std::string rewritten(const std::string &text, size_t room, const Rules &rules)
{
	std::string result;
	size_t at = 0, size = text.size();

	while (at < text.size()) {
		size_t end = text.find('\0', at);
		bool ended = end != std::string::npos;
		std::string pair = text.substr(
			at, ended ? end - at : std::string::npos);
		const PortRule *rule = rule_for(pair, rules);
		std::string changed = rule ? replaced(pair, *rule) : pair;

		if (size - pair.size() + changed.size() > room)
			changed = pair;
		size = size - pair.size() + changed.size();
		result += changed;
		if (ended)
			result += '\0';
		at += pair.size() + ended;
	}
	return result;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz::Input input(data, size);
	size_t room = input.byte() % 16;
	Rules rules(input);
	std::vector<u8> text = input.rest();
	fuzz::Guarded buffer(text.size() + room);

	if (!text.empty())
		base::copy(buffer.bytes(), fuzz::view(text));

	size_t length = rewrite_ports(buffer.bytes(), text.size(),
				      rules.rules);

	CHECK(length <= text.size() + room);
	CHECK(fuzz::str(base::Bytes(buffer.bytes()).first(length)) ==
	      rewritten(fuzz::str(fuzz::view(text)), text.size() + room,
			rules));
	return 0;
}
