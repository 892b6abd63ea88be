// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <deque>
#include <optional>

#include "loopback/memory.h"
#include "port/port.h"

struct verbs_listener;
struct verbs_stream;

namespace loopback {

using libiser::ByteVector;
using libiser::Received;

/* What the target's RDMA device is like. */
struct Device {
	bool send_with_invalidate = true;
	u8 read_depth = 16;
	/* Pieces of memory that a work request of a transfer takes. */
	u16 pieces = 16;
	/* Registrations that transfers need one each of; 0: they need none. */
	u32 registrations = 0;
	/* A message without a receive buffer ends the connection (iWARP). */
	bool no_back_pressure = false;
	/* A drain ends, and what it flushed is told of later (siw). */
	bool flushes_late = false;
	/* It takes nothing for a queue pair that is in the error state (siw). */
	bool refuses_posts = false;
	/* A queue pair fails as soon as it is made. */
	bool fails_at_once = false;
};

/* Parts that a test breaks, to see that it is noticed. */
struct Broken {
	/* RDMA Reads and Writes miss their place by so many bytes. */
	u32 misplace_read = 0;
	u32 misplace_write = 0;
	/* A Send overtakes the RDMA Write that it carries. */
	bool send_before_write = false;
	/* Each so many-th message to the target is lost; 0: none. */
	u32 lose_message = 0;
	/* A completion of a Send is not delivered. */
	bool lose_send_completion = false;
	/* A Send with Invalidate names another STag. */
	bool invalidate_another = false;
	/* The target core keeps what was aborted. */
	bool forget_aborted = false;
};

/* What no honest end would do, in words; empty when all is well. */
struct Offences {
	std::string words;

	void add(const std::string &what) { words += what + "; "; }
};

/* All that lies between the two ends of a connection. */
class Link {
public:
	enum class Phase {
		Requested,	/* the target has not answered */
		Accepted,	/* and its answer waits to be read */
		Refused,
		Up,
		Ended,		/* for the initiator */
	};

	explicit Link(Offences &offences) : offences(offences) {}

	Phase phase = Phase::Requested;
	/* Why it ended, for the initiator. */
	std::string end_cause;
	ByteVector request_data;
	ByteVector reply_data;
	u8 read_depth = 0;
	port_address peer = {};
	port_address local = {};

	/* Messages on their way. */
	std::deque<ByteVector> to_target;
	std::deque<Received> to_initiator;
	u64 messages = 0;
	/* The initiator's. */
	Memory memory;
	/* No longer there: nothing reaches it, and nobody answers. */
	bool initiator_gone = false;
	/* The network is down: nothing passes, and nobody is told. */
	bool cut = false;
	/* The target's end, as long as there is one. */
	verbs_stream *target = nullptr;
	/* The longest message that the initiator has room for. */
	u32 longest = 0;

	Offences &offences;

	/* The initiator tells the target's CM that it has the reply. */
	void target_establish();
	/* For the initiator it is over. */
	void end(const std::string &cause);
	/* The initiator leaves, in order or not. */
	void leave();
};

/* The device of the target, who listens there, and what is broken. */
class Network {
public:
	Network();
	~Network();
	static Network &instance() { return *instance_; }

	Device device;
	Broken broken;
	Offences offences;
	/* The network delivers, but what it owes the sender is late. */
	bool acknowledgements_late = false;
	/* Ids of the CM are not given up: who destroys one waits. */
	bool ids_kept = false;
	/* Messages that found no receive buffer posted. */
	u64 dry = 0;
	/* Of Sends that went well. */
	u64 send_completions = 0;
	/* Operations that only tell of others. */
	u64 markers = 0;
	std::vector<verbs_stream *> streams;
	std::vector<verbs_listener *> listeners;

	/* A connection request; null: nobody listens there. */
	std::shared_ptr<Link> request(const port_address &to,
				      const ByteVector &private_data,
				      u8 read_depth);
	/* Ends a connection in the way that a device would. */
	enum class Failure { QueuePair, AddressChanged, Removed };
	void fail(Link &link, Failure failure);
	/* The address that portals listen at moves, or their device goes. */
	void disturb_listeners(Failure failure);

private:
	static Network *instance_;
};

} // namespace loopback
