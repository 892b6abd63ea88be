// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "iser/bhs.h"

namespace iser {

/* Steering Tag: the peer's name for a registered buffer (RFC 5040 1.1). */
enum class Stag : u32 {};

/* First nibble of every message in iSER mode (RFC 7145 9.1). */
enum class IserOpcode : u8 { Control = 1, Hello = 2, HelloReply = 3 };

/* A buffer of the peer: its STag, and the tagged offset of its first byte. */
struct RemoteBuffer {
	Stag stag;
	u64 base_offset;
};

/*
 * Remote Mapping of one task: the buffers that its command advertised
 * (RFC 7145 2.1).  A buffer whose flag is false is not to be looked at.
 */
struct RemoteMapping {
	bool write_valid = false;
	bool read_valid = false;
	RemoteBuffer write = {};
	RemoteBuffer read = {};
};

/* iSER header of a control-type PDU, 28 bytes (RFC 7145 9.2). */
struct ControlHeader {
	u8 opcode_and_flags;
	u8 reserved[3];
	Be32 write_stag;
	Be64 write_base_offset;
	Be32 read_stag;
	Be64 read_base_offset;

	static constexpr u8 write_stag_valid = 0x08;
	static constexpr u8 read_stag_valid = 0x04;

	IserOpcode opcode() const
	{
		return static_cast<IserOpcode>(opcode_and_flags >> 4);
	}
	/* What the header advertises; fields whose flag is 0 are ignored. */
	RemoteMapping mapping() const;
	/* The header of everything that a target sends: no STag. */
	static ControlHeader from_target();
};
static_assert(sizeof(ControlHeader) == 28 && alignof(ControlHeader) == 1);

/* Header and BHS stand side by side at the start of every control message. */
struct MessageHead {
	ControlHeader header;
	Bhs bhs;
};
inline constexpr u32 message_head_size = 76;
static_assert(sizeof(MessageHead) == message_head_size);

} // namespace iser
