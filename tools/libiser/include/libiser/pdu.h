// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "iser/header.h"
#include "libiser/raw_connection.h"

namespace libiser {

/* What most requests have in common (RFC 7143 11). */
struct RequestPdu {
	u8 opcode_and_immediate;
	u8 flags;
	u8 specific_2[2];
	u8 total_ahs_length;
	iser::Be24 data_segment_length;
	u8 lun[8];
	iser::Be32 itt;
	iser::Be32 specific_20; /* TTT, EDTL, Referenced Task Tag */
	iser::Be32 cmd_sn;
	iser::Be32 exp_stat_sn;
	iser::Be32 ref_cmd_sn;
	u8 specific_36[12];
};

/* What most responses have in common. */
struct ResponsePdu {
	u8 opcode;
	u8 flags;
	u8 response; /* of SCSI, task management, logout; reason of a Reject */
	u8 status;   /* of SCSI */
	u8 total_ahs_length;
	iser::Be24 data_segment_length;
	u8 lun[8];
	iser::Be32 itt;
	iser::Be32 ttt;
	iser::Be32 stat_sn;
	iser::Be32 exp_cmd_sn;
	iser::Be32 max_cmd_sn;
	iser::Be32 exp_data_sn;
	iser::Be32 bidirectional_residual;
	iser::Be32 residual;

	static constexpr u8 overflow_bit = 0x04;
	static constexpr u8 underflow_bit = 0x02;
};

/* One iSER message that carries an iSCSI PDU. */
struct Pdu {
	iser::MessageHead head = {};
	ByteVector ahs;
	ByteVector data;
	std::optional<std::uint32_t> invalidated; /* of a received one */

	Pdu() = default;
	/* A header without STags, and a BHS with that opcode. */
	explicit Pdu(iser::IscsiOpcode opcode, bool immediate = false);

	/*
	 * Takes a message of the target apart.  Throws ProtocolError if its
	 * lengths lie or its iSER header is not that of a target.
	 */
	explicit Pdu(const Received &message);

	iser::IscsiOpcode opcode() const { return head.bhs.opcode(); }
	RequestPdu &request() { return head.bhs.as<RequestPdu>(); }
	const ResponsePdu &response() const
	{
		return head.bhs.as<ResponsePdu>();
	}
	void set_lun(std::uint64_t lun);

	/*
	 * As it goes on the wire: the lengths in the BHS set to those of @ahs
	 * and @data, and the data padded.
	 */
	ByteVector bytes() const;
	/* The same, but the BHS as it is: for lies. */
	ByteVector bytes_as_claimed() const;
};

/* Key=value pairs in order; a key may come twice. */
using TextKeys = std::vector<std::pair<std::string, std::string>>;

ByteVector to_text(const TextKeys &keys);
/* Throws ProtocolError if @text is none. */
TextKeys from_text(ByteView text);
/* The first value of @key, or nullptr. */
const std::string *find_key(const TextKeys &keys, const std::string &key);

} // namespace libiser
