// SPDX-License-Identifier: GPL-2.0
/*
 * port/verbs.h over a Link: rdma_cm and a queue pair with its queues.  What a
 * device does by itself is a Source each, so that the scheduler decides when;
 * within a queue the order is kept, as reliable connections do (RFC 5040 5.5).
 */
#include "port/verbs.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <set>

#include "host/host.h"
#include "loopback/link.h"
#include "port/layout.h"

using host::die;
using loopback::ByteVector;
using loopback::Events;
using loopback::Link;
using loopback::Memory;
using loopback::Network;
using loopback::Scheduler;
using loopback::Segment;

namespace {

/* Of enum ib_wc_status. */
enum Status {
	Success = 0,
	LocalLength = 1,
	Flushed = 5,
	RemoteAccess = 10,
	RetriesExceeded = 12,
};

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
};

struct TransferRequest {
	void *context;
	verbs_range range;
	u64 remote_offset;
	u32 stag;
	u32 work_requests;
	bool read;
	bool chained;
	/* What preparing it took. */
	void *mapped;
};

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

/* One entry of the send queue: a Send or a transfer. */
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

struct Completion {
	ReceiveRequest *receive = nullptr;
	SendRequest *send = nullptr;
	TransferRequest *transfer = nullptr;
	int status = Success;
	u32 length = 0;
};

Scheduler &scheduler() { return Scheduler::instance(); }
Network &network() { return Network::instance(); }

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

} // namespace

struct verbs_stream {
	explicit verbs_stream(std::shared_ptr<Link> link);
	~verbs_stream();

	/* The queue pair is in the error state: all that it has is flushed. */
	void fail();
	/* As fail(), and the CM says why. */
	void lose(enum verbs_stream_event event);
	void raise(std::function<void()> event)
	{
		events.push_back(std::move(event));
	}
	void establish();
	bool post(Posted posted);
	u32 outstanding() const;
	bool drained() const;
	bool uses(const void *data) const;

	std::shared_ptr<Link> link;
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
	bool refused = false;
	bool heard = false;
	bool established = false;
	/* Of its own, as rdma_rw has them. */
	u32 registrations_used = 0;
	/* Mapped for the device. */
	std::set<const void *> mapped;

	std::deque<ReceiveRequest *> receives;
	std::deque<Posted> send_queue;
	std::deque<Posted> sent;
	std::deque<Completion> completions;
	std::deque<std::function<void()>> events;

	/* What happens by itself. */
	Events cm;
	Events arrival;
	Events transmission;
	Events acknowledgement;
	Events worker;

private:
	void arrive();
	void dry();
	void transmit();
	int execute(Posted &posted);
	int execute_send(const SendRequest &send);
	int execute_write(const TransferRequest &transfer);
	int execute_read(Posted &posted);
	void acknowledge();
	void complete(const Completion &completion);
	void complete(const Posted &posted, int status);
	void run_completion();
};

struct verbs_listener {
	explicit verbs_listener(const port_address &address, void *context);
	~verbs_listener();

	port_address address;
	void *context;
	void *memory = nullptr;
	std::deque<std::shared_ptr<Link>> requests;
	Events cm;

private:
	void connect();
};

/* The queue pair -------------------------------------------------------------- */

verbs_stream::verbs_stream(std::shared_ptr<Link> with)
	: link(std::move(with)),
	  cm("the CM's events", [this] { return !events.empty(); },
	     [this] {
		     const auto event = std::move(events.front());

		     events.pop_front();
		     event();
	     }),
	  arrival("arriving messages",
		  [this] {
			  return created && !failed && !link->cut &&
				 !link->to_target.empty() &&
				 (!receives.empty() ||
				  network().device.no_back_pressure);
		  },
		  [this] { arrive(); }),
	  transmission("the send queue",
		       [this] {
			       return !failed && !link->cut &&
				      !send_queue.empty();
		       },
		       [this] { transmit(); }),
	  acknowledgement("acknowledgements",
			  [this] {
				  return !failed && !sent.empty() &&
					 !network().acknowledgements_late;
			  },
			  [this] { acknowledge(); }),
	  worker("the completion worker",
		 [this] { return !completions.empty(); },
		 [this] { run_completion(); })
{
	link->target = this;
	network().streams.push_back(this);
}

