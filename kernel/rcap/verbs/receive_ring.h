// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/memory.h"
#include "port/verbs.h"
#include "rcap/stream.h"

namespace rcap::verbs {

class Stream;

/* A receive buffer with its work request.  Belongs to a ReceiveRing. */
class ReceiveSlot : public Receive {
public:
	~ReceiveSlot();

	base::Error create(Stream &stream, const ReceiveShape &shape);
	void unmap();

	Stream &stream() const { return *stream_; }
	void completed(u32 length);
	/* 0 or -errno */
	int post();

private:
	/* The tail starts here in the piece of memory that holds the head. */
	static constexpr u32 tail_offset = 128;
	static constexpr u32 head_piece = 512;
	static_assert(head_size <= tail_offset);

	Stream *stream_ = nullptr;
	verbs_memory head_memory_ = {};
	verbs_memory body_memory_ = {};
	alignas(VERBS_RECEIVE_ALIGN) u8 storage_[VERBS_RECEIVE_SIZE];
};

/*
 * A set of a connection's receive buffers: counted from what the peer
 * may really send, each no larger than two pages, nothing contiguous beyond
 * that.  Owned by the Stream, which guards it.
 */
class ReceiveRing : base::Immovable {
public:
	base::Error allocate(Stream &stream, const ReceiveShape &shape);
	base::Error post_all();
	/* The device forgets the memory; whoever still reads it may go on. */
	void unmap();
	void clear() { slots_.clear(); }
	u32 count() const { return static_cast<u32>(slots_.size()); }

private:
	base::OwnArray<ReceiveSlot> slots_;
};

} // namespace rcap::verbs
