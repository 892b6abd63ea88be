// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/gate.h"
#include "base/lock.h"
#include "base/work.h"
#include "rcap/listener.h"
#include "rcap/verbs/receive_ring.h"
#include "rcap/verbs/send_budget.h"
#include "rcap/verbs/send_slot.h"
#include "rcap/verbs/unsignalled_slots.h"

namespace rcap::verbs {

/*
 * A reliable connection of ib_core through rdma_cm.
 *
 * Life: created in the handler of a connection request; accept() hands the CM
 * id to it, even if it fails.  The id cannot be given up before that handler
 * has returned, so nothing in the handler may wait for the end of a stream.
 * close() ends all traffic and frees what lies on the device; behind it the CM
 * id is given up, and StreamUser::released() allows the destructor.  When the
 * device is removed the CM destroys the id itself, once close() is through.
 */
class Stream final : public rcap::Stream, public base::Allocated,
		     base::Immovable {
public:
	/* @request.stream stays the caller's until accept(). */
	static base::Result<base::OwnPtr<Stream>>
	create(const verbs_request &request, const StreamShape &shape,
	       StreamUser &user);
	/* Prefer create(). */
	Stream(const verbs_request &request, StreamUser &user);
	~Stream() override;

	const Traits &traits() const override { return traits_; }
	const port_address &peer() const override { return peer_; }
	const port_address &local() const override { return local_; }

	base::Error accept(base::Bytes private_data) override;
	base::Error allocate_receives(ReceiveSet set,
				      const ReceiveShape &shape) override;
	base::Error post_receives(ReceiveSet set) override;
	void free_receives(ReceiveSet set) override;
	void give_back(Receive &receive) override;
	base::Error allocate_sends(u32 count) override;
	void free_long_send() override;
	void limit_reads(u32 depth) override;
	void send(Send &send) override;
	void write(Transfer &transfer) override;
	void read(Transfer &transfer) override;
	void close() override;

	/* For the parts of a stream. */
	verbs_stream *handle() const { return handle_; }
	base::Error map_memory(verbs_memory &memory, u32 size,
			       bool from_device);

	/* From the port; contexts as in port/verbs.h. */
	void event(enum verbs_stream_event event);
	bool device_removed();
	void receive_done(ReceiveSlot &slot, int status, u32 length);
	void send_done(SendSlot &slot, int status);
	void send_data_failed(int status);
	void marker_done(int status);
	void transfer_done(Transfer &transfer, int status);

private:
	enum class State : u8 {
		Open,	/* operations are posted */
		Down,	/* lost, or being closed: operations fail at once */
		Closed,	/* nothing is left on the device */
	};
	/* Who destroys the CM id. */
	enum class IdOwner : u8 {
		Stream,		/* release_id() */
		Handler,	/* the CM, when its handler returns */
	};
	using SendList = base::List<Send, &Send::node>;
	using TransferList = base::List<Transfer, &Transfer::node>;
	using SlotList = base::List<SendSlot, &SendSlot::node>;

	/* A call of the user's, from the completion worker. */
	class Completion;

	/* Keeps close() from taking the device away while it is used. */
	class Use;

	/* Operations that failed, to be reported without the lock. */
	struct Failures {
		SendList sends;
		TransferList transfers;
	};

	/* What is left to do without the lock. */
	struct Posted {
		bool failed = false;
		Transfer *unprepared = nullptr;
	};

	base::Error set_up(const StreamShape &shape, u8 peer_read_depth);
	base::Error add_slots(base::OwnArray<SendSlot> &slots, u32 count);
	void release_device();
	void release_id();
	[[gnu::cold]] void fail(Fault fault, const char *detail);
	[[gnu::cold]] void fail_operation(Fault fault, int status);

	bool enter();
	void leave() REQUIRES(lock_);
	int take_means(Transfer &transfer);
	base::Error note_taken(Transfer &transfer, int result) REQUIRES(lock_);
	void return_means(Transfer &transfer) REQUIRES(lock_);
	void note_returned(Transfer &transfer) REQUIRES(lock_);
	void note_over(Transfer &transfer) REQUIRES(lock_);
	void open_if_quiet() REQUIRES(lock_);
	void count_posted(int change) REQUIRES(lock_);
	template <typename Operation, typename Line>
	bool enqueue(Operation &operation, Transfer *transfer,
		     Line Stream::*line);
	void submit(Transfer &transfer, TransferList Stream::*line);
	Posted post_waiting() REQUIRES(lock_);
	bool nothing_waits() const REQUIRES(lock_);
	int post_transfers(TransferList &line) REQUIRES(lock_);
	void follow_up(Posted posted);
	int post_next_send() REQUIRES(lock_);
	int post_next_transfer(TransferList &queue) REQUIRES(lock_);
	static Transfer *unprepared_head(TransferList &queue);
	Transfer *next_unprepared() REQUIRES(lock_);
	static Transfer *prepared_behind(TransferList &queue);
	bool return_from_behind() REQUIRES(lock_);
	bool prepare_waiting(Transfer &transfer);
	void take_waiting(Failures &failures);
	void take_waiting(TransferList &line, Failures &failures)
		REQUIRES(lock_);
	void report(SendList &sends, bool ok);
	void report(Failures &failures);
	bool wants_signal(const Send &send) const REQUIRES(lock_);
	void note_posted(Send &send) REQUIRES(lock_);
	void note_untold_data() REQUIRES(lock_);
	int post_marker() REQUIRES(lock_);
	void report_posted();
	u32 last_unsignalled();
	void end_sends(u32 ordinal, SendSlot *signalled, bool ok);
	void take_ended(u32 ordinal, SendSlot *signalled, SendList &ended)
		REQUIRES(lock_);

	StreamUser &user_;
	verbs_stream *handle_;
	port_address peer_;
	port_address local_;
	verbs_device_traits device_ = {};
	Traits traits_;
	bool created_ = false;
	verbs_memory long_send_ = {};
	ReceiveRing receives_[3];
	base::OwnArray<SendSlot> login_slots_;
	base::OwnArray<SendSlot> slots_;
	base::Gate closed_;
	base::Gate idle_;
	/* Opens when a stream that is down has nothing on the device. */
	base::Gate quiet_;
	/* One close() at a time. */
	base::Mutex closing_;

	/* Guards what follows; taken in any context. */
	base::SpinLock lock_;
	State state_ GUARDED_BY(lock_) = State::Open;
	bool accept_called_ GUARDED_BY(lock_) = false;
	IdOwner id_owner_ GUARDED_BY(lock_) = IdOwner::Stream;
	bool id_going_ GUARDED_BY(lock_) = false;
	u32 uses_ GUARDED_BY(lock_) = 0;
	SendBudget budget_ GUARDED_BY(lock_);
	/* Transfers that have the device's means, or are about to take them. */
	u32 holders_ GUARDED_BY(lock_) = 0;
	/* How often they were returned; and when preparing_ was chosen. */
	u64 returned_ GUARDED_BY(lock_) = 0;
	u64 returned_before_ GUARDED_BY(lock_) = 0;
	/*
	 * Sends leave in the order in which they came, each with the RDMA
	 * Write that it carries.  Other transfers have queues of their own, so
	 * that what waits for the peer's read depth holds up no response
	 * (RFC 7145 8.2).
	 */
	SendList waiting_sends_ GUARDED_BY(lock_);
	TransferList waiting_writes_ GUARDED_BY(lock_);
	TransferList waiting_reads_ GUARDED_BY(lock_);
	Transfer *preparing_ GUARDED_BY(lock_) = nullptr;
	/* Who came last goes first: its memory is still in the cache. */
	SlotList free_slots_ GUARDED_BY(lock_);
	bool long_send_busy_ GUARDED_BY(lock_) = false;
	/*
	 * Sends and markers on the device that it will tell of.  Written under
	 * the lock, looked at without.
	 */
	u32 sends_posted_ = 0;
	UnsignalledSlots<SendSlot> unsignalled_ GUARDED_BY(lock_);
	/*
	 * Posted without a signal, and the user does not know yet.  Those with
	 * data are not here: of them it hears at their end.
	 */
	SendList posted_ GUARDED_BY(lock_);
	/* A marker is on the device, and what it will tell the end of. */
	bool marker_posted_ GUARDED_BY(lock_) = false;
	u32 marker_ordinal_ GUARDED_BY(lock_) = 0;
	/* Set by the completion worker alone; taken back under the lock. */
	bool in_completion_ = false;

	/*
	 * Queued with the first of posted_, unless a completion will see to it,
	 * and with the first data that the device would not tell of.
	 */
	base::Work<Stream, &Stream::report_posted> report_posted_;
	/* Behind close(); ends with the user's released(). */
	base::Work<Stream, &Stream::release_id> release_id_;
};

} // namespace rcap::verbs