verbs_stream::~verbs_stream()
{
	if (created)
		die("a stream is freed that has a queue pair");
	port_free(id_memory);
	link->target = nullptr;
	std::erase(network().streams, this);
}

/* The next message finds the next receive buffer. */
void verbs_stream::arrive()
{
	if (receives.empty()) {
		dry();
		return;
	}
	ByteVector message = std::move(link->to_target.front());
	ReceiveRequest *receive = receives.front();
	size_t offset = 0;

	link->to_target.pop_front();
	if (network().broken.lose_message &&
	    ++link->messages % network().broken.lose_message == 0)
		return;
	receives.pop_front();
	for (u32 i = 0; i < receive->count; ++i) {
		const verbs_piece &piece = receive->pieces[i];
		const size_t part = std::min<size_t>(piece.length,
						     message.size() - offset);

		if (part == 0)
			break;
		std::memcpy(static_cast<u8 *>(piece.memory->data) + piece.offset,
			    message.data() + offset, part);
		offset += part;
	}
	if (offset < message.size()) {
		complete({.receive = receive, .status = LocalLength});
		fail();
		link->end("the target had no room for a message");
		return;
	}
	complete({.receive = receive, .length = static_cast<u32>(offset)});
}

/* A peer that keeps the rules is not to see this (RFC 7145 8.1). */
void verbs_stream::dry()
{
	++network().dry;
	fail();
	link->end("a message found no receive buffer");
	raise([this] { verbs_stream_event(context, VERBS_QP_FATAL); });
}

/* Executes the head of the send queue at the initiator. */
void verbs_stream::transmit()
{
	if (network().broken.send_before_write && send_queue.size() > 1 &&
	    send_queue[0].transfer && send_queue[1].send)
		std::swap(send_queue[0], send_queue[1]);

	Posted posted = std::move(send_queue.front());

	send_queue.pop_front();

	const int status = execute(posted);

	if (status == Success) {
		sent.push_back(std::move(posted));
		return;
	}
	/* What was executed before is acknowledged. */
	while (!sent.empty())
		acknowledge();
	complete(posted, status);
	fail();
	link->end(verbs_status_text(status));
}

int verbs_stream::execute(Posted &posted)
{
	if (link->initiator_gone || link->phase == Link::Phase::Ended)
		return RetriesExceeded;
	if (posted.send)
		return execute_send(*posted.send);
	return posted.transfer->read ? execute_read(posted) :
				       execute_write(*posted.transfer);
}

int verbs_stream::execute_send(const SendRequest &send)
{
	loopback::Received message;
	u32 invalidate = send.invalidate;

	for (u32 i = 0; i < send.count; ++i) {
		const verbs_piece &piece = send.pieces[i];
		auto *data = static_cast<u8 *>(piece.memory->data);

		message.bytes.insert(message.bytes.end(), data + piece.offset,
				     data + piece.offset + piece.length);
	}
	if (message.bytes.size() > link->longest)
		link->offences.add("a message is longer than the initiator "
				   "has room for");
	if (send.with_invalidate) {
		if (network().broken.invalidate_another)
			invalidate ^= 0x100;
		if (!link->memory.invalidate(invalidate)) {
			link->offences.add("a Send invalidates an STag that "
					   "is not valid");
			return RemoteAccess;
		}
		message.invalidated = invalidate;
	}
	link->to_initiator.push_back(std::move(message));
	return Success;
}

int verbs_stream::execute_write(const TransferRequest &transfer)
{
	u8 *to = link->memory.reach(transfer.stag, transfer.remote_offset,
				    transfer.range.length,
				    Memory::Access::RemoteWrite);
	const u32 length = transfer.range.length;

	if (!to) {
		link->offences.add("an RDMA Write to where the target may not");
		return RemoteAccess;
	}
	if (const u32 off = network().broken.misplace_write; off < length)
		to += off;
	for_each_piece(transfer.range, [&](const u8 *data, u32 part) {
		const u32 off = network().broken.misplace_write;

		std::memcpy(to, data, off < part ? part - off : part);
		to += part;
	});
	return Success;
}

