// SPDX-License-Identifier: GPL-2.0
/* What the device does: messages arrive, work requests are carried out. */
#include "loopback/queue_pair.h"

#include <algorithm>
#include <cstring>

#include "host/host.h"

using host::die;
using loopback::ByteVector;
using loopback::Completion;
using loopback::Link;
using loopback::Memory;
using loopback::Network;
using loopback::Posted;
using loopback::ReceiveRequest;
using loopback::Scheduler;
using loopback::SendRequest;
using loopback::TransferRequest;
using loopback::for_each_piece;
using namespace loopback::completion;

namespace {

/* Behind a drain. */
constexpr u64 late_ms = 2;

Network &network() { return Network::instance(); }

} // namespace

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
		auto *memory = static_cast<u8 *>(piece.memory->data);

		std::memcpy(memory + piece.offset, message.data() + offset,
			    part);
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
	if (!posted.transfer)
		return Success;
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
		link->offences.add("an RDMA Read from where the target may "
				   "not");
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
		network().send_completions += status == Success &&
					      posted.send->signalled;
		if (status == Success &&
		    (!posted.send->signalled ||
		     network().broken.lose_send_completion))
			return;
		complete({.send = posted.send, .status = status});
	} else if (!posted.transfer) {
		++network().markers;
		complete({.status = status});
	} else if (SendRequest *carrier = posted.transfer->carrier) {
		if (status != Success)
			complete({.carrier = carrier, .status = status});
	} else {
		complete({.transfer = posted.transfer, .status = status});
	}
}

void verbs_stream::fail()
{
	const size_t before = completions.size();

	failed = true;
	for (const Posted &posted : std::exchange(sent, {}))
		complete(posted, Flushed);
	for (const Posted &posted : std::exchange(send_queue, {}))
		complete(posted, Flushed);
	if (network().device.flushes_late && completions.size() > before) {
		late.assign(completions.begin() +
				    static_cast<std::ptrdiff_t>(before),
			    completions.end());
		completions.resize(before);
		Scheduler::instance().post([this] {
			for (const Completion &completion :
			     std::exchange(late, {}))
				complete(completion);
		}, late_ms);
	}
	for (ReceiveRequest *receive : std::exchange(receives, {}))
		complete({.receive = receive, .status = Flushed});
}

bool verbs_stream::owes_completions() const
{
	const auto owed = [](const Completion &completion) {
		return !completion.receive && !completion.carrier &&
		       (!completion.send || completion.send->signalled);
	};

	return std::ranges::any_of(late, owed) ||
	       std::ranges::any_of(completions, owed);
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
	} else if (completion.transfer) {
		verbs_transfer_done(completion.transfer->context,
				    completion.status);
	} else if (completion.carrier) {
		verbs_send_data_failed(completion.carrier->context,
				       completion.status);
	} else {
		verbs_marker_done(context, completion.status);
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

/* Whether the device may still read or write its data; it may repeat it. */
bool verbs_stream::has(const TransferRequest &transfer) const
{
	const auto is = [&](const Posted &posted) {
		return posted.transfer == &transfer;
	};

	return std::ranges::any_of(send_queue, is) ||
	       std::ranges::any_of(sent, is);
}

bool verbs_stream::post(Posted posted)
{
	if (draining)
		die("something is posted to a queue pair that is drained");
	if (outstanding() + posted.work_requests() > send_wrs) {
		link->offences.add("the send queue overran");
		return false;
	}
	if (failed && network().device.refuses_posts)
		return false;
	if (failed)
		complete(posted, Flushed);
	else
		send_queue.push_back(std::move(posted));
	return true;
}

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
