// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/result.h"
#include "iser/cause.h"
#include "iser/header.h"
#include "iser/login_keys.h"

namespace iser {

/* What the Write Base Offset points at (RFC 7145 6.9). */
enum class WriteBase : u8 {
	WholeBuffer,   /* the first byte of the command's data */
	SolicitedOnly, /* the first byte that is not sent unsolicited */
};

/*
 * The initiator's declaration decides.  Linux and libiscsi declare nothing and
 * advance the offset past the unsolicited data; the RFC's default is the other
 * way: @silent_means_solicited_only chooses.
 */
WriteBase write_base(Declared declared, bool silent_means_solicited_only);

/*
 * How many bytes of the command's data come without being asked for: the
 * immediate data, or with F=0 the first burst (RFC 7143 4.2.5.2).
 */
u32 unsolicited_length(const ScsiCommandPdu &command, u32 first_burst_length);

/*
 * Whether the advertised STags cover what the command makes us transfer.  One
 * that is missing is an inconsistent header; one too many is not looked at.
 */
Cause check_mapping(const ScsiCommandPdu &command, u32 unsolicited,
		    const RemoteMapping &mapping);

/*
 * Tagged offset to read @length bytes of write data from, @offset bytes into
 * the command's data.  Fails if that is unsolicited data, or if the range
 * leaves the 64-bit address space.
 */
base::Result<u64> source_offset(const RemoteBuffer &buffer, WriteBase base,
				u32 offset, u32 unsolicited, u32 length = 1);

/* Tagged offset to write @length bytes of read data to; may fail likewise. */
base::Result<u64> sink_offset(const RemoteBuffer &buffer, u32 offset,
			      u32 length = 1);

/* Length of the next RDMA operation on [@offset, @end); 0: nothing is left. */
u32 next_burst(u32 offset, u32 end, u32 limit);

/*
 * The STag that the SCSI Response invalidates at the peer: the Read STag, else
 * the Write STag (RFC 5046 7.3.2).  Fails if the response is a plain Send.
 */
base::Result<Stag> stag_to_invalidate(const RemoteMapping &mapping,
				      bool send_with_invalidate);

} // namespace iser
