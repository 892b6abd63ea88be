// SPDX-License-Identifier: GPL-2.0
#include "harmless.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace iserverify {

namespace {

/* Operations that change nothing (SPC-4, SBC-3). */
constexpr std::uint8_t reading[] = {
	0x00, 0x03, 0x08, 0x12, 0x1a, 0x25, 0x28, 0x34, 0x35, 0x37, 0x3c, 0x3e,
	0x44, 0x4d, 0x5a, 0x5e, 0x84, 0x88, 0x8c, 0x90, 0x91, 0x9e, 0xa0, 0xa3,
	0xa8, 0xab, 0xb7,
};
/* READ(32), among those of variable length (SBC-3 5.14). */
constexpr std::uint8_t variable_length = 0x7f;
constexpr unsigned read_32 = 0x0009;

struct MediaCommand {
	std::uint8_t operation;
	std::uint8_t lba_size; /* at byte 2 */
	std::uint8_t count_at;
	std::uint8_t count_size;
};

/* Reads among them: with the W bit some targets write (F-09). */
constexpr MediaCommand media_commands[] = {
	{0x2a, 4, 7, 2}, {0xaa, 4, 6, 4}, {0x8a, 8, 10, 4},
	{0x28, 4, 7, 2}, {0xa8, 4, 6, 4}, {0x88, 8, 10, 4},
	{0x2e, 4, 7, 2}, {0xae, 4, 6, 4}, {0x8e, 8, 10, 4},
};

/* Functions that end other sessions' tasks or sessions (RFC 7143 11.5.1). */
constexpr unsigned target_warm_reset = 6;
constexpr unsigned target_cold_reset = 7;

std::uint64_t big_endian(const std::uint8_t *from, unsigned size)
{
	std::uint64_t value = 0;

	while (size--)
		value = value << 8 | *from++;
	return value;
}

bool only_reads(const std::uint8_t (&cdb)[16])
{
	if (cdb[0] == variable_length)
		return big_endian(&cdb[8], 2) == read_32;
	return std::find(std::begin(reading), std::end(reading), cdb[0]) !=
	       std::end(reading);
}

} // namespace

bool Harmless::allows(libiser::ByteView message) const
{
	iser::MessageHead head = {};

	/* What comes short ends as zeros here, and may not there. */
	std::memcpy(&head, message.data(),
		    std::min(message.size(), sizeof(head)));
	switch (head.bhs.opcode()) {
	case iser::IscsiOpcode::ScsiCommand:
		return allows_command(head);
	case iser::IscsiOpcode::TaskManagementRequest: {
		const unsigned function = head.bhs.flags & 0x7fu;

		return function != target_warm_reset &&
		       function != target_cold_reset;
	}
	case iser::IscsiOpcode::LoginRequest:
		return std::memcmp(head.bhs.lun, innocent_isid.data(),
				   innocent_isid.size()) != 0;
	default:
		return true;
	}
}

bool Harmless::allows_command(const iser::MessageHead &head) const
{
	const auto &command = head.bhs.as<iser::ScsiCommandPdu>();

	if (!command.write())
		return only_reads(command.cdb);
	return may_write && allows_write(command);
}

bool Harmless::allows_write(const iser::ScsiCommandPdu &command) const
{
	const auto *media = std::find_if(
		std::begin(media_commands), std::end(media_commands),
		[&](const MediaCommand &one) {
			return one.operation == command.cdb[0];
		});
	const std::uint8_t ours[8] = {0, static_cast<std::uint8_t>(lun)};

	if (media == std::end(media_commands) ||
	    std::memcmp(command.lun, ours, sizeof(ours)) != 0)
		return false;

	const std::uint64_t lba = big_endian(&command.cdb[2],
					     media->lba_size);
	const std::uint64_t blocks = big_endian(
		&command.cdb[media->count_at], media->count_size);

	return lba >= first_block && lba <= end_block &&
	       blocks <= end_block - lba;
}

} // namespace iserverify
