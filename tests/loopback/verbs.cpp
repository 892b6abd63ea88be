// SPDX-License-Identifier: GPL-2.0
/* port/verbs.h over a Link. */
#include "port/verbs.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "host/host.h"
#include "loopback/queue_pair.h"
#include "port/layout.h"

using host::die;
using loopback::Link;
using loopback::Network;
using loopback::ReceiveRequest;
using loopback::Scheduler;
using loopback::SendRequest;
using loopback::TransferRequest;
using loopback::for_each_piece;
using namespace loopback::completion;

namespace {

ReceiveRequest &receive_request(void *storage)
{
	return host::object<ReceiveRequest, VERBS_RECEIVE_SIZE,
			    VERBS_RECEIVE_ALIGN>(storage);
}

SendRequest &send_request(void *storage)
{
	return host::object<SendRequest, VERBS_SEND_SIZE, VERBS_SEND_ALIGN>(
		storage);
}

TransferRequest &transfer_request(void *storage)
{
	return host::object<TransferRequest, VERBS_TRANSFER_SIZE,
			    VERBS_TRANSFER_ALIGN>(storage);
}

Scheduler &scheduler() { return Scheduler::instance(); }
Network &network() { return Network::instance(); }

} // namespace

/* The connection manager --------------------------------------------------- */

int verbs_listener_create(struct verbs_listener **out,
			  const struct port_address *address, void *context)
{
	void *memory = port_alloc(64, PORT_MAY_SLEEP);

	if (!memory)
		return -ENOMEM;
	*out = new verbs_listener(*address, context);
	(*out)->memory = memory;
	return 0;
}

void verbs_listener_destroy(struct verbs_listener *listener)
{
	scheduler().wait("a connection request", [listener] {
		return !listener->cm.busy();
	});
	delete listener;
}

void verbs_stream_traits(struct verbs_stream *stream,
			 struct verbs_device_traits *out)
{
	const loopback::Device &device = network().device;

	*out = {};
	out->send_with_invalidate = device.send_with_invalidate;
	out->max_read_depth = device.read_depth;
	out->send_wrs = stream->send_wrs;
	std::strcpy(out->name, "loopback0");
	out->port = 1;
}

int verbs_stream_create(struct verbs_stream *stream, struct verbs_shape *shape,
			void *context)
{
	stream->memory = port_alloc(64, PORT_MAY_SLEEP);
	if (!stream->memory)
		return -ENOMEM;
	stream->context = context;
	stream->created = true;
	shape->send_sge = std::min(shape->send_sge, network().device.pieces);
	stream->shape = *shape;
	stream->send_wrs = shape->sends + 1 + shape->transfer_wrs;
	if (network().device.fails_at_once) {
		stream->fail();
		verbs_stream_event(context, VERBS_QP_FATAL);
		scheduler().settle();
	}
	return 0;
}

int verbs_stream_accept(struct verbs_stream *stream, const u8 *private_data,
			u8 length, u8 read_depth)
{
	Link &link = *stream->link;

	scheduler().maybe_hold_up();
	/* An MPA peer of revision 1 cannot say it: then one. */
	if (read_depth > std::max<u8>(link.read_depth, 1))
		link.offences.add("more RDMA Reads at a time than asked for");
	if (link.initiator_gone || stream->failed) {
		/* All that follows from the flush may come before the answer. */
		stream->fail();
		scheduler().settle();
		link.phase = Link::Phase::Refused;
		return -EINVAL;
	}
	stream->accepted = true;
	link.reply_data.assign(private_data, private_data + length);
	link.phase = Link::Phase::Accepted;
	return 0;
}

void verbs_stream_reject(struct verbs_stream *stream, const u8 *private_data,
			 u8 length)
{
	stream->link->reply_data.assign(private_data, private_data + length);
	stream->link->phase = Link::Phase::Refused;
}

/* The CM has to know of the connection first; see linux/verbs.c. */
void verbs_stream_disconnect(struct verbs_stream *stream)
{
	if (stream->heard)
		scheduler().wait("the connection to be established",
				 [stream] { return stream->established; },
				 scheduler().now() + 2000);
	stream->fail();
	if (!stream->link->cut)
		stream->link->end("the peer disconnected");
}

void verbs_stream_drain(struct verbs_stream *stream)
{
	if (scheduler().runs(stream->worker))
		die("the completion worker waits for itself");
	if (!stream->failed)
		stream->fail();
	stream->draining = true;
	scheduler().wait("a drain", [stream] { return stream->drained(); });
}

void verbs_stream_destroy(struct verbs_stream *stream)
{
	if (stream->owes_completions())
		die("a queue pair goes, and its operations have not ended");
	scheduler().wait("the completion worker", [stream] {
		return stream->late.empty() && stream->drained();
	});
	if (!stream->mapped.empty() || stream->registrations_used)
		die("a queue pair goes while memory is mapped for it");
	port_free(stream->memory);
	stream->memory = nullptr;
	stream->created = false;
}

void verbs_stream_free(struct verbs_stream *stream, int destroy_id)
{
	stream->link->target = nullptr;
	stream->events.clear();
	if (!destroy_id) {
		scheduler().post([stream] {
			scheduler().wait("a CM event", [stream] {
				return !stream->cm.busy() && !stream->requested;
			});
			delete stream;
		});
		return;
	}
	if (scheduler().runs(stream->cm))
		die("the CM waits for its own handler");
	scheduler().wait("a CM event and the id", [stream] {
		return !stream->cm.busy() && !stream->requested &&
		       !network().ids_kept;
	});
	delete stream;
}

/* Memory ------------------------------------------------------------------- */

