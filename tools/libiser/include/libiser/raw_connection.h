// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

struct ibv_comp_channel;
struct ibv_cq;
struct ibv_mr;
struct ibv_pd;
struct ibv_wc;
struct rdma_cm_event;
struct rdma_cm_id;
struct rdma_event_channel;

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

/*
 * Memory that the peer may access by the STag, as long as this object lives.
 * The memory itself belongs to the caller and outlives the object.
 */
class RegisteredMemory {
public:
	std::uint32_t stag() const;
	/* Tagged offset of the first byte: its address. */
	std::uint64_t base() const;

private:
	friend class RawConnection;
	struct Deregister {
		void operator()(ibv_mr *region) const;
	};
	explicit RegisteredMemory(ibv_mr *region) : region_(region) {}

	std::unique_ptr<ibv_mr, Deregister> region_;
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
	explicit RawConnection(ConnectOptions options);
	/*
	 * Without disconnect(): the kernel tells the peer what fits the state,
	 * as when the process is killed.
	 */
	~RawConnection();
	RawConnection(const RawConnection &) = delete;
	RawConnection &operator=(const RawConnection &) = delete;

	void connect();

	void resolve();
	/* Posts all receive buffers, too. */
	void create_queue_pair();
	/* Sends the connection request; returns at once. */
	void request();
	/* Until the reply is here, which is left unread: no RTU leaves. */
	bool await_reply(Milliseconds timeout);
	/* Reads the reply and completes the connection. */
	void establish();

	/* Of the peer's reply; padded with zeros by the connection manager. */
	const ByteVector &peer_private_data() const { return peer_private_data_; }
	/* RDMA Reads in flight that the peer asked for in its reply. */
	unsigned peer_initiator_depth() const { return peer_initiator_depth_; }

	/*
	 * Sends @message, of any content and length up to send_size; 0 is
	 * legal.  Returns when it is posted.  @stag is for the two invalidating
	 * opcodes.  Throws ConnectionLost.
	 */
	void send(ByteView message, SendOpcode opcode = SendOpcode::Send,
		  std::uint32_t stag = 0);
	/* Until all that was sent is acknowledged by the peer's adapter. */
	bool drain_sends(Milliseconds timeout);

	/*
	 * The next message, in order.  Nothing after @timeout.  Throws
	 * ConnectionLost when the connection has ended and all that came
	 * before was handed out.
	 */
	std::optional<Received> receive(Milliseconds timeout);

	enum class Access { RemoteRead, RemoteWrite };
	RegisteredMemory register_memory(std::span<std::uint8_t> memory,
					 Access access);

	/* Disconnects in order; does not wait for the peer. */
	void disconnect();
	/*
	 * Whether the connection ended within @timeout.  Messages that arrive
	 * meanwhile are kept for receive().
	 */
	bool wait_closed(Milliseconds timeout);
	/* Takes in what has happened, without waiting. */
	bool closed();
	/* Why the connection ended, in words; empty while it is up. */
	const std::string &end_cause() const { return end_cause_; }

private:
	using Clock = std::chrono::steady_clock;

	bool wait_event(Milliseconds timeout);
	void expect_event(int wanted, const char *step);
	void note_established(const rdma_cm_event &event);
	void post_receive(std::uint32_t slot);
	std::uint32_t free_send_slot();
	bool pump(Clock::time_point deadline);
	bool take_completions();
	void take_completion(const ibv_wc &completion);
	bool take_events();
	bool wait_readable(Milliseconds timeout);
	void ended(const std::string &cause);

	ConnectOptions options_;
	rdma_event_channel *events_ = nullptr;
	rdma_cm_id *id_ = nullptr;
	ibv_comp_channel *completions_ = nullptr;
	ibv_cq *queue_ = nullptr;
	ByteVector receive_memory_;
	ByteVector send_memory_;
	ibv_mr *receive_region_ = nullptr;
	ibv_mr *send_region_ = nullptr;
	std::vector<std::uint32_t> free_sends_;
	std::deque<Received> received_;
	ByteVector peer_private_data_;
	unsigned peer_initiator_depth_ = 0;
	bool established_ = false;
	bool ended_ = false;
	std::string end_cause_;
};

} // namespace libiser
