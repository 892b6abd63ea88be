// SPDX-License-Identifier: GPL-2.0
#include "iser/message.h"

namespace iser {
namespace {

/* More than a receiver must swallow behind the data (OQ-11, OQ-14). */
constexpr u32 max_pad = 3;

Cause check_opcode(const ControlHeader &header)
{
	switch (header.opcode()) {
	case IserOpcode::Control:
		return Cause::None;
	case IserOpcode::Hello:
		return Cause::UnexpectedHello;
	default:
		return Cause::BadIserOpcode;
	}
}

Cause check_lengths(const MessageLayout &layout, u32 received,
		    const MessageLimits &limits)
{
	/* 10 and 24 bits wide on the wire: the sum does not wrap. */
	u32 declared = message_head_size + layout.ahs_length +
		       layout.data_length;

	if (layout.ahs_length > limits.max_ahs)
		return Cause::AhsMalformed;
	if (layout.data_length > limits.max_data_segment)
		return Cause::DataSegmentTooLong;
	if (declared > received)
		return Cause::LengthLies;
	if (received - declared > max_pad)
		return Cause::MessageTooLong;
	return Cause::None;
}

} // namespace

MessageCheck check_message(const MessageHead &head, u32 received,
			   const MessageLimits &limits)
{
	if (received < message_head_size)
		return {.cause = Cause::MessageTooShort};

	Cause cause = check_opcode(head.header);
	if (cause != Cause::None)
		return {.cause = cause};

	MessageLayout layout = {
		.ahs_length = head.bhs.ahs_bytes(),
		.data_offset = head.bhs.ahs_bytes(),
		.data_length = head.bhs.data_segment_length,
	};
	cause = check_lengths(layout, received, limits);
	if (cause != Cause::None)
		return {.cause = cause};
	return {.layout = layout};
}

MessageCheck check_login_message(const MessageHead &head, u32 received)
{
	MessageCheck check = check_message(head, received, {
		.max_ahs = 0,
		.max_data_segment = max_login_data,
	});

	if (check.ok() && head.bhs.opcode() != IscsiOpcode::LoginRequest)
		return {.cause = Cause::LoginMalformed};
	return check;
}

namespace {

constexpr u8 type_mask = 0x3f; /* the upper two bits are reserved */
constexpr u8 extended_cdb_type = 1;
constexpr u8 bidirectional_read_length_type = 2;

constexpr u32 segment_head_size = 3; /* AHSLength and AHSType */

/* AHSLength counts one reserved byte too, and 16 bytes of CDB are no reason. */
constexpr u32 min_extended_cdb = 2;
/* One reserved byte and the length. */
constexpr u32 bidirectional_read_length = 5;

/* What the walk has met so far. */
struct Seen {
	u32 extended_cdbs = 0;
	u32 bidirectional_read_lengths = 0;
	u32 others = 0;
	ExtendedCdb extended_cdb = {};
};

/* Counts one segment of @length bytes at @offset; false if it is malformed. */
bool note_segment(Seen &seen, u8 type, u32 offset, u32 length)
{
	switch (type) {
	case extended_cdb_type:
		seen.extended_cdb = {offset + segment_head_size + 1,
				     length - 1};
		return length >= min_extended_cdb &&
		       ++seen.extended_cdbs == 1;
	case bidirectional_read_length_type:
		return length == bidirectional_read_length &&
		       ++seen.bidirectional_read_lengths == 1;
	default:
		++seen.others;
		return length > 0;
	}
}

} // namespace

AhsCheck check_ahs(Bytes ahs)
{
	Seen seen;
	size_t offset = 0;

	while (offset < ahs.size()) {
		Bytes rest = ahs.from(offset);

		if (rest.size() < segment_head_size)
			return {.kind = AhsKind::Malformed};

		u32 length = static_cast<u32>(rest[0] << 8 | rest[1]);
		u32 total = padded(segment_head_size + length);
		if (total > rest.size() ||
		    !note_segment(seen, rest[2] & type_mask,
				  static_cast<u32>(offset), length))
			return {.kind = AhsKind::Malformed};
		offset += total;
	}
	if (seen.others || seen.bidirectional_read_lengths)
		return {.kind = AhsKind::Unsupported};
	if (!seen.extended_cdbs)
		return {.kind = AhsKind::None};
	return {.kind = AhsKind::ExtendedCdb,
		.extended_cdb = seen.extended_cdb};
}

} // namespace iser
