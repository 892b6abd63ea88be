// SPDX-License-Identifier: GPL-2.0
#include "mutation.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "iser/bhs.h"

namespace iserverify {

namespace {

constexpr std::size_t head_size = iser::message_head_size;
/* Longer than any receive buffer that a target is likely to have posted. */
constexpr std::size_t longest_message = 28 + 48 + 1020 + 8192;

constexpr Field total_ahs_length = {"TotalAHSLength", 32, 1, Meaning::Length};
constexpr Field data_segment_length = {"DataSegmentLength", 33, 3,
				       Meaning::Length};

/* ---- values of fields ------------------------------------------------------ */

using Values = std::vector<std::uint64_t>;

/* Around what is true, and around the sizes of buffers and fields. */
Values lengths(const Message &message, std::uint64_t now)
{
	const std::uint64_t behind = message.bytes.size() > head_size ?
		message.bytes.size() - head_size : 0;

	return {0, 1, 3, 4, now - 1, now + 1, now + 4, behind, behind + 1,
		behind + 4, 127, 128, 129, 255, 256, 511, 512, 513, 4095, 4096,
		4097, 8188, 8191, 8192, 8193, 65536, 262144, 0x7fffff, 0x800000,
		0xfffffc, 0xffffff, 0x7fffffff, 0x80000000, 0xfffffffc,
		0xffffffff};
}

Values tags(const Surroundings &around, std::uint64_t now)
{
	Values values = {0, 1, now - 1, now + 1, iser::reserved_tag,
			 iser::reserved_tag - 1, 0x80000000, 0x12345678};

	values.insert(values.end(), around.tags.begin(), around.tags.end());
	return values;
}

Values sequences(std::uint64_t now)
{
	return {0, 1, now - 1, now + 1, now + 2, now + 7, now + 63, now + 64,
		now + 200, now - 64, now + 0x7fffffff, now + 0x80000000,
		0xffffffff};
}

Values stags(const Surroundings &around, std::uint64_t now)
{
	return {0, 1, now - 1, now + 1, now ^ 0x100, now ^ 0xff, 0xffffffff,
		0x80000000, around.read_stag, around.write_stag};
}

Values offsets(const Surroundings &around, std::uint64_t now)
{
	const std::uint64_t size = around.buffer_size;

	return {0, 1, now - 1, now + 1, now + size - 1, now + size, now - size,
		now + 4096, now + 0x100000000ull, 0x7fffffffffffffffull,
		0xffffffffull, ~0ull, ~0ull - size, ~0ull - size + 1};
}

/* Logical units that there are, that there are not, and other formats. */
const Values luns = {0, 0x0001000000000000, 0x00ff000000000000,
		     0x4000000000000000, 0x4001000000000000,
		     0x8000000000000000, 0xc101000000000000,
		     0x0000000100000000, ~0ull};

Values boundaries(const Message &message, const Field &field,
		  const Surroundings &around)
{
	const std::uint64_t now = message.value(field);

	switch (field.meaning) {
	case Meaning::Length: return lengths(message, now);
	case Meaning::Tag: return tags(around, now);
	case Meaning::Sequence: return sequences(now);
	case Meaning::Stag: return stags(around, now);
	case Meaning::Offset: return offsets(around, now);
	case Meaning::Lun: return luns;
	default: return {0, 1, now - 1, now + 1, ~0ull, 0x80, 0x7f};
	}
}

std::string set_boundary(Message &message, const Field &field,
			 const Surroundings &around, Random &random)
{
	const Values values = boundaries(message, field, around);

	message.set_value(field, random.pick(values));
	return fmt::format("{} = {:#x}", field.name, message.value(field));
}

std::string flip_bit(Message &message, const Field &field, Random &random)
{
	const std::uint32_t bit = random.below(field.size * 8u);
	const std::size_t at = field.at + bit / 8;

	if (at < message.bytes.size())
		message.bytes[at] ^= static_cast<std::uint8_t>(1u << bit % 8);
	return fmt::format("{}: bit {} flipped", field.name, bit);
}

std::string set_random(Message &message, const Field &field, Random &random)
{
	for (std::size_t i = 0; i < field.size; ++i) {
		const std::uint8_t byte = random.byte();

		if (field.at + i < message.bytes.size())
			message.bytes[field.at + i] = byte;
	}
	return fmt::format("{} is random", field.name);
}

std::string change(Message &message, const Field &field,
		   const Surroundings &around, Random &random)
{
	/* Long fields have no boundaries but those of their parts. */
	if (field.size > 8)
		return random.chance(70) ? flip_bit(message, field, random) :
					   set_random(message, field, random);
	switch (random.below(4)) {
	case 0: return flip_bit(message, field, random);
	case 1: return set_random(message, field, random);
	default: return set_boundary(message, field, around, random);
	}
}

std::string change_one_of(Message &message,
			  std::initializer_list<Meaning> meanings,
			  const Surroundings &around, Random &random)
{
	std::vector<Field> fields;

	std::copy_if(message.fields->begin(), message.fields->end(),
		     std::back_inserter(fields), [&](const Field &field) {
			     return std::find(meanings.begin(), meanings.end(),
					      field.meaning) != meanings.end();
		     });
	if (fields.empty())
		return change(message, random.pick(*message.fields), around,
			      random);
	return change(message, random.pick(fields), around, random);
}

/* ---- kinds of mutation ------------------------------------------------------ */

using Apply = std::string (*)(Message &message, const Surroundings &around,
			      Random &random);

std::string length_field(Message &message, const Surroundings &around,
			 Random &random)
{
	return change_one_of(message, {Meaning::Length}, around, random);
}

std::string tag_field(Message &message, const Surroundings &around,
		      Random &random)
{
	return change_one_of(message, {Meaning::Tag, Meaning::Lun}, around,
			     random);
}

std::string stag_field(Message &message, const Surroundings &around,
		       Random &random)
{
	return change_one_of(message, {Meaning::Stag, Meaning::Offset}, around,
			     random);
}

std::string number_field(Message &message, const Surroundings &around,
			 Random &random)
{
	return change_one_of(message,
			     {Meaning::Flags, Meaning::Opcode, Meaning::Number,
			      Meaning::Sequence, Meaning::Reserved},
			     around, random);
}

std::string cdb_field(Message &message, const Surroundings &around,
		      Random &random)
{
	return change_one_of(message, {Meaning::Cdb}, around, random);
}

std::string stag_flags(Message &message, const Surroundings &, Random &random)
{
	if (message.bytes.empty())
		return "nothing";
	message.bytes[0] = static_cast<std::uint8_t>(0x10 | random.below(16));
	return fmt::format("iSER header starts with {:#04x}",
			   message.bytes[0]);
}

/* Sent with an STag to invalidate that nobody has bound. */
std::string invalidating(Message &message, const Surroundings &around,
			 Random &random)
{
	const std::uint32_t stag[] = {0, 1, around.read_stag,
				      around.write_stag, 0xffffffff,
				      static_cast<std::uint32_t>(random.next())};

	message.opcode = SendOpcode::SendInvalidate;
	message.invalidate = random.pick(stag);
	return fmt::format("Send with Invalidate of {:#x}",
			   message.invalidate);
}

std::string solicited(Message &message, const Surroundings &, Random &)
{
	message.opcode = SendOpcode::SendSolicited;
	return "Send with Solicited Event";
}

std::string truncate(Message &message, const Surroundings &, Random &random)
{
	const std::uint32_t size = static_cast<std::uint32_t>(
		message.bytes.size());
	const std::uint32_t sizes[] = {0, 1, 4, 12, 27, 28, 29, 47, 48, 75, 76,
				       77, size - 1, size - 4,
				       random.below(size + 1)};
	const std::uint32_t chosen = random.pick(sizes);

	if (chosen < size)
		message.bytes.resize(chosen);
	return fmt::format("cut to {} bytes", message.bytes.size());
}

void extend_to(Message &message, std::size_t size, Random &random)
{
	const std::uint8_t fill = random.byte();

	if (size > message.bytes.size())
		message.bytes.resize(std::min(size, longest_message), fill);
}

std::string extend(Message &message, const Surroundings &, Random &random)
{
	const std::uint32_t more[] = {1, 2, 3, 4, 5, 8, 128, 512, 4096, 8192,
				      9212, random.below(9000)};

	extend_to(message, message.bytes.size() + random.pick(more), random);
	return fmt::format("extended to {} bytes", message.bytes.size());
}

/* More or less data, and the length tells the truth. */
std::string other_data(Message &message, const Surroundings &around,
		       Random &random)
{
	if (message.bytes.size() < head_size)
		return "nothing";

	const std::uint32_t most = around.data_segment;
	const std::uint32_t sizes[] = {0, 1, 3, 4, 127, 128, 129, 512, most - 1,
				       most, most + 1, 8192, 8196,
				       random.below(8193)};
	const std::uint32_t size = std::min(random.pick(sizes), 8192u + 1000);
	const std::size_t ahs = message.value(total_ahs_length) * 4;

	message.bytes.resize(head_size);
	extend_to(message, head_size + ahs + iser::padded(size), random);
	message.set_value(data_segment_length, size);
	return fmt::format("{} bytes of data", size);
}

/* Segments of all types, with lengths that fit and that do not. */
std::string other_ahs(Message &message, const Surroundings &, Random &random)
{
	if (message.bytes.size() < head_size)
		return "nothing";

	ByteVector ahs;
	const std::uint32_t segments = random.between(1, 3);

	for (std::uint32_t i = 0; i < segments; ++i) {
		const std::uint32_t lengths[] = {0, 1, 2, 5, 13, 17, 60, 237,
						 1013, 0xfffe, 0xffff,
						 random.below(300)};
		const std::uint8_t kinds[] = {0, 1, 1, 1, 2, 3, 0x3f, 0x41,
					      random.byte()};
		const std::uint32_t length = random.pick(lengths);
		const std::size_t body = random.chance(70) ?
			std::min(length, 300u) : random.below(64);

		ahs.push_back(static_cast<std::uint8_t>(length >> 8));
		ahs.push_back(static_cast<std::uint8_t>(length));
		ahs.push_back(random.pick(kinds));
		for (std::size_t b = 0; b < body; ++b)
			ahs.push_back(random.byte());
		ahs.resize((ahs.size() + 3) & ~std::size_t{3});
	}
	ahs.resize(std::min<std::size_t>(ahs.size(), 1020));
	message.bytes.insert(message.bytes.begin() + head_size, ahs.begin(),
			     ahs.end());
	message.bytes.resize(std::min(message.bytes.size(), longest_message));
	message.set_value(total_ahs_length, ahs.size() / 4);
	return fmt::format("{} bytes of AHS", ahs.size());
}

/* A CDB that says that it is longer than 16 bytes (SPC-4 4.3.3). */
std::string variable_cdb(Message &message, const Surroundings &around,
			 Random &random)
{
	constexpr std::size_t cdb = 60;
	const std::uint8_t lengths[] = {0, 8, 24, 25, 60, 180, 247, 248, 255,
					random.byte()};

	if (message.bytes.size() < head_size)
		return "nothing";
	message.bytes[cdb] = 0x7f;
	message.bytes[cdb + 7] = random.pick(lengths);
	/* READ(32), the only one that reads from the medium. */
	message.bytes[cdb + 8] = 0;
	message.bytes[cdb + 9] = 0x09;
	if (random.chance(60))
		return "CDB of variable length, " +
		       other_ahs(message, around, random);
	return "CDB of variable length";
}

std::string swap_fields(Message &message, const Surroundings &, Random &random)
{
	const Field &one = random.pick(*message.fields);
	std::vector<Field> others;

	for (const Field &field : *message.fields)
		if (field.size == one.size && field.at != one.at)
			others.push_back(field);
	if (others.empty() || one.size > 8)
		return "nothing";

	const Field &other = random.pick(others);
	const std::uint64_t value = message.value(one);

	message.set_value(one, message.value(other));
	message.set_value(other, value);
	return fmt::format("{} and {} swapped", one.name, other.name);
}

std::string any_field(Message &message, const Surroundings &around,
		      Random &random)
{
	return change(message, random.pick(*message.fields), around, random);
}

std::string any_bits(Message &message, const Surroundings &, Random &random)
{
	const std::uint32_t count = random.between(1, 8);

	if (message.bytes.empty())
		return "nothing";
	for (std::uint32_t i = 0; i < count; ++i)
		random.pick(message.bytes) ^=
			static_cast<std::uint8_t>(1u << random.below(8));
	return fmt::format("{} bits flipped", count);
}

std::string any_bytes(Message &message, const Surroundings &, Random &random)
{
	if (message.bytes.empty())
		return "nothing";

	const std::size_t from = random.below(message.bytes.size());
	const std::size_t size = std::min<std::size_t>(
		random.between(1, 64), message.bytes.size() - from);

	for (std::size_t i = 0; i < size; ++i)
		message.bytes[from + i] = random.byte();
	return fmt::format("{} random bytes from byte {} on", size, from);
}

std::string only_noise(Message &message, const Surroundings &, Random &random)
{
	message.bytes.resize(random.below(512));
	for (std::uint8_t &byte : message.bytes)
		byte = random.byte();
	return fmt::format("{} random bytes", message.bytes.size());
}

struct Mutation {
	unsigned families;
	Apply apply;
};

/* Listed more than once: drawn more often. */
const Mutation mutations[] = {
	{of_lengths, length_field},
	{of_lengths, length_field},
	{of_lengths, length_field},
	{of_lengths, truncate},
	{of_lengths, extend},
	{of_lengths, other_data},
	{of_lengths | of_cdbs, other_ahs},
	{of_tags, tag_field},
	{of_stags, stag_field},
	{of_stags, stag_field},
	{of_stags, stag_field},
	{of_stags, stag_flags},
	{of_stags, invalidating},
	{of_numbers, number_field},
	{of_numbers, number_field},
	{of_numbers, solicited},
	{of_numbers, swap_fields},
	{of_cdbs, cdb_field},
	{of_cdbs, cdb_field},
	{of_cdbs, variable_cdb},
	{of_bytes, any_field},
	{of_bytes, any_bits},
	{of_bytes, any_bytes},
	{of_bytes, only_noise},
};

} // namespace

std::string mutate(Message &message, unsigned families,
		   const Surroundings &around, Random &random)
{
	std::vector<Mutation> among;

	std::copy_if(std::begin(mutations), std::end(mutations),
		     std::back_inserter(among), [&](const Mutation &mutation) {
			     return mutation.families & families;
		     });
	return random.pick(among).apply(message, around, random);
}

std::string shuffle_messages(std::vector<Message> &messages, Random &random)
{
	const std::size_t count = messages.size();

	if (count < 2)
		return "";

	const std::size_t one = random.below(count);
	const std::size_t other = random.below(count);

	switch (random.below(4)) {
	case 0: {
		/* A copy: messages has to grow first. */
		const Message again = messages[one];

		messages.insert(messages.begin() + other, again);
		return fmt::format("message {} comes twice", one + 1);
	}
	case 1:
		std::swap(messages[one], messages[other]);
		return fmt::format("messages {} and {} swapped", one + 1,
				   other + 1);
	case 2:
		messages.erase(messages.begin() + one);
		return fmt::format("message {} left out", one + 1);
	default:
		random.shuffle(messages);
		return "in any order";
	}
}

} // namespace iserverify
