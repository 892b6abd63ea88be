// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/byte_order.h"
#include "base/span.h"

namespace iser {

using base::Be16;
using base::Be24;
using base::Be32;
using base::Be64;

/* iSCSI opcodes that an iSER target meets (RFC 7143 11.2.1.2). */
enum class IscsiOpcode : u8 {
	NopOut = 0x00,
	ScsiCommand = 0x01,
	TaskManagementRequest = 0x02,
	LoginRequest = 0x03,
	TextRequest = 0x04,
	DataOut = 0x05,
	LogoutRequest = 0x06,
	SnackRequest = 0x10,

	NopIn = 0x20,
	ScsiResponse = 0x21,
	TaskManagementResponse = 0x22,
	LoginResponse = 0x23,
	TextResponse = 0x24,
	LogoutResponse = 0x26,
	AsyncMessage = 0x32,
	Reject = 0x3f,
};

/* Reject reasons (RFC 7143 11.17.1). */
enum class RejectReason : u8 {
	ProtocolError = 0x04,
	CommandNotSupported = 0x05,
	TooManyImmediateCommands = 0x06,
	InvalidPduField = 0x09,
};

/* Task management functions (RFC 7143 11.5.1). */
enum class TaskFunction : u8 {
	AbortTask = 1,
	AbortTaskSet = 2,
	ClearAca = 3,
	ClearTaskSet = 4,
	LogicalUnitReset = 5,
	TargetWarmReset = 6,
	TargetColdReset = 7,
	TaskReassign = 8,
};

/* Task tag that means "none" (RFC 7143 11.19.2). */
inline constexpr u32 reserved_tag = 0xffffffff;

/* Initiator Task Tag: the initiator's name for a task; opaque to us. */
enum class Itt : u32 {};

/* The Basic Header Segment that every PDU starts with (RFC 7143 11.2.1). */
struct Bhs {
	u8 opcode_and_immediate;
	u8 flags;
	u8 specific_2[2];
	u8 total_ahs_length; /* in four-byte words */
	Be24 data_segment_length; /* in bytes, without padding */
	u8 lun[8];
	Be32 itt;
	u8 specific_20[28];

	static constexpr u8 immediate_bit = 0x40;
	static constexpr u8 opcode_mask = 0x3f;
	static constexpr u8 final_bit = 0x80;

	IscsiOpcode opcode() const
	{
		return static_cast<IscsiOpcode>(opcode_and_immediate &
						opcode_mask);
	}
	bool immediate() const { return opcode_and_immediate & immediate_bit; }
	void set_immediate() { opcode_and_immediate |= immediate_bit; }
	bool final() const { return flags & final_bit; }
	u32 ahs_bytes() const { return total_ahs_length * 4u; }

	u8 *bytes() { return reinterpret_cast<u8 *>(this); }
	/* The same 48 bytes, as the PDU that opcode() names. */
	template <typename Pdu> Pdu &as()
	{
		static_assert(sizeof(Pdu) == 48 && alignof(Pdu) == 1);
		return *reinterpret_cast<Pdu *>(this);
	}
	template <typename Pdu> const Pdu &as() const
	{
		static_assert(sizeof(Pdu) == 48 && alignof(Pdu) == 1);
		return *reinterpret_cast<const Pdu *>(this);
	}
};
static_assert(sizeof(Bhs) == 48 && alignof(Bhs) == 1);

/* RFC 7143 11.3 */
struct ScsiCommandPdu {
	u8 opcode_and_immediate;
	u8 flags;
	u8 reserved[2];
	u8 total_ahs_length;
	Be24 data_segment_length;
	u8 lun[8];
	Be32 itt;
	Be32 expected_data_transfer_length;
	Be32 cmd_sn;
	Be32 exp_stat_sn;
	u8 cdb[16];

