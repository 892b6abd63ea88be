// SPDX-License-Identifier: GPL-2.0
#include "rcap/verbs/receive_ring.h"

#include "rcap/verbs/stream.h"

namespace rcap::verbs {

using base::Error;

ReceiveSlot::~ReceiveSlot()
{
	verbs_memory_free(&body_memory_);
	verbs_memory_free(&head_memory_);
}

Error ReceiveSlot::create(Stream &stream, const ReceiveShape &shape)
{
	if (shape.tail > head_piece - tail_offset)
		return Error::Invalid;
	stream_ = &stream;
	if (Error error = stream.map_memory(head_memory_, head_piece, true);
	    error != Error::None)
		return error;
	if (Error error = stream.map_memory(body_memory_, shape.body, true);
	    error != Error::None)
		return error;

	u8 *head = static_cast<u8 *>(head_memory_.data);

	head_ = {head, head_size};
	body_ = {static_cast<u8 *>(body_memory_.data), shape.body};
	tail_ = {head + tail_offset, shape.tail};

	const verbs_piece pieces[] = {
		{&head_memory_, 0, head_size},
		{&body_memory_, 0, shape.body},
		{&head_memory_, tail_offset, shape.tail},
	};
	verbs_receive_init(stream.handle(), storage_, pieces, 3, this);
	return Error::None;
}

void ReceiveSlot::unmap()
{
	if (!stream_)
		return;
	verbs_memory_unmap(stream_->handle(), &body_memory_);
	verbs_memory_unmap(stream_->handle(), &head_memory_);
}

void ReceiveSlot::completed(u32 length)
{
	const u32 body = static_cast<u32>(body_.size());
	const u32 behind = length > head_size ? length - head_size : 0;

	length_ = length;
	verbs_sync_for_cpu(stream_->handle(), &head_memory_, 0, head_piece);
	if (behind > 0)
		verbs_sync_for_cpu(stream_->handle(), &body_memory_, 0,
				   behind < body ? behind : body);
}

int ReceiveSlot::post()
{
	verbs_sync_for_device(stream_->handle(), &head_memory_, 0, head_piece);
	verbs_sync_for_device(stream_->handle(), &body_memory_, 0,
			      static_cast<u32>(body_.size()));
	return verbs_receive_post(stream_->handle(), storage_);
}

Error ReceiveRing::allocate(Stream &stream, const ReceiveShape &shape)
{
	if (Error error = slots_.allocate(shape.count); error != Error::None)
		return error;
	for (ReceiveSlot &slot : slots_) {
		if (Error error = slot.create(stream, shape);
		    error != Error::None) {
			unmap();
			clear();
			return error;
		}
	}
	return Error::None;
}

Error ReceiveRing::post_all()
{
	for (ReceiveSlot &slot : slots_)
		if (int error = slot.post(); error < 0)
			return base::from_errno(error);
	return Error::None;
}

void ReceiveRing::unmap()
{
	for (ReceiveSlot &slot : slots_)
		slot.unmap();
}

} // namespace rcap::verbs
