// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <string>
#include <vector>

#include "libiser/pdu.h"
#include "random.h"

namespace iserverify {

using libiser::ByteVector;
using libiser::ByteView;
using libiser::Pdu;
using libiser::SendOpcode;

/* What a field stands for decides which wrong values are interesting. */
enum class Meaning : std::uint8_t {
	Opcode,
	Flags,
	Length,
	Lun,
	Tag,
	Sequence,
	Stag,
	Offset,
	Cdb,
	Number,
	Reserved,
};

/* Bytes of a message: the iSER header is 0 to 27, the BHS 28 to 75. */
struct Field {
	const char *name;
	std::uint16_t at;
	std::uint16_t size;
	Meaning meaning;
};

enum class PduKind : std::uint8_t {
	NopOut,
	Read,
	Write,
	TaskManagement,
	Login,
	Text,
	DataOut,
	Logout,
	Snack,
	Hello,
};

/* What a legal PDU has to fit to; makers count on. */
struct Surroundings {
	std::uint64_t lun = 0;
	std::uint32_t itt = 0x100;
	std::uint32_t cmd_sn = 1;
	std::uint32_t exp_stat_sn = 1;
	/* What the target may write to, and read from. */
	std::uint32_t read_stag = 0;
	std::uint64_t read_base = 0;
	std::uint32_t write_stag = 0;
	std::uint64_t write_base = 0;
	std::uint32_t buffer_size = 65536;
	/* Writes go to these blocks, and nowhere else. */
	std::uint32_t first_block = 0;
	std::uint32_t blocks = 0;
	bool may_write = false;
	bool initial_r2t = true;
	/* Longest data segment that the target takes. */
	std::uint32_t data_segment = 8192;
	/* Tags of the requests made last. */
	std::vector<std::uint32_t> tags;
};

/* One message as it is to be sent, and what its bytes mean. */
struct Message {
	std::string name;
	const std::vector<Field> *fields = nullptr;
	ByteVector bytes;
	SendOpcode opcode = SendOpcode::Send;
	std::uint32_t invalidate = 0;
	/* Made to be the last of a session. */
	bool final = false;

	std::uint64_t value(const Field &field) const;
	/* The field as far as the message has it. */
	void set_value(const Field &field, std::uint64_t value);
};

const std::vector<Field> &fields_of(PduKind kind);
const char *name_of(PduKind kind);

/* A PDU as a target has to take it; Login has no text, Hello version 10. */
Message legal_message(PduKind kind, Surroundings &surroundings,
		      Random &random);
Message to_message(PduKind kind, const Pdu &pdu);

} // namespace iserverify