int verbs_stream::execute_read(Posted &posted)
{
	const TransferRequest &transfer = *posted.transfer;
	const u32 length = transfer.range.length;
	const u8 *from = link->memory.reach(transfer.stag,
					    transfer.remote_offset, length,
					    Memory::Access::RemoteRead);

	if (!from) {
		link->offences.add("an RDMA Read from where the target may not");
		return RemoteAccess;
	}
	posted.fetched.assign(from, from + length);
	std::rotate(posted.fetched.begin(),
		    posted.fetched.begin() +
			    std::min(network().broken.misplace_read, length),
		    posted.fetched.end());
	return Success;
}

/* The oldest that was executed is complete; an RDMA Read has its data now. */
void verbs_stream::acknowledge()
{
	Posted posted = std::move(sent.front());

	sent.pop_front();
	if (posted.transfer && posted.transfer->read) {
		const u8 *from = posted.fetched.data();

		for_each_piece(posted.transfer->range,
			       [&](u8 *data, u32 part) {
				       std::memcpy(data, from, part);
				       from += part;
			       });
	}
	complete(posted, Success);
}

void verbs_stream::complete(const Completion &completion)
{
	completions.push_back(completion);
}

/* A Write with a Send behind it is not signalled, unless it fails. */
void verbs_stream::complete(const Posted &posted, int status)
{
	if (posted.send) {
		if (status == Success && network().broken.lose_send_completion)
			return;
		complete({.send = posted.send, .status = status});
	} else if (!posted.transfer->chained || status != Success) {
		complete({.transfer = posted.transfer, .status = status});
	}
}

void verbs_stream::fail()
{
	failed = true;
	for (const Posted &posted : std::exchange(sent, {}))
		complete(posted, Flushed);
	for (const Posted &posted : std::exchange(send_queue, {}))
		complete(posted, Flushed);
	for (ReceiveRequest *receive : std::exchange(receives, {}))
		complete({.receive = receive, .status = Flushed});
}

void verbs_stream::run_completion()
{
	const Completion completion = completions.front();

	completions.pop_front();
	if (completion.receive) {
		heard |= completion.status == Success;
		verbs_receive_done(completion.receive->context,
				   completion.status, completion.length);
	} else if (completion.send) {
		verbs_send_done(completion.send->context, completion.status);
	} else {
		verbs_transfer_done(completion.transfer->context,
				    completion.status);
	}
}

u32 verbs_stream::outstanding() const
{
	u32 count = 0;

	for (const Posted &posted : send_queue)
		count += posted.work_requests();
	for (const Posted &posted : sent)
		count += posted.work_requests();
	return count;
}

bool verbs_stream::drained() const
{
	return receives.empty() && send_queue.empty() && sent.empty() &&
	       completions.empty() && !worker.busy();
}

/* Whether the device may still read or write it; it may repeat a Send. */
bool verbs_stream::uses(const void *data) const
{
	const auto names = [data](const auto *request) {
		return request &&
		       std::any_of(request->pieces,
				   request->pieces + request->count,
				   [data](const verbs_piece &piece) {
					   return piece.memory->data == data;
				   });
	};
	const auto sends = [&](const Posted &posted) {
		return names(posted.send);
	};

	return std::ranges::any_of(receives, names) ||
	       std::ranges::any_of(send_queue, sends) ||
	       std::ranges::any_of(sent, sends);
}

bool verbs_stream::post(Posted posted)
{
	if (draining)
		die("something is posted to a queue pair that is drained");
	if (outstanding() + posted.work_requests() > send_wrs) {
		link->offences.add("the send queue overran");
		return false;
	}
	if (failed)
		complete(posted, Flushed);
	else
		send_queue.push_back(std::move(posted));
	return true;
}

/* The connection manager ------------------------------------------------------- */

void verbs_stream::establish()
{
	raise([this] {
		established = true;
		verbs_stream_event(context, VERBS_ESTABLISHED);
	});
}

void verbs_stream::lose(enum verbs_stream_event event)
{
	raise([this, event] { verbs_stream_event(context, event); });
}

verbs_listener::verbs_listener(const port_address &where, void *whose)
	: address(where), context(whose),
	  cm("connection requests", [this] { return !requests.empty(); },
	     [this] { connect(); })
{
	network().listeners.push_back(this);
}

