// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace libiser {

using Milliseconds = std::chrono::milliseconds;
using ByteVector = std::vector<std::uint8_t>;
using ByteView = std::span<const std::uint8_t>;

/* How a connection is to be made.  The defaults are those of Linux. */
struct ConnectOptions {
	std::string address; /* name or number, IPv4 or IPv6 */
	std::uint16_t port = 3260;
	/*
	 * Private data of the connection request.  The default says: no
	 * zero-based offsets, no Send with Invalidate (IBTA Annex A12).
	 */
	ByteVector private_data = {0xc0, 0, 0, 0};
	/* RDMA Reads that the peer may have in flight; bounded by the device. */
	std::uint8_t responder_resources = 16;
	std::uint8_t initiator_depth = 1;
	std::uint8_t retry_count = 4;
	/* 7 is for ever: a peer without a receive buffer is waited for. */
	std::uint8_t rnr_retry_count = 7;
	/* Of each step: address, route, connection. */
	Milliseconds timeout{5000};
	/* Memory is pinned when the connection is made, and that takes time. */
	std::uint32_t receive_count = 32;
	/* iSER header, BHS and the largest data segment that is expected. */
	std::uint32_t receive_size = 28 + 48 + 8192;
	std::uint32_t send_count = 32;
	std::uint32_t send_size = 28 + 48 + 1020 + 8192;
};

enum class SendOpcode {
	Send,
	SendSolicited,           /* Send with Solicited Event */
	SendInvalidate,          /* Send with Invalidate */
	SendSolicitedInvalidate, /* both */
};

/* One message as the peer sent it. */
struct Received {
	ByteVector bytes;
	/* The STag that the message invalidated, if it did. */
	std::optional<std::uint32_t> invalidated;
};

/* Ends the peer's access when it is destroyed. */
class Registration {
public:
	virtual ~Registration() = default;
};

/*
 * Memory that the peer may access by the STag, as long as this object lives.
 * The memory itself belongs to the caller and outlives the object.
 */
class RegisteredMemory {
public:
	RegisteredMemory(std::uint32_t stag, std::uint64_t base,
			 std::unique_ptr<Registration> registration)
		: stag_(stag), base_(base),
		  registration_(std::move(registration))
	{
	}
	std::uint32_t stag() const { return stag_; }
	/* Tagged offset of the first byte. */
	std::uint64_t base() const { return base_; }

private:
	std::uint32_t stag_;
	std::uint64_t base_;
	std::unique_ptr<Registration> registration_;
};

/*
 * A reliable RDMA connection with full control over what is sent and when.
 * Nothing here knows iSER or iSCSI.  Not safe for concurrent use.
 *
 * connect() does all steps.  To stop in the middle, call them one by one:
 * resolve(), create_queue_pair(), request(), await_reply(), establish(); and
 * destroy the object at any point.
 */
class RawConnection {
public:
	using Clock = std::chrono::steady_clock;
	enum class Access { RemoteRead, RemoteWrite };

	RawConnection() = default;
	/*
	 * Without disconnect(): the peer is told what fits the state, as when
	 * the process is killed.
	 */
	virtual ~RawConnection() = default;
	RawConnection(const RawConnection &) = delete;
	RawConnection &operator=(const RawConnection &) = delete;

	void connect();

	virtual void resolve() = 0;
	/* Posts all receive buffers, too. */
	virtual void create_queue_pair() = 0;
	/* Sends the connection request; returns at once. */
	virtual void request() = 0;
	/* Until the reply is here, which is left unread: no RTU leaves. */
	virtual bool await_reply(Milliseconds timeout) = 0;
	/* Reads the reply and completes the connection. */
	virtual void establish() = 0;

	/* Of the peer's reply; padded with zeros by the connection manager. */
	virtual const ByteVector &peer_private_data() const = 0;
	/* RDMA Reads in flight that the peer asked for in its reply. */
	virtual unsigned peer_initiator_depth() const = 0;

	/*
	 * Sends @message, of any content and length up to send_size; 0 is
	 * legal.  Returns when it is posted.  @stag is for the two invalidating
	 * opcodes.  Throws ConnectionLost.
	 */
	virtual void send(ByteView message,
			  SendOpcode opcode = SendOpcode::Send,
			  std::uint32_t stag = 0) = 0;
	/* Until all that was sent is acknowledged by the peer's adapter. */
	virtual bool drain_sends(Milliseconds timeout) = 0;

	/*
	 * The next message, in order.  Nothing after @timeout.  Throws
	 * ConnectionLost when the connection has ended and all that came
	 * before was handed out.
	 */
	virtual std::optional<Received> receive(Milliseconds timeout) = 0;

	virtual RegisteredMemory register_memory(
		std::span<std::uint8_t> memory, Access access) = 0;

	/* Disconnects in order; does not wait for the peer. */
	virtual void disconnect() = 0;
	/*
	 * Whether the connection ended within @timeout.  Messages that arrive
	 * meanwhile are kept for receive().
	 */
	virtual bool wait_closed(Milliseconds timeout) = 0;
	/* Takes in what has happened, without waiting. */
	virtual bool closed() = 0;
	/* Why the connection ended, in words; empty while it is up. */
	virtual const std::string &end_cause() const = 0;

	/* The clock that the time limits above go by. */
	virtual Clock::time_point now() const { return Clock::now(); }
};

} // namespace libiser
