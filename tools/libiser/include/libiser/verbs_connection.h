// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <deque>

#include "libiser/raw_connection.h"

struct ibv_comp_channel;
struct ibv_cq;
struct ibv_mr;
struct ibv_wc;
struct rdma_cm_event;
struct rdma_cm_id;
struct rdma_event_channel;

namespace libiser {

/* Over the RDMA devices of this machine: librdmacm and libibverbs. */
class VerbsConnection final : public RawConnection {
public:
	explicit VerbsConnection(ConnectOptions options);
	~VerbsConnection() override;

	void resolve() override;
	void create_queue_pair() override;
	void request() override;
	bool await_reply(Milliseconds timeout) override;
	void establish() override;
	const ByteVector &peer_private_data() const override
	{
		return peer_private_data_;
	}
	unsigned peer_initiator_depth() const override
	{
		return peer_initiator_depth_;
	}
	void send(ByteView message, SendOpcode opcode,
		  std::uint32_t stag) override;
	bool drain_sends(Milliseconds timeout) override;
	std::optional<Received> receive(Milliseconds timeout) override;
	/* The tagged offset is the memory's address. */
	RegisteredMemory register_memory(std::span<std::uint8_t> memory,
					 Access access) override;
	void disconnect() override;
	bool wait_closed(Milliseconds timeout) override;
	bool closed() override;
	const std::string &end_cause() const override { return end_cause_; }

private:
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
