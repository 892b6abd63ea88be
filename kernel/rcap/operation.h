// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/list.h"
#include "base/span.h"
#include "port/layout.h"

namespace rcap {

/* Bytes that every message starts with: iSER header and BHS. */
inline constexpr u32 head_size = 76;

/* Memory of this machine, [offset, offset + length) of a scatterlist. */
struct LocalBuffer {
	void *scatterlist = nullptr;
	u32 entries = 0;
	u32 offset = 0;
	u32 length = 0;
};

/*
 * One RDMA Read or RDMA Write.  Lives in its task; the stream refers to it
 * until StreamUser::transferred(), or, if a Send carries it, until sent().
 */
struct Transfer {
	base::ListNode node;
	LocalBuffer local;
	u64 remote_offset = 0;
	u32 stag = 0;
	bool read = false;
	/* Nothing that could leave together with it is to be expected. */
	bool alone = false;

	/* The provider's part. */
	void *provider = nullptr;
	bool initialized = false;
	u32 work_requests = 0; /* 0: not prepared */
	alignas(VERBS_TRANSFER_ALIGN) u8 storage[VERBS_TRANSFER_SIZE];
};

/*
 * One Send message.  Lives in the task that sends it; the stream refers to it
 * from Stream::send() until StreamUser::sent().
 */
struct Send {
	base::ListNode node;
	u8 head[head_size];
	/* Less of it only in a message that has no data. */
	u32 head_length = head_size;
	bool with_invalidate = false;
	u32 invalidate = 0;
	/* As Transfer's. */
	bool alone = false;
	/*
	 * Nobody has to know when it arrived: sent() may come as soon as it is
	 * posted.  With a Write it comes a while after that, if need be: when
	 * the data has not to lie still any more.
	 */
	bool unconfirmed = false;
	/* Stays where it is until sent(). */
	base::Bytes data;
	/* An RDMA Write that leaves right before the message, or null. */
	Transfer *write = nullptr;
};

} // namespace rcap
