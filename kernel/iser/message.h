// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/span.h"
#include "iser/cause.h"
#include "iser/header.h"

namespace iser {

using base::Bytes;

/* Largest data segment of a login PDU (RFC 7143 6.3). */
inline constexpr u32 max_login_data = 8192;

/* What this end declared or negotiated that it receives. */
struct MessageLimits {
	u32 max_ahs;
	u32 max_data_segment;
};

/* Where the parts of a checked message lie. */
struct MessageLayout {
	u32 ahs_length = 0;
	u32 data_offset = 0; /* from the end of the BHS */
	u32 data_length = 0;
};

struct MessageCheck {
	Cause cause = Cause::None;
	MessageLayout layout = {};

	bool ok() const { return cause == Cause::None; }
};

/*
 * Holds what the header and the BHS claim against the @received bytes, before
 * anything else reads the message.  @head is readable whatever @received says;
 * what lies behind @received is stale and is not believed.
 */
MessageCheck check_message(const MessageHead &head, u32 received,
			   const MessageLimits &limits);

/*
 * The same before the full feature phase, where nothing but a Login Request
 * is legal, without AHS and with at most max_login_data bytes of text.
 */
MessageCheck check_login_message(const MessageHead &head, u32 received);

/* What the additional header segments of a SCSI Command amount to. */
enum class AhsKind : u8 {
	None,
	ExtendedCdb, /* this one segment, and no other */
	Unsupported, /* well formed, but not what we can execute */
	Malformed,
};

/* The bytes of the CDB from the 17th on, within the AHS. */
struct ExtendedCdb {
	u32 offset = 0;
	u32 length = 0;
};

struct AhsCheck {
	AhsKind kind = AhsKind::None;
	ExtendedCdb extended_cdb = {}; /* if kind is ExtendedCdb */
};

/* Walks all segments in @ahs, TotalAHSLength long (RFC 7143 11.2.2). */
AhsCheck check_ahs(Bytes ahs);

} // namespace iser
