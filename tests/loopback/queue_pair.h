// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <set>

#include "loopback/link.h"
#include "loopback/scheduler.h"
#include "port/verbs.h"

namespace loopback {

/* Of enum ib_wc_status. */
namespace completion {

enum Status {
	Success = 0,
	LocalLength = 1,
	Flushed = 5,
	RemoteAccess = 10,
	RetriesExceeded = 12,
};

} // namespace completion

/* What the port's objects keep in their storage. */
struct ReceiveRequest {
	void *context;
	verbs_piece pieces[4];
	u32 count;
};

struct SendRequest {
	void *context;
	verbs_piece pieces[2];
	u32 count;
	bool with_invalidate;
	u32 invalidate;
	bool signalled;
};

struct TransferRequest {
	void *context;
	verbs_range range;
	u64 remote_offset;
	u32 stag;
	u32 work_requests;
	bool read;
	/* The Send behind an RDMA Write that tells of it, or null. */
	SendRequest *carrier;
	/* What preparing it took. */
	void *mapped;
};

/* One entry of the send queue: a Send, a transfer, or else a marker. */
struct Posted {
	SendRequest *send = nullptr;
	TransferRequest *transfer = nullptr;
	/* What an RDMA Read has fetched, until it is placed. */
	ByteVector fetched = {};

	u32 work_requests() const
	{
		return transfer ? transfer->work_requests : 1;
	}
};

/* Of the first that is not null; else of a marker. */
struct Completion {
	ReceiveRequest *receive = nullptr;
	SendRequest *send = nullptr;
	TransferRequest *transfer = nullptr;
	/* Of the RDMA Write that it carries. */
	SendRequest *carrier = nullptr;
	int status = completion::Success;
	u32 length = 0;
};

/* The pieces of a scatterlist that hold @range, one call each, in order. */
template <typename Do> bool for_each_piece(const verbs_range &range, Do todo)
{
	auto *segment = static_cast<Segment *>(range.scatterlist);
	u32 offset = range.offset;
	u32 left = range.length;

	for (u32 i = 0; i < range.entries && left > 0; ++i, ++segment) {
		if (offset >= segment->length) {
			offset -= segment->length;
			continue;
		}
		const u32 part = std::min(segment->length - offset, left);

		todo(segment->data + offset, part);
		left -= part;
		offset = 0;
	}
	return left == 0;
}

} // namespace loopback

/*
 * The target's end of a Link: a CM id and its queue pair.  What a device does
 * by itself is a Source each, so that the scheduler decides when; within a
 * queue the order is kept, as reliable connections do (RFC 5040 5.5).
 */
struct verbs_stream {
	explicit verbs_stream(std::shared_ptr<loopback::Link> link);
	~verbs_stream();

	/* The queue pair is in the error state: all that it has is flushed. */
	void fail();
	/* Whether the device has to tell of what somebody waits for. */
	bool owes_completions() const;
	/* The CM says that the connection has ended. */
	void lose(enum verbs_stream_event event);
	void raise(std::function<void()> event)
	{
		events.push_back(std::move(event));
	}
	void establish();
	bool post(loopback::Posted posted);
	u32 outstanding() const;
	bool drained() const;
	bool uses(const void *data) const;
	bool has(const loopback::TransferRequest &transfer) const;

	std::shared_ptr<loopback::Link> link;
	void *context = nullptr;
	/* Memory of the CM id, and of the queue pair: both may be refused. */
	void *id_memory = nullptr;
	void *memory = nullptr;
	verbs_shape shape = {};
	u32 send_wrs = 0;
	bool created = false;
	bool failed = false;
	bool draining = false;
	bool accepted = false;
	/* The handler of its connection request has not returned. */
	bool requested = false;
	bool heard = false;
	bool established = false;
	/* Of its own, as rdma_rw has them. */
	u32 registrations_used = 0;
	/* Mapped for the device. */
	std::set<const void *> mapped;

	std::deque<loopback::ReceiveRequest *> receives;
	std::deque<loopback::Posted> send_queue;
	std::deque<loopback::Posted> sent;
	std::deque<loopback::Completion> completions;
	/* Of a device that flushes late: not told of yet. */
	std::deque<loopback::Completion> late;
	std::deque<std::function<void()>> events;

	/* What happens by itself. */
	loopback::Events cm;
	loopback::Events arrival;
	loopback::Events transmission;
	loopback::Events acknowledgement;
	loopback::Events worker;

private:
	void arrive();
	void dry();
	void transmit();
	int execute(loopback::Posted &posted);
	int execute_send(const loopback::SendRequest &send);
	int execute_write(const loopback::TransferRequest &transfer);
	int execute_read(loopback::Posted &posted);
	void acknowledge();
	void complete(const loopback::Completion &completion);
	void complete(const loopback::Posted &posted, int status);
	void run_completion();
};

struct verbs_listener {
	explicit verbs_listener(const port_address &address, void *context);
	~verbs_listener();

	port_address address;
	void *context;
	void *memory = nullptr;
	std::deque<std::shared_ptr<loopback::Link>> requests;
	std::deque<enum verbs_listener_event> events;
	loopback::Events cm;

private:
	void step();
	void connect();
};
