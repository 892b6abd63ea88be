// SPDX-License-Identifier: GPL-2.0
#include "loopback/initiator.h"

#include "host/host.h"
#include "libiser/error.h"

namespace loopback {

using libiser::ConnectError;
using libiser::ConnectionLost;
using libiser::Milliseconds;

namespace {

Scheduler &scheduler() { return Scheduler::instance(); }

class Registered final : public libiser::Registration {
public:
	Registered(std::shared_ptr<Link> link, u32 stag)
		: link_(std::move(link)), stag_(stag)
	{
	}
	~Registered() override { link_->memory.remove(stag_); }

private:
	std::shared_ptr<Link> link_;
	u32 stag_;
};

} // namespace

Connection::~Connection()
{
	if (link_)
		link_->leave();
}

bool Connection::ended() const
{
	return link_->phase == Link::Phase::Ended;
}

bool Connection::wait(const char *why, std::function<bool()> until,
		      Milliseconds timeout)
{
	return scheduler().wait(why, std::move(until),
				scheduler().now() +
					static_cast<u64>(timeout.count()));
}

void Connection::request()
{
	link_ = Network::instance().request(
		host::address(options_.address.c_str(), options_.port),
		options_.private_data, options_.responder_resources);
	if (!link_)
		throw ConnectError("nobody listens there");
	link_->longest = options_.receive_size;
}

bool Connection::await_reply(Milliseconds timeout)
{
	return wait("the target's reply",
		    [this] { return link_->phase != Link::Phase::Requested; },
		    timeout);
}

void Connection::establish()
{
	if (!await_reply(options_.timeout))
		throw ConnectError("no reply");
	if (link_->phase == Link::Phase::Refused)
		throw ConnectError("refused: " +
				   std::string(link_->reply_data.begin(),
					       link_->reply_data.end()));
	if (ended())
		throw ConnectError(link_->end_cause);
	link_->phase = Link::Phase::Up;
	if (link_->target)
		link_->target_establish();
}

void Connection::send(libiser::ByteView message, libiser::SendOpcode,
		      std::uint32_t)
{
	scheduler().maybe_hold_up();
	wait("room to send", [this] {
		return ended() ||
		       link_->to_target.size() < options_.send_count;
	}, options_.timeout);
	if (ended())
		throw ConnectionLost("the connection ended: " +
				     link_->end_cause);
	link_->to_target.emplace_back(message.begin(), message.end());
}

bool Connection::drain_sends(Milliseconds timeout)
{
	wait("messages to arrive",
	     [this] { return ended() || link_->to_target.empty(); }, timeout);
	return !ended() && link_->to_target.empty();
}

std::optional<Received> Connection::receive(Milliseconds timeout)
{
	wait("a message",
	     [this] { return ended() || !link_->to_initiator.empty(); },
	     timeout);
	if (!link_->to_initiator.empty()) {
		Received message = std::move(link_->to_initiator.front());

		link_->to_initiator.pop_front();
		return message;
	}
	if (ended())
		throw ConnectionLost("the connection ended: " +
				     link_->end_cause);
	return std::nullopt;
}

libiser::RegisteredMemory Connection::register_memory(
	std::span<std::uint8_t> memory, Access access)
{
	const u32 stag = link_->memory.add(memory, access);

	return {stag, link_->memory.region(stag).base,
		std::make_unique<Registered>(link_, stag)};
}

void Connection::disconnect()
{
	link_->leave();
}

bool Connection::wait_closed(Milliseconds timeout)
{
	return wait("the end of the connection", [this] { return ended(); },
		    timeout);
}

bool Connection::closed()
{
	scheduler().maybe_hold_up();
	return ended();
}

const std::string &Connection::end_cause() const
{
	static const std::string none;

	return link_ && ended() ? link_->end_cause : none;
}

Connection::Clock::time_point Connection::now() const
{
	return Clock::time_point(Milliseconds(scheduler().now()));
}

} // namespace loopback
