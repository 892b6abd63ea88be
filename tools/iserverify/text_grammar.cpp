// SPDX-License-Identifier: GPL-2.0
#include "text_grammar.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "libiser/chap.h"

namespace iserverify {

using libiser::LoginOptions;
using libiser::Session;
using libiser::to_text;

namespace {

constexpr std::uint8_t transit = 0x80;
constexpr std::uint8_t continues = 0x40;
constexpr std::uint8_t security_to_operational = 0x81;
constexpr std::uint8_t security = 0x00;
constexpr std::uint8_t operational = 0x04;
constexpr std::uint8_t to_full_feature = 0x87;

/* ---- keys and their values --------------------------------------------------- */

enum class ValueKind { Boolean, Number, Method, Digest, Name, Binary, Word };

struct Key {
	const char *name;
	ValueKind kind;
	std::uint32_t low;
	std::uint32_t high;
};

/* RFC 7143 13 and 12.1, RFC 7145 6. */
const Key keys[] = {
	{"RDMAExtensions", ValueKind::Boolean, 0, 0},
	{"InitialR2T", ValueKind::Boolean, 0, 0},
	{"ImmediateData", ValueKind::Boolean, 0, 0},
	{"DataPDUInOrder", ValueKind::Boolean, 0, 0},
	{"DataSequenceInOrder", ValueKind::Boolean, 0, 0},
	{"TaggedBufferForSolicitedDataOnly", ValueKind::Boolean, 0, 0},
	{"iSERHelloRequired", ValueKind::Boolean, 0, 0},
	{"IFMarker", ValueKind::Boolean, 0, 0},
	{"OFMarker", ValueKind::Boolean, 0, 0},
	{"MaxConnections", ValueKind::Number, 1, 65535},
	{"MaxRecvDataSegmentLength", ValueKind::Number, 512, 16777215},
	{"TargetRecvDataSegmentLength", ValueKind::Number, 512, 16777215},
	{"InitiatorRecvDataSegmentLength", ValueKind::Number, 512, 16777215},
	{"MaxBurstLength", ValueKind::Number, 512, 16777215},
	{"FirstBurstLength", ValueKind::Number, 512, 16777215},
	{"MaxOutstandingR2T", ValueKind::Number, 1, 65535},
	{"MaxOutstandingUnexpectedPDUs", ValueKind::Number, 0, 0xffffffff},
	{"MaxAHSLength", ValueKind::Number, 0, 0xffffffff},
	{"DefaultTime2Wait", ValueKind::Number, 0, 3600},
	{"DefaultTime2Retain", ValueKind::Number, 0, 3600},
	{"ErrorRecoveryLevel", ValueKind::Number, 0, 2},
	{"IFMarkInt", ValueKind::Number, 1, 65535},
	{"TargetPortalGroupTag", ValueKind::Number, 0, 65535},
	{"CHAP_A", ValueKind::Number, 5, 7},
	{"CHAP_I", ValueKind::Number, 0, 255},
	{"AuthMethod", ValueKind::Method, 0, 0},
	{"HeaderDigest", ValueKind::Digest, 0, 0},
	{"DataDigest", ValueKind::Digest, 0, 0},
	{"InitiatorName", ValueKind::Name, 0, 0},
	{"TargetName", ValueKind::Name, 0, 0},
	{"InitiatorAlias", ValueKind::Name, 0, 0},
	{"TargetAlias", ValueKind::Name, 0, 0},
	{"TargetAddress", ValueKind::Name, 0, 0},
	{"CHAP_N", ValueKind::Name, 0, 0},
	{"CHAP_R", ValueKind::Binary, 0, 0},
	{"CHAP_C", ValueKind::Binary, 0, 0},
	{"SendTargets", ValueKind::Word, 0, 0},
	{"SessionType", ValueKind::Word, 0, 0},
	{"X-org.lio-iser.test", ValueKind::Word, 0, 0},
	{"TaskReporting", ValueKind::Word, 0, 0},
	{"iSCSIProtocolLevel", ValueKind::Number, 0, 31},
};

std::string random_binary(Random &random)
{
	ByteVector bytes(random.between(1, 64));

	for (std::uint8_t &byte : bytes)
		byte = random.byte();
	return libiser::to_hex(bytes);
}

std::string legal_value(const Key &key, Random &random)
{
	static const char *const methods[] = {"None", "CHAP", "CHAP,None",
					      "SRP,CHAP,None", "KRB5"};
	static const char *const digests[] = {"None", "CRC32C", "CRC32C,None",
					      "None,CRC32C"};
	static const char *const names[] = {
		"iqn.2003-01.org.lio-iser.kst:other",
		"eui.02004567A425678D", "naa.52004567BA64678D", "10.0.0.1:3260,1",
	};
	static const char *const words[] = {"Normal", "Discovery", "All", "",
					    "RFC3720", "1"};
	std::uint32_t number = 0;

	switch (key.kind) {
	case ValueKind::Boolean:
		return random.chance(50) ? "Yes" : "No";
	case ValueKind::Number:
		number = random.chance(30) ? key.low : random.chance(40) ?
			key.high : random.between(key.low, key.high - 1);
		return random.chance(80) ? fmt::format("{}", number) :
					   fmt::format("{:#x}", number);
	case ValueKind::Method: return random.pick(methods);
	case ValueKind::Digest: return random.pick(digests);
	case ValueKind::Name: return random.pick(names);
	case ValueKind::Binary: return random_binary(random);
	case ValueKind::Word: return random.pick(words);
	}
	return "";
}

/* What no key has for a value, or not this one. */
std::string illegal_value(Random &random)
{
	static const char *const odd[] = {
		"", "yes", "YES", "Yes,No", "No,Yes", "Maybe", "-1", "+1",
		"0", "00000000000000000512", "1.5", "512 ", " 512", "0x",
		"0xg", "0x00000000000000000000000200", "16777216", "4294967295",
		"4294967296", "18446744073709551616", "99999999999999999999999",
		"0b", "0bAAAA", "0b====", "512~1024", "1024~512", "~", "512~",
		"None,", ",None", ",", ",,,,,,,,", "Reject", "NotUnderstood",
		"Irrelevant", "?", "=", "==", "a=b", "%s%s%s%n", "\x01\x02\x7f",
		"\xff\xfe", "iqn.", "iqn.2003-01.org.lio-iser.kst:nowhere",
		"NONE", "CHAP,CHAP,CHAP,CHAP", "None,None,None,None,None",
	};
	const std::uint32_t lengths[] = {63, 64, 65, 127, 128, 223, 224, 255,
					 256, 257, 511, 512, 1023, 1024, 4000,
					 8000};

	switch (random.below(6)) {
	case 0:
		return std::string(random.pick(lengths), 'x');
	case 1:
		return "0x" + std::string(random.pick(lengths), 'f');
	case 2:
		return "0b" + std::string(random.pick(lengths), 'A');
	default:
		return random.pick(odd);
	}
}

std::string other_key_name(const std::string &name, Random &random)
{
	const std::uint32_t lengths[] = {1, 62, 63, 64, 65, 255, 256, 4000};
	std::string other = name;

	switch (random.below(5)) {
	case 0:
		return std::string(random.pick(lengths), 'K');
	case 1:
		return "X-" + name;
	case 2:
		return "";
	case 3:
		if (!other.empty())
			random.pick(other) ^= static_cast<char>(
				1u << random.below(7));
		return other;
	default:
		return random.pick(keys).name;
	}
}

/* ---- text as pieces ------------------------------------------------------------ */

/* The text between NULs, whatever it is. */
std::vector<std::string> split(const ByteVector &text)
{
	std::vector<std::string> pieces(1);

	for (std::uint8_t byte : text)
		if (byte)
			pieces.back() += static_cast<char>(byte);
		else
			pieces.emplace_back();
	if (pieces.back().empty())
		pieces.pop_back();
	return pieces;
}

ByteVector join(const std::vector<std::string> &pieces)
{
	ByteVector text;

	for (const std::string &piece : pieces) {
		text.insert(text.end(), piece.begin(), piece.end());
		text.push_back(0);
	}
	return text;
}

std::string with_value(const std::string &piece, const std::string &value)
{
	return piece.substr(0, piece.find('=')) + "=" + value;
}

/* One of the pairs; what was done, in words. */
std::string change_pair(std::vector<std::string> &pieces, Random &random)
{
	const std::uint32_t at = random.below(pieces.size());
	std::string &piece = pieces[at];
	const std::string name = piece.substr(0, piece.find('='));
	const Key &key = random.pick(keys);

	switch (random.below(9)) {
	case 0:
		pieces.erase(pieces.begin() + at);
		return name + " left out";
	case 1:
		pieces.insert(pieces.begin() + at, std::string(piece));
		return name + " twice";
	case 2:
		piece = other_key_name(name, random) + "=" +
			piece.substr(piece.find('=') + 1);
		return name + " under another name";
	case 3:
		piece = name;
		return name + " without =";
	case 4:
		std::swap(piece, random.pick(pieces));
		return name + " elsewhere";
	case 5:
	case 6:
		pieces.push_back(std::string(key.name) + "=" +
				 (random.chance(50) ?
					  legal_value(key, random) :
					  illegal_value(random)));
		return std::string(key.name) + " added";
	default:
		piece = with_value(piece, illegal_value(random));
		return name + " with another value";
	}
}

/* Bytes that are pairs no longer, or never were. */
std::string change_bytes(ByteVector &text, Random &random)
{
	const std::uint32_t at = text.empty() ? 0 : random.below(text.size());

	switch (random.below(6)) {
	case 0:
		text.resize(at);
		return "text cut";
	case 1:
		text.insert(text.begin() + at, random.between(1, 8), 0);
		return "NULs in the text";
	case 2:
		if (!text.empty())
			text[at] ^= static_cast<std::uint8_t>(
				1u << random.below(8));
		return "a bit of the text flipped";
	case 3:
		text.insert(text.begin() + at, random.between(1, 8), '=');
		return "= in the text";
	case 4:
		while (text.size() + 4 <= 8192 && !random.chance(1))
			for (char c : {'a', '=', 'b', '\0'})
				text.push_back(static_cast<std::uint8_t>(c));
		return "hundreds of unknown keys";
	default:
		if (!text.empty() && text.back() == 0)
			text.pop_back();
		return "no NUL at the end";
	}
}

/* ---- logins ---------------------------------------------------------------------- */

/* As a chain: all but the last piece have the C bit, and no T. */
void append_chain(LoginPlan &plan, std::uint8_t flags, const ByteVector &text,
		  Random &random)
{
	const std::size_t pieces = random.chance(75) ? 1 : random.between(2, 6);
	const std::size_t size = text.size() / pieces + 1;

	for (std::size_t at = 0; at < text.size() || at == 0; at += size) {
		const auto from = text.begin() + at;
		const std::size_t length = std::min(size, text.size() - at);
		const bool last = at + length >= text.size();
		const std::uint8_t more = static_cast<std::uint8_t>(
			(flags & ~(transit | 3u)) | continues);

		plan.steps.push_back({last ? flags : more,
				      ByteVector(from, from + length)});
		if (last)
			break;
	}
}

void append_keys(LoginPlan &plan, std::uint8_t stage, std::uint8_t last,
		 const TextKeys &all, Random &random)
{
	if (all.size() < 4 || random.chance(70)) {
		append_chain(plan, last, to_text(all), random);
		return;
	}
	const std::size_t half = random.between(
		1, static_cast<std::uint32_t>(all.size()) - 1);

	append_chain(plan, stage,
		     to_text(TextKeys(all.begin(), all.begin() + half)),
		     random);
	append_chain(plan, last,
		     to_text(TextKeys(all.begin() + half, all.end())), random);
}

/* The answer to a challenge that nobody has heard. */
void append_chap(LoginPlan &plan, const LoginOptions &options, Random &random)
{
	TextKeys proof = {{"CHAP_N", options.chap.name.empty() ?
					     "nobody" : options.chap.name},
			  {"CHAP_R", "0x" + std::string(32, '5')}};

	append_chain(plan, security, to_text({{"CHAP_A", "5"}}), random);
	if (random.chance(30)) {
		proof.emplace_back("CHAP_I", "7");
		proof.emplace_back("CHAP_C", random_binary(random));
	}
	append_chain(plan, security_to_operational, to_text(proof), random);
}

void change_order(LoginPlan &plan, Random &random)
{
	std::vector<LoginStep> &steps = plan.steps;
	const std::uint32_t at = random.below(steps.size());

	switch (random.below(4)) {
	case 0: {
		const LoginStep again = steps[at];

		steps.insert(steps.begin() + at, again);
		plan.changes += "; a request twice";
		break;
	}
	case 1:
		if (steps.size() > 1)
			steps.erase(steps.begin() + at);
		plan.changes += "; a request left out";
		break;
	case 2:
		random.shuffle(steps);
		plan.changes += "; requests in any order";
		break;
	default:
		steps.insert(steps.begin() + at, LoginStep{operational, {}});
		plan.changes += "; an empty request";
	}
}

} // namespace

TextKeys some_keys(Random &random)
{
	const std::uint32_t count = random.between(1, 12);
	TextKeys some;

	for (std::uint32_t i = 0; i < count; ++i) {
		const Key &key = random.pick(keys);

		some.emplace_back(key.name, legal_value(key, random));
	}
	return some;
}

LoginPlan legal_login(const LoginOptions &options, Random &random)
{
	LoginPlan plan;
	TextKeys first = Session::identity_keys(options);
	const TextKeys second = Session::operational_keys(options);
	const bool chap = !options.chap.name.empty() || random.chance(20);

	if (chap || random.chance(40)) {
		first.emplace_back("AuthMethod", chap ? "CHAP" : "None");
		append_keys(plan, security,
			    chap ? security : security_to_operational, first,
			    random);
		if (chap)
			append_chap(plan, options, random);
		append_keys(plan, operational, to_full_feature, second, random);
		return plan;
	}
	first.insert(first.end(), second.begin(), second.end());
	append_keys(plan, operational, to_full_feature, first, random);
	return plan;
}

std::string mutate_text(ByteVector &text, Random &random)
{
	std::vector<std::string> pieces = split(text);

	if (pieces.empty() || random.chance(25))
		return change_bytes(text, random);

	const std::string done = change_pair(pieces, random);

	text = join(pieces);
	return done;
}

void mutate_login(LoginPlan &plan, Random &random)
{
	LoginStep &step = random.pick(plan.steps);

	switch (random.below(6)) {
	case 0:
		step.flags = random.byte();
		plan.changes += fmt::format("; flags {:#04x}", step.flags);
		break;
	case 1:
		change_order(plan, random);
		break;
	default:
		plan.changes += "; " + mutate_text(step.text, random);
	}
}

} // namespace iserverify