verbs_listener::~verbs_listener()
{
	std::erase(network().listeners, this);
	for (auto &link : requests)
		link->phase = Link::Phase::Refused;
	port_free(memory);
}

void verbs_listener::connect()
{
	const std::shared_ptr<Link> link = requests.front();
	void *id_memory = port_alloc(64, PORT_MAY_SLEEP);
	verbs_request request = {};

	requests.pop_front();
	if (!id_memory) {
		link->phase = Link::Phase::Refused;
		return;
	}
	auto *stream = new verbs_stream(link);

	stream->id_memory = id_memory;
	request.stream = stream;
	request.private_data = link->request_data.data();
	request.private_data_length =
		static_cast<u8>(link->request_data.size());
	request.initiator_depth = link->read_depth;
	request.peer = link->peer;
	request.local = link->local;
	if (verbs_connect_request(context, &request))
		return;
	link->phase = Link::Phase::Refused;
	delete stream;
}

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
	stream->accepted = true;
	link.reply_data.assign(private_data, private_data + length);
	if (link.initiator_gone)
		stream->lose(VERBS_CONNECT_FAILED);
	else
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
	if (!stream->drained())
		die("a queue pair goes that is not drained");
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
				return !stream->cm.busy();
			});
			delete stream;
		});
		return;
	}
	if (scheduler().runs(stream->cm))
		die("the CM waits for its own handler");
	scheduler().wait("a CM event", [stream] { return !stream->cm.busy(); });
	delete stream;
}

/* Memory ------------------------------------------------------------------------- */

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

/* Work requests --------------------------------------------------------------------- */

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
		    int with_invalidate, u32 invalidate)
{
	auto &self = send_request(send);

	self.count = count;
	std::copy_n(pieces, count, self.pieces);
	self.with_invalidate = with_invalidate;
	self.invalidate = invalidate;
}

int verbs_send_post(struct verbs_stream *stream, void *send)
{
	return stream->post({.send = &send_request(send)}) ? 0 : -ENOMEM;
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

	self.chained = chained;
	if (!stream->post({.transfer = &self}))
		return -ENOMEM;
	return chained ? verbs_send_post(stream, chained) : 0;
}

void verbs_transfer_finish(struct verbs_stream *stream, void *transfer)
{
	auto &self = transfer_request(transfer);

	if (!self.mapped)
		die("a transfer is finished that is not prepared");
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

/* Between the ends ------------------------------------------------------------------- */

namespace loopback {

Network *Network::instance_;

Network::Network() { instance_ = this; }
Network::~Network() { instance_ = nullptr; }

std::shared_ptr<Link> Network::request(const port_address &to,
				       const ByteVector &private_data,
				       u8 read_depth)
{
	for (verbs_listener *listener : listeners) {
		if (!port_address_same_host(&listener->address, &to) ||
		    port_address_port(&listener->address) !=
			    port_address_port(&to))
			continue;
		auto link = std::make_shared<Link>(offences);

		link->request_data = private_data;
		link->read_depth = read_depth;
		link->local = to;
		link->peer = host::address("10.0.0.9", 48000);
		listener->requests.push_back(link);
		return link;
	}
	return nullptr;
}

void Network::fail(Link &link, Failure failure)
{
	verbs_stream *stream = link.target;

	if (!stream || !stream->accepted)
		return;
	switch (failure) {
	case Failure::QueuePair:
		stream->fail();
		stream->lose(VERBS_QP_FATAL);
		break;
	case Failure::AddressChanged:
		stream->lose(VERBS_ADDRESS_CHANGED);
		break;
	case Failure::Removed:
		stream->raise([stream] {
			verbs_stream_device_removed(stream->context);
		});
		break;
	}
}

void Link::target_establish()
{
	target->establish();
}

void Link::end(const std::string &cause)
{
	if (phase == Phase::Ended)
		return;
	if (phase != Phase::Refused)
		phase = Phase::Ended;
	end_cause = cause;
}

void Link::leave()
{
	if (initiator_gone)
		return;
	initiator_gone = true;
	if (target && target->accepted && !cut)
		target->lose(phase == Phase::Accepted ? VERBS_CONNECT_FAILED :
							VERBS_DISCONNECTED);
	end("we left");
	to_target.clear();
}

} // namespace loopback
