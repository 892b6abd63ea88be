// SPDX-License-Identifier: GPL-2.0
/* Between the ends: who listens, who asks, who leaves. */
#include "loopback/link.h"

#include "host/host.h"
#include "loopback/queue_pair.h"

using loopback::Link;
using loopback::Network;

namespace {

Network &network() { return Network::instance(); }

} // namespace

verbs_listener::verbs_listener(const port_address &where, void *whose)
	: address(where), context(whose),
	  cm("the listener's events",
	     [this] { return !requests.empty() || !events.empty(); },
	     [this] { step(); })
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

void verbs_listener::step()
{
	if (events.empty()) {
		connect();
		return;
	}
	const enum verbs_listener_event event = events.front();

	events.pop_front();
	verbs_listener_event(context, event);
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
	stream->requested = true;
	if (verbs_connect_request(context, &request)) {
		stream->requested = false;
		return;
	}
	link->phase = Link::Phase::Refused;
	delete stream;
}

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

void Network::disturb_listeners(Failure failure)
{
	for (verbs_listener *listener : listeners)
		listener->events.push_back(
			failure == Failure::Removed ?
				VERBS_LISTENER_DEVICE_REMOVED :
				VERBS_LISTENER_ADDRESS_CHANGED);
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
