// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/memory.h"
#include "port/verbs.h"
#include "rcap/stream.h"

namespace rcap::verbs {

class Stream;

/*
 * Mapped memory for one Send on its way, with its work request.  A stream has
 * as many as it lets Sends be outstanding.  Owned by the Stream, which guards
 * it.
 */
class SendSlot : base::Immovable {
public:
	~SendSlot();

	base::Error create(Stream &stream);
	void unmap();

	/* Fills the slot with @send's message; @extra takes long data. */
	void load(Send &send, verbs_memory &extra, bool signalled);
	/* 0 or -errno */
	int post();

	/*
	 * What was loaded.  Once posted it may be gone, if it is neither
	 * signalled nor holds data.
	 */
	Send &send() const { return *send_; }
	bool signalled() const { return signalled_; }
	/* An RDMA Write left with it, whose data has to lie still. */
	bool holds_data() const { return holds_data_; }
	Stream &stream() const { return *stream_; }

	base::ListNode node;
	/* Of UnsignalledSlots. */
	u32 ordinal = 0;

private:
	static constexpr u32 piece = head_size + rcap::Stream::short_data;

	Stream *stream_ = nullptr;
	Send *send_ = nullptr;
	bool signalled_ = true;
	bool holds_data_ = false;
	verbs_memory memory_ = {};
	alignas(VERBS_SEND_ALIGN) u8 storage_[VERBS_SEND_SIZE];
};

/* Long data does not fit behind the head, and goes one at a time. */
inline bool is_long(const Send &send)
{
	return send.data.size() > rcap::Stream::short_data;
}

} // namespace rcap::verbs
