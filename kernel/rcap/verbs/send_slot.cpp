// SPDX-License-Identifier: GPL-2.0
#include "rcap/verbs/send_slot.h"

#include "rcap/verbs/stream.h"

namespace rcap::verbs {

using base::Error;
using base::MutableBytes;

SendSlot::~SendSlot()
{
	verbs_memory_free(&memory_);
}

Error SendSlot::create(Stream &stream)
{
	stream_ = &stream;
	if (Error error = stream.map_memory(memory_, piece, false);
	    error != Error::None)
		return error;
	verbs_send_init(storage_, this);
	return Error::None;
}

void SendSlot::unmap()
{
	if (stream_)
		verbs_memory_unmap(stream_->handle(), &memory_);
}

void SendSlot::load(Send &send, verbs_memory &extra, bool signalled)
{
	const MutableBytes memory(static_cast<u8 *>(memory_.data), piece);
	const u32 length = static_cast<u32>(send.data.size());
	verbs_piece pieces[2] = {{&memory_, 0, send.head_length},
				 {&extra, 0, length}};
	u32 count = 1;

	send_ = &send;
	signalled_ = signalled;
	holds_data_ = send.write;
	base::copy(memory, send.head);
	if (!is_long(send)) {
		base::copy(memory.from(head_size), send.data);
		pieces[0].length += length;
	} else {
		base::copy({static_cast<u8 *>(extra.data), extra.size},
			   send.data);
		verbs_sync_for_device(stream_->handle(), &extra, 0, length);
		count = 2;
	}
	verbs_sync_for_device(stream_->handle(), &memory_, 0,
			      pieces[0].length);
	verbs_send_set(stream_->handle(), storage_, pieces, count,
		       send.with_invalidate, send.invalidate, signalled);
}

int SendSlot::post()
{
	if (!send_->write)
		return verbs_send_post(stream_->handle(), storage_);
	return verbs_transfer_post(stream_->handle(), send_->write->storage,
				   storage_);
}

} // namespace rcap::verbs
