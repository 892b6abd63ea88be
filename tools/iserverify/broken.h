// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <deque>
#include <functional>
#include <map>

#include "lab.h"

/*
 * A target that is broken on purpose, to see the checks fail.  The true target
 * stays as it is: what stands between it and a check is what is wrong.
 */
namespace iserverify {

class BrokenConnection;

/* One message on its way, to the target or to the check. */
struct Message {
	ByteVector bytes;
	SendOpcode opcode = SendOpcode::Send; /* to the target */
	std::uint32_t stag = 0;
	std::optional<std::uint32_t> invalidated = {}; /* to the check */
};

/* May change @message; false: it does not arrive. */
using Handler =
	std::function<bool(BrokenConnection &connection, Message &message)>;

/*
 * One way to interfere with connections.  Functions that are empty leave alone
 * what they are for.
 */
struct Breakage {
	Handler to_target = {};
	Handler to_check = {};
	/* The data of a read is in @memory, and its SCSI Response is here. */
	std::function<void(std::span<std::uint8_t> memory)> placed = {};
	/* @data, in place of what the check advertised, can be read. */
	std::function<void(ByteVector &data)> advertised = {};
	/* Of the reply to the connection request. */
	std::function<void(ByteVector &data)> private_data = {};
	/* Asked once a connection; false: the target refuses it. */
	std::function<bool(const ConnectOptions &options)> accepts = {};
	/* RDMA Reads at a time that the reply asks for. */
	std::optional<unsigned> initiator_depth = {};
	bool never_hangs_up = false;
};
using Breakages = std::vector<Breakage>;

/* Makes connections with the same faults, of which some count or remember. */
class BrokenTarget {
public:
	BrokenTarget(Lab &lab, Connector connector, Breakages breakages)
		: lab_(lab), connector_(std::move(connector)),
		  breakages_(std::move(breakages))
	{
	}
	std::unique_ptr<RawConnection> connect(const ConnectOptions &options);

	Lab &lab() const { return lab_; }
	const Breakages &breakages() const { return breakages_; }

private:
	Lab &lab_;
	Connector connector_;
	Breakages breakages_;
};

/* What the target may write, as long as it is registered. */
using MemoryByStag = std::map<std::uint32_t, std::span<std::uint8_t>>;

/*
 * Time that nothing can happen in any more is not waited for: the connection's
 * clock is put forward instead.
 */
class BrokenConnection final : public RawConnection {
public:
	BrokenConnection(BrokenTarget &target, const ConnectOptions &options,
			 std::unique_ptr<RawConnection> connection);

	void resolve() override { inner_->resolve(); }
	void create_queue_pair() override { inner_->create_queue_pair(); }
	void request() override;
	bool await_reply(Milliseconds timeout) override;
	void establish() override;
	const ByteVector &peer_private_data() const override
	{
		return private_data_;
	}
	unsigned peer_initiator_depth() const override;
	void send(ByteView message, SendOpcode opcode,
		  std::uint32_t stag) override;
	bool drain_sends(Milliseconds timeout) override;
	std::optional<Received> receive(Milliseconds timeout) override;
	RegisteredMemory register_memory(std::span<std::uint8_t> memory,
					 Access access) override;
	void disconnect() override { inner_->disconnect(); }
	bool wait_closed(Milliseconds timeout) override;
	bool closed() override;
	const std::string &end_cause() const override;
	Clock::time_point now() const override;

	/* What a breakage may do besides. */

	/* The target seems to send @message, behind the one at hand. */
	void deliver(Message message);
	/* The target seems to end the connection. */
	void hang_up();
	/* The target will not answer: no wait is longer than a moment. */
	void fall_silent() { silent_ = true; }
	/* The target seems to take that long. */
	void skip(Milliseconds time) { skipped_ += time; }
	/* The sequence numbers of what the target sent last. */
	const ResponsePdu &last_response() const { return last_; }
	/* A Login Response was here. */
	bool login_answered() const { return login_answered_; }
	/* The buffer of the last read that ended, if it is still advertised. */
	std::span<std::uint8_t> last_placed() const;
	Lab &lab() const { return target_.lab(); }

private:
	bool never_hangs_up() const;
	Milliseconds patience(Milliseconds timeout) const;
	bool pass_time(Clock::time_point deadline);
	void note_request(const Message &message);
	void note_response(const Message &message);
	void take_in(Received received);

	BrokenTarget &target_;
	ConnectOptions options_;
	std::unique_ptr<RawConnection> inner_;
	ByteVector private_data_;
	std::deque<Message> queue_;
	std::shared_ptr<MemoryByStag> memories_ =
		std::make_shared<MemoryByStag>();
	std::map<std::uint32_t, std::uint32_t> read_stags_; /* by ITT */
	std::uint32_t last_read_stag_ = 0;
	ResponsePdu last_ = {};
	bool login_answered_ = false;
	bool silent_ = false;
	bool hung_up_ = false;
	Clock::duration skipped_{0};
};

/* The header and BHS of a whole control-type message, else nullptr. */
const iser::MessageHead *head_of(const Message &message);
/*
 * @message taken apart as far as its lengths are true; it has to have a head.
 * Put together again, it does not lie any more.
 */
Pdu taken_apart(const Message &message);

} // namespace iserverify
