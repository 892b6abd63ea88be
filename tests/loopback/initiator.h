// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "loopback/link.h"

namespace loopback {

/*
 * libiser's end of a Link.  Where the real one waits for its device, this one
 * gives the processor away, and its clock is the scheduler's.
 */
class Connection final : public libiser::RawConnection {
public:
	explicit Connection(libiser::ConnectOptions options)
		: options_(std::move(options))
	{
	}
	~Connection() override;

	void resolve() override {}
	void create_queue_pair() override {}
	void request() override;
	bool await_reply(libiser::Milliseconds timeout) override;
	void establish() override;
	const ByteVector &peer_private_data() const override
	{
		return link_->reply_data;
	}
	unsigned peer_initiator_depth() const override
	{
		return link_->read_depth;
	}
	void send(libiser::ByteView message, libiser::SendOpcode opcode,
		  std::uint32_t stag) override;
	bool drain_sends(libiser::Milliseconds timeout) override;
	std::optional<Received> receive(libiser::Milliseconds timeout) override;
	libiser::RegisteredMemory register_memory(
		std::span<std::uint8_t> memory, Access access) override;
	void disconnect() override;
	bool wait_closed(libiser::Milliseconds timeout) override;
	bool closed() override;
	const std::string &end_cause() const override;
	Clock::time_point now() const override;

	/* Null before request(). */
	const std::shared_ptr<Link> &link() const { return link_; }

private:
	bool ended() const;
	bool wait(const char *why, std::function<bool()> until,
		  libiser::Milliseconds timeout);

	libiser::ConnectOptions options_;
	std::shared_ptr<Link> link_;
};

} // namespace loopback
