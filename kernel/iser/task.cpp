// SPDX-License-Identifier: GPL-2.0
#include "iser/task.h"

namespace iser {
namespace {

using base::Error;
using base::Result;
using base::smaller;

/* @base + @delta, if @length bytes from there do not wrap (N-023). */
Result<u64> tagged_offset(u64 base, u32 delta, u32 length)
{
	u64 last = u64{delta} + (length ? length - 1 : 0);

	if (base > ~u64{0} - last)
		return Error::Protocol;
	return base + delta;
}

} // namespace

WriteBase write_base(Declared declared, bool silent_means_solicited_only)
{
	bool solicited_only = declared == Declared::Silent ?
		silent_means_solicited_only : declared == Declared::Yes;

	return solicited_only ? WriteBase::SolicitedOnly :
				WriteBase::WholeBuffer;
}

u32 unsolicited_length(const ScsiCommandPdu &command, u32 first_burst_length)
{
	if (!command.write())
		return 0;
	return smaller(command.final() ? u32{command.data_segment_length} :
					 first_burst_length,
		       command.expected_data_transfer_length);
}

Cause check_mapping(const ScsiCommandPdu &command, u32 unsolicited,
		    const RemoteMapping &mapping)
{
	u32 length = command.expected_data_transfer_length;

	if (command.read() && length && !mapping.read_valid)
		return Cause::StagMissing;
	if (command.write() && length > unsolicited && !mapping.write_valid)
		return Cause::StagMissing;
	return Cause::None;
}

Result<u64> source_offset(const RemoteBuffer &buffer, WriteBase base,
			  u32 offset, u32 unsolicited, u32 length)
{
	if (offset < unsolicited)
		return Error::Invalid;
	if (base == WriteBase::SolicitedOnly)
		offset -= unsolicited;
	return tagged_offset(buffer.base_offset, offset, length);
}

Result<u64> sink_offset(const RemoteBuffer &buffer, u32 offset, u32 length)
{
	return tagged_offset(buffer.base_offset, offset, length);
}

u32 next_burst(u32 offset, u32 end, u32 limit)
{
	return offset < end ? smaller(end - offset, limit) : 0;
}

Result<Stag> stag_to_invalidate(const RemoteMapping &mapping,
				bool send_with_invalidate)
{
	if (send_with_invalidate && mapping.read_valid)
		return mapping.read.stag;
	if (send_with_invalidate && mapping.write_valid)
		return mapping.write.stag;
	return Error::Invalid;
}

} // namespace iser
