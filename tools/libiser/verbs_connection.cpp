// SPDX-License-Identifier: GPL-2.0
#include "libiser/verbs_connection.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <rdma/rdma_cma.h>

#include "libiser/error.h"

namespace libiser {

namespace {

constexpr std::uint64_t send_flag = 1ull << 63;

[[noreturn]] void fail(const std::string &what, const std::string &remedy = {})
{
	throw ConnectError(what + ": " + std::strerror(errno), remedy);
}

/* The kernel finds no device, or no way to a neighbour. */
[[noreturn]] void fail_to_reach(const std::string &address, int error)
{
	if (error == ENODEV)
		throw ConnectError("no RDMA device reaches " + address,
				   "See `rdma link`.");
	throw ConnectError("there is no way to " + address + ": " +
			   std::strerror(error),
			   "See `ip route get " + address + "`.");
}

void make_nonblocking(int fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

class MemoryRegion final : public Registration {
public:
	explicit MemoryRegion(ibv_mr *region) : region_(region) {}
	~MemoryRegion() override { ibv_dereg_mr(region_); }
	MemoryRegion(const MemoryRegion &) = delete;
	MemoryRegion &operator=(const MemoryRegion &) = delete;

private:
	ibv_mr *region_;
};

} // namespace

VerbsConnection::VerbsConnection(ConnectOptions options)
	: options_(std::move(options))
{
	events_ = rdma_create_event_channel();
	if (!events_)
		fail("the RDMA connection manager cannot be reached",
		     "Load the module rdma_ucm.");
	make_nonblocking(events_->fd);
	if (rdma_create_id(events_, &id_, this, RDMA_PS_TCP)) {
		rdma_destroy_event_channel(events_);
		fail("no connection identifier");
	}
}

VerbsConnection::~VerbsConnection()
{
	if (id_->qp)
		rdma_destroy_qp(id_);
	if (queue_)
		ibv_destroy_cq(queue_);
	if (completions_)
		ibv_destroy_comp_channel(completions_);
	if (receive_region_)
		ibv_dereg_mr(receive_region_);
	if (send_region_)
		ibv_dereg_mr(send_region_);
	rdma_destroy_id(id_);
	rdma_destroy_event_channel(events_);
}

bool VerbsConnection::wait_event(Milliseconds timeout)
{
	pollfd fd = {events_->fd, POLLIN, 0};

	return poll(&fd, 1, static_cast<int>(timeout.count())) > 0;
}

void VerbsConnection::expect_event(int wanted, const char *step)
{
	rdma_cm_event *event = nullptr;

	if (!wait_event(options_.timeout))
		throw ConnectError(std::string(step) + " of " +
				   options_.address + ": no answer",
				   "Check that the target is up.");
	if (rdma_get_cm_event(events_, &event))
		fail(std::string(step) + " of " + options_.address);

	int got = event->event;
	int status = event->status;

	if (got == wanted && got == RDMA_CM_EVENT_ESTABLISHED)
		note_established(*event);
	rdma_ack_cm_event(event);
	if (got == wanted)
		return;
	if (got == RDMA_CM_EVENT_ADDR_ERROR ||
	    got == RDMA_CM_EVENT_ROUTE_ERROR)
		fail_to_reach(options_.address, -status);
	if (got == RDMA_CM_EVENT_REJECTED)
		throw ConnectError(options_.address + ":" +
				   std::to_string(options_.port) +
				   " refuses the connection (reason " +
				   std::to_string(status) + ")",
				   "Check that an iSER portal listens there.");
	throw ConnectError(std::string(step) + " of " + options_.address +
			   " failed: " +
			   rdma_event_str(static_cast<rdma_cm_event_type>(got)) +
			   " (" + std::to_string(status) + ")",
			   "Check that an RDMA device serves this address.");
}

void VerbsConnection::resolve()
{
	addrinfo hints = {};
	addrinfo *found = nullptr;

	hints.ai_socktype = SOCK_STREAM;
	int result = getaddrinfo(options_.address.c_str(),
				 std::to_string(options_.port).c_str(), &hints,
				 &found);
	if (result)
		throw ConnectError(options_.address + ": " +
				   gai_strerror(result),
				   "Check the address.");

	int timeout = static_cast<int>(options_.timeout.count());

	result = rdma_resolve_addr(id_, nullptr, found->ai_addr, timeout);
	freeaddrinfo(found);
	if (result)
		fail_to_reach(options_.address, errno);
	expect_event(RDMA_CM_EVENT_ADDR_RESOLVED, "address resolution");
	if (rdma_resolve_route(id_, timeout))
		fail("route to " + options_.address);
	expect_event(RDMA_CM_EVENT_ROUTE_RESOLVED, "route resolution");
}

void VerbsConnection::create_queue_pair()
{
	std::uint32_t receives = options_.receive_count;
	std::uint32_t sends = options_.send_count;

	completions_ = ibv_create_comp_channel(id_->verbs);
	if (!completions_)
		fail("no completion channel");
	make_nonblocking(completions_->fd);
	queue_ = ibv_create_cq(id_->verbs, static_cast<int>(receives + sends),
			       nullptr, completions_, 0);
	if (!queue_)
		fail("no completion queue");

	ibv_qp_init_attr attributes = {};

	attributes.send_cq = queue_;
	attributes.recv_cq = queue_;
	attributes.cap.max_send_wr = sends;
	attributes.cap.max_recv_wr = receives;
	attributes.cap.max_send_sge = 1;
	attributes.cap.max_recv_sge = 1;
	attributes.qp_type = IBV_QPT_RC;
	attributes.sq_sig_all = 1;
	if (rdma_create_qp(id_, nullptr, &attributes))
		fail("no queue pair");

	receive_memory_.resize(std::size_t{receives} * options_.receive_size);
	send_memory_.resize(std::size_t{sends} * options_.send_size);
	receive_region_ = ibv_reg_mr(id_->pd, receive_memory_.data(),
				     receive_memory_.size(),
				     IBV_ACCESS_LOCAL_WRITE);
	send_region_ = ibv_reg_mr(id_->pd, send_memory_.data(),
				  send_memory_.size(), 0);
	if (!receive_region_ || !send_region_)
		fail("memory cannot be registered",
		     "Raise the limit on locked memory (ulimit -l).");
	for (std::uint32_t slot = 0; slot < sends; ++slot)
		free_sends_.push_back(slot);
	for (std::uint32_t slot = 0; slot < receives; ++slot)
		post_receive(slot);
}

void VerbsConnection::request()
{
	rdma_conn_param parameters = {};
	ibv_device_attr device = {};
	int most = options_.responder_resources;

	if (!ibv_query_device(id_->verbs, &device))
		most = std::min(most, device.max_qp_rd_atom);
	parameters.private_data = options_.private_data.data();
	parameters.private_data_len =
		static_cast<std::uint8_t>(options_.private_data.size());
	parameters.responder_resources = static_cast<std::uint8_t>(most);
	parameters.initiator_depth = options_.initiator_depth;
	parameters.retry_count = options_.retry_count;
	parameters.rnr_retry_count = options_.rnr_retry_count;
	if (rdma_connect(id_, &parameters))
		fail("connection request to " + options_.address);
}

bool VerbsConnection::await_reply(Milliseconds timeout)
{
	return wait_event(timeout);
}

void VerbsConnection::establish()
{
	expect_event(RDMA_CM_EVENT_ESTABLISHED, "connection");
	established_ = true;
}

void VerbsConnection::note_established(const rdma_cm_event &event)
{
	auto data = static_cast<const std::uint8_t *>(
		event.param.conn.private_data);

	peer_private_data_.assign(data,
				  data + event.param.conn.private_data_len);
	/*
	 * In an event each is what the other end's request calls otherwise;
	 * but siw tells what the other end says of itself.
	 */
	peer_initiator_depth_ =
		id_->verbs->device->transport_type == IBV_TRANSPORT_IWARP ?
			event.param.conn.initiator_depth :
			event.param.conn.responder_resources;
}

void VerbsConnection::post_receive(std::uint32_t slot)
{
	ibv_sge piece = {};
	ibv_recv_wr request = {};
	ibv_recv_wr *bad = nullptr;

	piece.addr = reinterpret_cast<std::uint64_t>(
		&receive_memory_[std::size_t{slot} * options_.receive_size]);
	piece.length = options_.receive_size;
	piece.lkey = receive_region_->lkey;
	request.wr_id = slot;
	request.sg_list = &piece;
	request.num_sge = 1;
	/* On a queue pair in the error state this fails, and it is no matter. */
	ibv_post_recv(id_->qp, &request, &bad);
}

std::uint32_t VerbsConnection::free_send_slot()
{
	auto deadline = Clock::now() + options_.timeout;

	while (free_sends_.empty() && !ended_)
		if (!pump(deadline))
			throw TimedOut("the peer takes no more messages");
	if (ended_)
		throw ConnectionLost("the connection ended: " + end_cause_);

	std::uint32_t slot = free_sends_.back();

	free_sends_.pop_back();
	return slot;
}

void VerbsConnection::send(ByteView message, SendOpcode opcode,
			 std::uint32_t stag)
{
	if (message.size() > options_.send_size)
		throw Error("the message is longer than send_size");

	std::uint32_t slot = free_send_slot();
	std::uint8_t *memory =
		&send_memory_[std::size_t{slot} * options_.send_size];
	ibv_sge piece = {};
	ibv_send_wr request = {};
	ibv_send_wr *bad = nullptr;
	bool invalidate = opcode == SendOpcode::SendInvalidate ||
			  opcode == SendOpcode::SendSolicitedInvalidate;
	bool solicited = opcode == SendOpcode::SendSolicited ||
			 opcode == SendOpcode::SendSolicitedInvalidate;

	std::copy(message.begin(), message.end(), memory);
	piece.addr = reinterpret_cast<std::uint64_t>(memory);
	piece.length = static_cast<std::uint32_t>(message.size());
	piece.lkey = send_region_->lkey;
	request.wr_id = send_flag | slot;
	request.sg_list = &piece;
	request.num_sge = message.empty() ? 0 : 1;
	request.opcode = invalidate ? IBV_WR_SEND_WITH_INV : IBV_WR_SEND;
	request.send_flags = solicited ? IBV_SEND_SOLICITED : 0;
	if (invalidate)
		request.invalidate_rkey = stag;
	errno = ibv_post_send(id_->qp, &request, &bad);
	if (errno)
		throw ConnectionLost(std::string("cannot send: ") +
				     std::strerror(errno));
}

bool VerbsConnection::drain_sends(Milliseconds timeout)
{
	auto deadline = Clock::now() + timeout;

	while (free_sends_.size() < options_.send_count && !ended_)
		if (!pump(deadline))
			return false;
	return !ended_;
}

std::optional<Received> VerbsConnection::receive(Milliseconds timeout)
{
	auto deadline = Clock::now() + timeout;

	while (received_.empty()) {
		if (ended_)
			throw ConnectionLost("the connection ended: " +
					     end_cause_);
		if (!pump(deadline))
			return std::nullopt;
	}

	Received message = std::move(received_.front());

	received_.pop_front();
	return message;
}

RegisteredMemory VerbsConnection::register_memory(std::span<std::uint8_t> memory,
						Access access)
{
	int flags = access == Access::RemoteRead ?
		IBV_ACCESS_REMOTE_READ :
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	ibv_mr *region = ibv_reg_mr(id_->pd, memory.data(), memory.size(),
				    flags);

	if (!region)
		throw Error(std::string("memory cannot be registered: ") +
			    std::strerror(errno),
			    "Raise the limit on locked memory (ulimit -l).");
	return RegisteredMemory(region->rkey,
				reinterpret_cast<std::uint64_t>(region->addr),
				std::make_unique<MemoryRegion>(region));
}

void VerbsConnection::disconnect()
{
	if (established_)
		rdma_disconnect(id_);
}

bool VerbsConnection::wait_closed(Milliseconds timeout)
{
	auto deadline = Clock::now() + timeout;

	while (!ended_)
		if (!pump(deadline))
			return false;
	return true;
}

bool VerbsConnection::closed()
{
	while (pump(Clock::now()))
		;
	return ended_;
}

/* Something happened before the deadline. */
bool VerbsConnection::pump(Clock::time_point deadline)
{
	for (;;) {
		if (take_completions() || take_events())
			return true;
		/* What completes from here on makes the channel readable. */
		ibv_req_notify_cq(queue_, 0);
		if (take_completions())
			return true;

		auto left = std::chrono::ceil<Milliseconds>(deadline -
							    Clock::now());

		if (left.count() <= 0 || !wait_readable(left))
			return take_completions() || take_events();
	}
}

bool VerbsConnection::wait_readable(Milliseconds timeout)
{
	pollfd fds[2] = {{completions_->fd, POLLIN, 0},
			 {events_->fd, POLLIN, 0}};
	ibv_cq *queue = nullptr;
	void *context = nullptr;
	int ready = poll(fds, 2, static_cast<int>(timeout.count()));

	if (ready > 0 && fds[0].revents &&
	    !ibv_get_cq_event(completions_, &queue, &context))
		ibv_ack_cq_events(queue, 1);
	return ready > 0;
}

bool VerbsConnection::take_completions()
{
	ibv_wc completion;
	bool any = false;

	while (ibv_poll_cq(queue_, 1, &completion) > 0) {
		take_completion(completion);
		any = true;
	}
	return any;
}

void VerbsConnection::take_completion(const ibv_wc &completion)
{
	auto slot = static_cast<std::uint32_t>(completion.wr_id);
	bool sent = completion.wr_id & send_flag;

	if (sent)
		free_sends_.push_back(slot);
	if (completion.status != IBV_WC_SUCCESS) {
		ended(std::string(sent ? "send: " : "receive: ") +
		      ibv_wc_status_str(completion.status));
		return;
	}
	if (sent)
		return;

	const std::uint8_t *memory =
		&receive_memory_[std::size_t{slot} * options_.receive_size];
	Received message;

	message.bytes.assign(memory, memory + completion.byte_len);
	if (completion.wc_flags & IBV_WC_WITH_INV)
		message.invalidated = completion.invalidated_rkey;
	received_.push_back(std::move(message));
	post_receive(slot);
}

bool VerbsConnection::take_events()
{
	rdma_cm_event *event = nullptr;
	bool any = false;

	while (!rdma_get_cm_event(events_, &event)) {
		rdma_cm_event_type type = event->event;

		rdma_ack_cm_event(event);
		any = true;
		if (type == RDMA_CM_EVENT_DISCONNECTED)
			ended("the peer disconnected");
		else if (type == RDMA_CM_EVENT_DEVICE_REMOVAL)
			ended("the RDMA device was removed");
	}
	return any;
}

/*
 * Disconnecting brings the queue pair into the error state, so that messages
 * which are already here are still taken in, and nothing more comes.
 */
void VerbsConnection::ended(const std::string &cause)
{
	if (ended_)
		return;
	ended_ = true;
	end_cause_ = cause;
	take_completions();
	rdma_disconnect(id_);
}

} // namespace libiser