int verbs_memory_alloc(struct verbs_stream *stream, struct verbs_memory *memory,
		       u32 size, int from_device)
{
	memory->size = size;
	memory->from_device = from_device;
	memory->data = port_alloc(size, PORT_MAY_SLEEP);
	if (!memory->data)
		return -ENOMEM;
	stream->mapped.insert(memory->data);
	return 0;
}

void verbs_memory_unmap(struct verbs_stream *stream,
			struct verbs_memory *memory)
{
	if (!memory->data)
		return;
	if (stream->uses(memory->data))
		die("memory is unmapped that the device may still use");
	if (!stream->mapped.erase(memory->data))
		die("memory is unmapped that is not mapped");
}

void verbs_memory_free(struct verbs_memory *memory)
{
	port_free(memory->data);
	memory->data = nullptr;
}

static void check_sync(struct verbs_stream *stream,
		       const struct verbs_memory *memory, u32 offset,
		       u32 length)
{
	if (!stream->mapped.contains(memory->data) || offset > memory->size ||
	    length > memory->size - offset)
		die("memory is synchronized that is not mapped");
}

void verbs_sync_for_cpu(struct verbs_stream *stream,
			const struct verbs_memory *memory, u32 offset,
			u32 length)
{
	check_sync(stream, memory, offset, length);
}

void verbs_sync_for_device(struct verbs_stream *stream,
			   const struct verbs_memory *memory, u32 offset,
			   u32 length)
{
	check_sync(stream, memory, offset, length);
}

/* Work requests ------------------------------------------------------------ */

void verbs_receive_init(struct verbs_stream *, void *receive,
			const struct verbs_piece *pieces, u32 count,
			void *context)
{
	auto &self = receive_request(receive);

	self = {};
	self.context = context;
	self.count = count;
	std::copy_n(pieces, count, self.pieces);
}

int verbs_receive_post(struct verbs_stream *stream, void *receive)
{
	auto &self = receive_request(receive);

	if (stream->draining)
		die("a buffer is posted to a queue pair that is drained");
	for (u32 i = 0; i < self.count; ++i)
		if (!stream->mapped.contains(self.pieces[i].memory->data))
			die("a buffer is posted that is not mapped");
	if (stream->receives.size() >= stream->shape.receives)
		return -ENOMEM;
	if (stream->failed)
		stream->completions.push_back({.receive = &self,
					       .status = Flushed});
	else
		stream->receives.push_back(&self);
	return 0;
}

void verbs_send_init(void *send, void *context)
{
	send_request(send) = {};
	send_request(send).context = context;
}

void verbs_send_set(struct verbs_stream *, void *send,
		    const struct verbs_piece *pieces, u32 count,
		    int with_invalidate, u32 invalidate, int signalled)
{
	auto &self = send_request(send);

	self.count = count;
	std::copy_n(pieces, count, self.pieces);
	self.with_invalidate = with_invalidate;
	self.invalidate = invalidate;
	self.signalled = signalled;
}

int verbs_send_post(struct verbs_stream *stream, void *send)
{
	return stream->post({.send = &send_request(send)}) ? 0 : -ENOMEM;
}

int verbs_marker_post(struct verbs_stream *stream)
{
	return stream->post({}) ? 0 : -ENOMEM;
}

void verbs_transfer_init(void *transfer, void *context)
{
	transfer_request(transfer) = {};
	transfer_request(transfer).context = context;
}

int verbs_transfer_prepare(struct verbs_stream *stream, void *transfer,
			   const struct verbs_range *local, u64 remote_offset,
			   u32 stag, int read)
{
	const loopback::Device &device = network().device;
	auto &self = transfer_request(transfer);
	u32 pieces = 0;

	scheduler().maybe_hold_up();
	if (local->length == 0 ||
	    !for_each_piece(*local, [&](u8 *, u32) { ++pieces; }))
		return -EINVAL;
	if (device.registrations &&
	    stream->registrations_used >= device.registrations)
		return -EAGAIN;
	self.mapped = port_alloc(32, PORT_MAY_SLEEP);
	if (!self.mapped)
		return -ENOMEM;
	if (device.registrations)
		++stream->registrations_used;
	self.range = *local;
	self.remote_offset = remote_offset;
	self.stag = stag;
	self.read = read;
	self.work_requests = (pieces + stream->shape.send_sge - 1) /
			     stream->shape.send_sge;
	/* Registering takes one, and invalidating another. */
	if (device.registrations)
		self.work_requests = 3;
	return static_cast<int>(self.work_requests);
}

int verbs_transfer_post(struct verbs_stream *stream, void *transfer,
			void *chained)
{
	auto &self = transfer_request(transfer);

	self.carrier = chained ? &send_request(chained) : nullptr;
	if (!stream->post({.transfer = &self}))
		return -ENOMEM;
	return chained ? verbs_send_post(stream, chained) : 0;
}

void verbs_transfer_finish(struct verbs_stream *stream, void *transfer)
{
	auto &self = transfer_request(transfer);

	if (!self.mapped)
		die("a transfer is finished that is not prepared");
	if (stream->has(self))
		die("a transfer is finished that the device may still work on");
	port_free(self.mapped);
	self.mapped = nullptr;
	if (network().device.registrations)
		--stream->registrations_used;
}

const char *verbs_status_text(int status)
{
	switch (status) {
	case LocalLength:
		return "local length error";
	case RemoteAccess:
		return "remote access error";
	case RetriesExceeded:
		return "transport retry counter exceeded";
	default:
		return "WR flushed";
	}
}

int verbs_status_is_flush(int status)
{
	return status == Flushed;
}