	static constexpr u8 read_bit = 0x40;
	static constexpr u8 write_bit = 0x20;
	bool final() const { return flags & Bhs::final_bit; }
	bool read() const { return flags & read_bit; }
	bool write() const { return flags & write_bit; }
};

/* RFC 7143 11.7 */
struct DataOutPdu {
	u8 opcode_and_immediate;
	u8 flags;
	u8 reserved_2[2];
	u8 total_ahs_length;
	Be24 data_segment_length;
	u8 lun[8];
	Be32 itt;
	Be32 ttt;
	u8 reserved_24[4];
	Be32 exp_stat_sn;
	u8 reserved_32[4];
	Be32 data_sn;
	Be32 buffer_offset;
	u8 reserved_44[4];
};

/* RFC 7143 11.5 */
struct TaskManagementPdu {
	u8 opcode_and_immediate;
	u8 flags;
	u8 reserved_2[2];
	u8 total_ahs_length;
	Be24 data_segment_length;
	u8 lun[8];
	Be32 itt;
	Be32 referenced_task_tag;
	Be32 cmd_sn;
	Be32 exp_stat_sn;
	Be32 ref_cmd_sn;
	Be32 exp_data_sn;
	u8 reserved_40[8];

	static constexpr u8 function_mask = 0x7f;
	TaskFunction function() const
	{
		return static_cast<TaskFunction>(flags & function_mask);
	}
};

/* RFC 7143 11.12 */
struct LoginRequestPdu {
	u8 opcode_and_immediate;
	u8 flags;
	u8 version_max;
	u8 version_min;
	u8 total_ahs_length;
	Be24 data_segment_length;
	u8 isid[6];
	Be16 tsih;
	Be32 itt;
	Be16 cid;
	u8 reserved_22[2];
	Be32 cmd_sn;
	Be32 exp_stat_sn;
	u8 reserved_32[16];

	static constexpr u8 transit_bit = 0x80;
	static constexpr u8 continue_bit = 0x40;
	bool transit() const { return flags & transit_bit; }
	bool continues() const { return flags & continue_bit; }
	u8 current_stage() const { return flags >> 2 & 3; }
	u8 next_stage() const { return flags & 3; }
};

/* RFC 7143 11.13 */
struct LoginResponsePdu {
	u8 opcode;
	u8 flags;
	u8 version_max;
	u8 version_active;
	u8 total_ahs_length;
	Be24 data_segment_length;
	u8 isid[6];
	Be16 tsih;
	Be32 itt;
	u8 reserved_20[4];
	Be32 stat_sn;
	Be32 exp_cmd_sn;
	Be32 max_cmd_sn;
	u8 status_class;
	u8 status_detail;
	u8 reserved_38[10];
};

/* RFC 7143 11.10; a Text Response has the same shape (11.11). */
struct TextPdu {
	u8 opcode_and_immediate;
	u8 flags;
	u8 reserved_2[2];
	u8 total_ahs_length;
	Be24 data_segment_length;
	u8 lun[8];
	Be32 itt;
	Be32 ttt;
	u8 specific_24[24];

	static constexpr u8 continue_bit = 0x40;
};

/* RFC 7143 11.18 and 11.19 */
struct NopPdu {
	u8 opcode_and_immediate;
	u8 flags;
	u8 reserved_2[2];
	u8 total_ahs_length;
	Be24 data_segment_length;
	u8 lun[8];
	Be32 itt;
	Be32 ttt;
	u8 specific_24[24];
};

/* RFC 7143 11.9 */
struct AsyncMessagePdu {
	u8 opcode;
	u8 flags;
	u8 reserved_2[2];
	u8 total_ahs_length;
	Be24 data_segment_length;
	u8 lun[8];
	Be32 all_ones;
	u8 reserved_20[4];
	Be32 stat_sn;
	Be32 exp_cmd_sn;
	Be32 max_cmd_sn;
	u8 async_event;
	u8 async_vcode;
	Be16 parameter_1;
	Be16 parameter_2;
	Be16 parameter_3;
	u8 reserved_44[4];
};

/* Data segments are padded to words on the wire (RFC 7143 11.2.3). */
constexpr u32 padded(u32 length) { return (length + 3) & ~3u; }

} // namespace iser
