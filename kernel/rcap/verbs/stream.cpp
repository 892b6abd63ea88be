// SPDX-License-Identifier: GPL-2.0
#include "rcap/verbs/stream.h"

namespace rcap::verbs {

using base::Bytes;
using base::Error;
using base::from_errno;
using base::OwnPtr;
using base::Result;
using base::SoftirqsAtTheEnd;
using base::SpinGuard;

namespace {

/* Sends that a login has outstanding: a response, and the one before it. */
constexpr u32 login_sends = 2;
constexpr u32 markers = 1;
/* Work requests for data: some transfers of 256 KiB; more wait in line. */
constexpr u32 transfer_work_requests = 38;
constexpr u32 transfers_prepared = 32;
/* How soon the user hears of a Send that the device does not tell of. */
constexpr unsigned int report_ms = 10;
/*
 * Bytes of an RDMA Write that leaves without a signal.  Little, so that eight of
 * them hold little, and their memory is used again while it is in a cache.
 */
constexpr u32 most_untold_data = 8192;
/* How long a device may take to tell of what a drain has ended. */
constexpr unsigned int quiet_ms = 10000;
constexpr u16 pieces_of_work_request = 32;
constexpr u16 pieces_of_receive = 3;
constexpr char post_failed[] = "posting to the send queue failed";

Fault fault_of(enum verbs_stream_event event)
{
	switch (event) {
	case VERBS_CONNECT_FAILED:
		return Fault::ConnectFailed;
	case VERBS_ADDRESS_CHANGED:
		return Fault::AddressChanged;
	case VERBS_QP_FATAL:
		return Fault::QueuePairFailed;
	default:
		return Fault::Disconnected;
	}
}

/* Neither much memory nor what a device has few of, be it a registration. */
bool holds_little(const Transfer &transfer)
{
	return transfer.work_requests <= 1 &&
	       transfer.local.length <= most_untold_data;
}

} // namespace

class Stream::Use : base::Immovable {
public:
	explicit Use(Stream &stream) : stream_(stream)
	{
		SpinGuard guard(stream_.lock_);

		granted_ = stream_.state_ == State::Open;
		if (granted_)
			++stream_.uses_;
	}
	~Use()
	{
		if (!granted_)
			return;
		SpinGuard guard(stream_.lock_);

		if (--stream_.uses_ == 0 && stream_.state_ != State::Open)
			stream_.idle_.open();
	}
	bool granted() const { return granted_; }

private:
	Stream &stream_;
	bool granted_;
};

/*
 * What the user posts while it is called it may still look at, until its call
 * returns: so that is when it learns what has been posted.
 */
class Stream::Completion : base::Immovable {
public:
	explicit Completion(Stream &stream) : stream_(stream)
	{
		__atomic_store_n(&stream.in_completion_, true,
				 __ATOMIC_RELAXED);
	}
	~Completion()
	{
		SendList posted;
		{
			SpinGuard guard(stream_.lock_);

			__atomic_store_n(&stream_.in_completion_, false,
					 __ATOMIC_RELAXED);
			posted.take_all(stream_.posted_);
		}
		stream_.report(posted, true);
	}

private:
	Stream &stream_;
};

Result<OwnPtr<Stream>> Stream::create(const verbs_request &request,
				      const StreamShape &shape,
				      StreamUser &user)
{
	auto stream = TRY(base::make<Stream>(PORT_MAY_SLEEP, request, user));

	if (Error error = stream->set_up(shape, request.initiator_depth);
	    error != Error::None)
		return error;
	return stream;
}

Stream::Stream(const verbs_request &request, StreamUser &user)
	: user_(user), handle_(request.stream), peer_(request.peer),
	  local_(request.local), closing_("stream closing"), lock_("stream"),
	  report_posted_(*this), release_id_(*this)
{
}

Stream::~Stream()
{
	if (!accept_called_ && created_) {
		verbs_stream_drain(handle_);
		release_device();
	}
	if (created_) [[unlikely]]
		__builtin_trap(); /* close() was forgotten */
	verbs_memory_free(&long_send_);
}

Error Stream::set_up(const StreamShape &shape, u8 peer_read_depth)
{
	verbs_shape queue_pair = {
		.sends = shape.sends + login_sends + markers,
		.transfer_wrs = transfer_work_requests,
		.transfers = transfers_prepared,
		.receives = shape.receives + 1,
		.receive_sge = pieces_of_receive,
		.send_sge = pieces_of_work_request,
	};

	if (int error = verbs_stream_create(handle_, &queue_pair, this);
	    error < 0)
		return from_errno(error);
	created_ = true;

	verbs_stream_traits(handle_, &device_);
	traits_.send_with_invalidate = device_.send_with_invalidate;
	traits_.device = device_.name;
	traits_.port = device_.port;
	traits_.send_queue = device_.send_wrs;
	/* An MPA peer of revision 1 cannot say it: then one at a time. */
	traits_.read_depth = peer_read_depth == 0 ? 1 :
			     peer_read_depth < device_.max_read_depth ?
						    peer_read_depth :
						    device_.max_read_depth;
	{
		SpinGuard guard(lock_);

		budget_ = SendBudget(queue_pair.transfer_wrs,
				     traits_.read_depth);
	}
	if (Error error = map_memory(long_send_, long_data, false);
	    error != Error::None)
		return error;
	return add_slots(login_slots_, login_sends);
}

/* Undoes set_up(), after a drain. */
void Stream::release_device()
{
	created_ = false;
	for (ReceiveRing &ring : receives_)
		ring.unmap();
	for (SendSlot &slot : login_slots_)
		slot.unmap();
	for (SendSlot &slot : slots_)
		slot.unmap();
	{
		SpinGuard guard(lock_);

		free_slots_.clear();
	}
	verbs_memory_unmap(handle_, &long_send_);
	verbs_stream_destroy(handle_);
}

Error Stream::map_memory(verbs_memory &memory, u32 size, bool from_device)
{
	return from_errno(
		verbs_memory_alloc(handle_, &memory, size, from_device));
}

Error Stream::accept(Bytes private_data)
{
	const u8 depth = static_cast<u8>(traits_.read_depth);

	/*
	 * If the peer has left meanwhile, the CM flushes the queue pair before
	 * it says so, and the flush may tell the user first.
	 */
	{
		SpinGuard guard(lock_);

		accept_called_ = true;
	}
	const Error error = from_errno(verbs_stream_accept(
		handle_, private_data.data(),
		static_cast<u8>(private_data.size()), depth));

	if (error != Error::None)
		fail(Fault::ConnectFailed, nullptr);
	return error;
}

Error Stream::allocate_receives(ReceiveSet set, const ReceiveShape &shape)
{
	const Use use(*this);

	return use.granted() ?
		       receives_[static_cast<u8>(set)].allocate(*this, shape) :
		       Error::NotConnected;
}

Error Stream::post_receives(ReceiveSet set)
{
	SpinGuard guard(lock_);

	if (state_ != State::Open)
		return Error::NotConnected;
	return receives_[static_cast<u8>(set)].post_all();
}

void Stream::free_receives(ReceiveSet set)
{
	const Use use(*this);
	ReceiveRing &ring = receives_[static_cast<u8>(set)];

	/* What close() unmaps, the destructor frees. */
	if (!use.granted())
		return;
	ring.unmap();
	ring.clear();
}

void Stream::give_back(Receive &receive)
{
	int error = 0;
	{
		SpinGuard guard(lock_);

		if (state_ == State::Open)
			error = static_cast<ReceiveSlot &>(receive).post();
	}
	if (error < 0)
		fail(Fault::ReceiveFailed, "posting a receive buffer failed");
}

Error Stream::add_slots(base::OwnArray<SendSlot> &slots, u32 count)
{
	if (Error error = slots.allocate(count); error != Error::None)
		return error;
	for (SendSlot &slot : slots) {
		if (Error error = slot.create(*this); error != Error::None)
			return error;
		SpinGuard guard(lock_);

		free_slots_.push_back(slot);
	}
	return Error::None;
}

Error Stream::allocate_sends(u32 count)
{
	const Use use(*this);

	return use.granted() ? add_slots(slots_, count) : Error::NotConnected;
}

void Stream::limit_reads(u32 depth)
{
	SpinGuard guard(lock_);

	budget_.limit_reads(depth);
}

void Stream::free_long_send()
{
	const Use use(*this);
	{
		SpinGuard guard(lock_);

		if (long_send_busy_)
			return;
		long_send_busy_ = true;
	}
	if (!use.granted())
		return;
	verbs_memory_unmap(handle_, &long_send_);
	verbs_memory_free(&long_send_);
}

/*
 * Marks the stream as lost and says so, once.  Before accept() nobody could
 * close it: what is wrong with it then, accept() will find.
 */
void Stream::fail(Fault fault, const char *detail)
{
	{
		SpinGuard guard(lock_);

		if (state_ != State::Open || !accept_called_)
			return;
		state_ = State::Down;
		if (uses_ == 0)
			idle_.open();
	}
	user_.lost(fault, detail);
}

void Stream::fail_operation(Fault fault, int status)
{
	if (verbs_status_is_flush(status))
		fail(Fault::Disconnected, nullptr);
	else
		fail(fault, verbs_status_text(status));
}

/* Transfers -------------------------------------------------------------- */

/* A use until leave(), which is about to take the means for a transfer. */
bool Stream::enter()
{
	SpinGuard guard(lock_);

	if (state_ != State::Open)
		return false;
	++uses_;
	/* Before it takes them: who has them is counted at every moment. */
	++holders_;
	return true;
}

void Stream::leave()
{
	if (--uses_ == 0 && state_ != State::Open)
		idle_.open();
}

/* The number of work requests, or -errno; -EAGAIN: for want of means. */
int Stream::take_means(Transfer &transfer)
{
	const verbs_range range = {
		.scatterlist = transfer.local.scatterlist,
		.entries = transfer.local.entries,
		.offset = transfer.local.offset,
		.length = transfer.local.length,
	};

	if (!transfer.initialized) {
		verbs_transfer_init(transfer.storage, &transfer);
		transfer.initialized = true;
	}
	transfer.provider = this;
	return verbs_transfer_prepare(handle_, transfer.storage, &range,
				      transfer.remote_offset, transfer.stag,
				      transfer.read);
}

/* @result of take_means().  Again: there are none just now. */
Error Stream::note_taken(Transfer &transfer, int result)
{
	if (result < 0) {
		--holders_;
		return from_errno(result);
	}
	transfer.work_requests = static_cast<u32>(result);
	if (budget_.holds(transfer.work_requests))
		return Error::None;
	return_means(transfer);
	return Error::NoSpace;
}

void Stream::return_means(Transfer &transfer)
{
	if (transfer.work_requests == 0)
		return;
	verbs_transfer_finish(handle_, transfer.storage);
	note_returned(transfer);
}

void Stream::note_returned(Transfer &transfer)
{
	transfer.work_requests = 0;
	--holders_;
	++returned_;
}

/*
 * To the end of its line, and away with what may leave now.  False: it does not
 * stand there.  One lock for all that can be done under it: this is the path of
 * every response.
 */
template <typename Operation, typename Line>
bool Stream::enqueue(Operation &operation, Transfer *transfer,
		     Line Stream::*line)
{
	Error error = Error::None;
	Posted posted;
	bool in_line;
	int taken = 0;

	if (transfer) {
		transfer->work_requests = 0;
		if (!enter())
			return false;
		taken = take_means(*transfer);
	}
	{
		/*
		 * A device made of software may transmit in a softirq.  If
		 * others wait for that, a thread is on its way to it already.
		 */
		const SoftirqsAtTheEnd transmission(
			operation.alone &&
			__atomic_load_n(&sends_posted_, __ATOMIC_RELAXED) == 0);
		SpinGuard guard(lock_);

		if (transfer) {
			error = note_taken(*transfer, taken);
			leave();
		} else if (state_ != State::Open) {
			return false;
		}
		/* What has no means yet waits in line for them. */
		in_line = error == Error::None || error == Error::Again;
		if (in_line) {
			(this->*line).push_back(operation);
			posted = post_waiting();
		}
	}
	if (in_line)
		follow_up(posted);
	else
		fail(Fault::OutOfMemory, "preparing an RDMA operation failed");
	return in_line;
}

void Stream::submit(Transfer &transfer, TransferList Stream::*line)
{
	if (!enqueue(transfer, &transfer, line))
		user_.transferred(transfer, false);
}

void Stream::write(Transfer &transfer)
{
	transfer.read = false;
	submit(transfer, &Stream::waiting_writes_);
}

void Stream::read(Transfer &transfer)
{
	transfer.read = true;
	submit(transfer, &Stream::waiting_reads_);
}

void Stream::send(Send &send)
{
	if (!enqueue(send, send.write, &Stream::waiting_sends_))
		user_.sent(send, false);
}

/* The queues -------------------------------------------------------------- */

/* Posts what may be posted now; who calls follows it up without the lock. */
Stream::Posted Stream::post_waiting()
{
	int posted = 1;

	/* close() ends what is left in line. */
	if (state_ != State::Open || nothing_waits())
		return {};
	while (posted > 0 && !waiting_sends_.empty())
		posted = post_next_send();
	if (nothing_waits())
		return {};
	if (posted >= 0)
		posted = post_transfers(waiting_writes_);
	if (posted >= 0)
		posted = post_transfers(waiting_reads_);
	/* For what nobody would be told of. */
	if (posted >= 0 && !nothing_waits())
		posted = post_marker();
	if (posted < 0)
		return {.failed = true};
	return {.unprepared = next_unprepared()};
}

bool Stream::nothing_waits() const
{
	return waiting_sends_.empty() && waiting_writes_.empty() &&
	       waiting_reads_.empty();
}

/* Below 0: failed. */
int Stream::post_transfers(TransferList &line)
{
	int posted = 1;

	while (posted > 0 && !line.empty())
		posted = post_next_transfer(line);
	return posted;
}

/* Means are taken without the lock; with them, more may be posted. */
void Stream::follow_up(Posted posted)
{
	while (posted.unprepared && prepare_waiting(*posted.unprepared)) {
		SpinGuard guard(lock_);

		posted = post_waiting();
	}
	if (posted.failed)
		fail(Fault::SendFailed, post_failed);
}

/* Of a line that is not empty.  1: posted; 0: it cannot be now; or -errno. */
int Stream::post_next_send()
{
	if (free_slots_.empty())
		return 0;
	Send &send = *waiting_sends_.begin();

	if (is_long(send) && long_send_busy_)
		return 0;
	if (send.write && (send.write->work_requests == 0 ||
			   !budget_.take(send.write->work_requests, false)))
		return 0;

	SendSlot &slot = *free_slots_.pop_front();
	const bool signalled = wants_signal(send);

	slot.load(send, long_send_, signalled);
	if (int error = slot.post(); error < 0) {
		free_slots_.push_front(slot);
		if (send.write)
			budget_.give_back(send.write->work_requests, false);
		return error;
	}
	waiting_sends_.remove(send);
	if (signalled) {
		slot.ordinal = unsignalled_.posted_signalled();
		long_send_busy_ |= is_long(send);
		count_posted(1);
	} else if (send.write) {
		note_untold_data();
		unsignalled_.posted(slot);
	} else {
		note_posted(send);
		unsignalled_.posted(slot);
	}
	return 1;
}

/*
 * A completion is the dearest part of a short message.  It is needed for one
 * Send of several, and for that in the last slot: who waits for a slot gets one.
 */
bool Stream::wants_signal(const Send &send) const
{
	return !send.unconfirmed || is_long(send) ||
	       (send.write && !holds_little(*send.write)) ||
	       !unsignalled_.has_room() || free_slots_.empty();
}

/* Who is in posted_ already has seen to it that the user hears of them. */
void Stream::note_posted(Send &send)
{
	if (posted_.empty() &&
	    !__atomic_load_n(&in_completion_, __ATOMIC_RELAXED))
		report_posted_.queue(report_ms);
	posted_.push_back(send);
}

/* If nothing with a signal follows soon, a marker does. */
void Stream::note_untold_data()
{
	if (!unsignalled_.data_is_untold())
		report_posted_.queue(report_ms);
}

/*
 * For data that the device would not tell of.  One at a time: the end of one
 * sees to the next.  As post_next_send().
 */
int Stream::post_marker()
{
	if (state_ != State::Open || marker_posted_ ||
	    !unsignalled_.data_is_untold())
		return 0;
	if (int error = verbs_marker_post(handle_); error < 0)
		return error;
	marker_ordinal_ = unsignalled_.posted_signalled();
	marker_posted_ = true;
	count_posted(1);
	return 1;
}

/* Of Sends: unless a completion is under way, which does so at its end. */
void Stream::report_posted()
{
	SendList posted;
	int marker;
	{
		SpinGuard guard(lock_);

		if (!__atomic_load_n(&in_completion_, __ATOMIC_RELAXED))
			posted.take_all(posted_);
		marker = post_marker();
	}
	if (marker < 0)
		fail(Fault::SendFailed, post_failed);
	report(posted, true);
}

/* As post_next_send(). */
int Stream::post_next_transfer(TransferList &queue)
{
	Transfer &transfer = *queue.begin();

	if (transfer.work_requests == 0 ||
	    !budget_.take(transfer.work_requests, transfer.read))
		return 0;
	if (int error = verbs_transfer_post(handle_, transfer.storage, nullptr);
	    error < 0) {
		budget_.give_back(transfer.work_requests, transfer.read);
		return error;
	}
	queue.remove(transfer);
	return 1;
}

Transfer *Stream::unprepared_head(TransferList &queue)
{
	if (queue.empty() || (*queue.begin()).work_requests > 0)
		return nullptr;
	return &*queue.begin();
}

/* The first in line that waits for the device's means; marks it as ours. */
Transfer *Stream::next_unprepared()
{
	if (preparing_)
		return nullptr;
	if (!waiting_sends_.empty())
		preparing_ = (*waiting_sends_.begin()).write;
	if (preparing_ && preparing_->work_requests > 0)
		preparing_ = nullptr;
	if (!preparing_)
		preparing_ = unprepared_head(waiting_writes_);
	if (!preparing_)
		preparing_ = unprepared_head(waiting_reads_);
	if (preparing_) {
		++uses_;
		++holders_;
		returned_before_ = returned_;
	}
	return preparing_;
}

/* The next that is prepared, but stands behind another one; or null. */
Transfer *Stream::prepared_behind(TransferList &queue)
{
	for (Transfer &transfer : queue)
		if (&transfer != &*queue.begin() && transfer.work_requests > 0)
			return &transfer;
	return nullptr;
}

/*
 * What is prepared before it is in line may come to stand behind what found no
 * means; if nothing is outstanding, each would wait for the other.
 */
bool Stream::return_from_behind()
{
	Transfer *behind = nullptr;

	if (!budget_.untouched())
		return false;
	for (Send &send : waiting_sends_)
		if (&send != &*waiting_sends_.begin() && send.write &&
		    send.write->work_requests > 0)
			behind = send.write;
	if (!behind)
		behind = prepared_behind(waiting_writes_);
	if (!behind)
		behind = prepared_behind(waiting_reads_);
	if (!behind)
		return false;
	return_means(*behind);
	return true;
}

bool Stream::prepare_waiting(Transfer &transfer)
{
	const int taken = take_means(transfer);
	bool hopeless;
	bool worth_it;
	{
		SpinGuard guard(lock_);
		const Error error = note_taken(transfer, taken);

		preparing_ = nullptr;
		/* Who has just returned the means saw us at it, and left. */
		worth_it = error == Error::None ||
			   (error == Error::Again &&
			    (returned_ != returned_before_ ||
			     return_from_behind()));
		/* Somebody's end will bring the means, if there is somebody. */
		hopeless = !worth_it &&
			   (error != Error::Again || holders_ == 0);
		leave();
	}
	if (hopeless)
		fail(Fault::OutOfMemory, "preparing an RDMA operation failed");
	return worth_it;
}

/* The end ----------------------------------------------------------------- */

void Stream::take_waiting(Failures &failures)
{
	SpinGuard guard(lock_);

	while (Send *send = waiting_sends_.pop_front()) {
		if (send->write)
			return_means(*send->write);
		failures.sends.push_back(*send);
	}
	take_waiting(waiting_writes_, failures);
	take_waiting(waiting_reads_, failures);
}

void Stream::take_waiting(TransferList &line, Failures &failures)
{
	while (Transfer *transfer = line.pop_front()) {
		return_means(*transfer);
		failures.transfers.push_back(*transfer);
	}
}

void Stream::report(SendList &sends, bool ok)
{
	while (Send *send = sends.pop_front())
		user_.sent(*send, ok);
}

/* Tells the user of operations that will not happen. */
void Stream::report(Failures &failures)
{
	report(failures.sends, false);
	while (Transfer *transfer = failures.transfers.pop_front())
		user_.transferred(*transfer, false);
}

u32 Stream::last_unsignalled()
{
	SpinGuard guard(lock_);

	return unsignalled_.last();
}

void Stream::close()
{
	base::MutexGuard closing(closing_);
	Failures failures;
	{
		SpinGuard guard(lock_);

		if (state_ == State::Closed)
			return;
		state_ = State::Down;
		if (uses_ == 0)
			idle_.open();
		open_if_quiet();
	}
	idle_.wait();
	verbs_stream_disconnect(handle_);
	verbs_stream_drain(handle_);
	/* The device uses nothing any more, and will not tell of these. */
	end_sends(last_unsignalled(), nullptr, false);
	/* siw may end a drain before it has told of all others. */
	if (quiet_.wait_ms(quiet_ms) != Error::None)
		port_log(PORT_WARNING,
			 "%s port %u does not tell of operations that have ended",
			 traits_.device, traits_.port);
	report_posted_.cancel_sync();
	report_posted();
	take_waiting(failures);
	report(failures);
	release_device();
	{
		SpinGuard guard(lock_);

		state_ = State::Closed;
	}
	release_id_.queue();
}

/*
 * The CM may keep an id for long, if a message of its own is not known to have
 * left, and who closes the stream may hold up the logins of a whole target.
 */
void Stream::release_id()
{
	bool mine;
	{
		SpinGuard guard(lock_);

		mine = id_owner_ == IdOwner::Stream;
		id_going_ = mine;
	}
	/* If mine: waits for a handler that runs, and lets no other start. */
	verbs_stream_free(handle_, mine);
	closed_.open();
	if (mine)
		user_.released();
	/* Else the handler goes on, and says that we are released. */
}

bool Stream::device_removed()
{
	{
		SpinGuard guard(lock_);

		if (id_going_)
			return false;
		id_owner_ = IdOwner::Handler;
	}
	fail(Fault::DeviceRemoved, nullptr);
	closed_.wait();
	user_.released();
	return true;
}

/* From the port ----------------------------------------------------------- */

void Stream::event(enum verbs_stream_event event)
{
	if (event == VERBS_ESTABLISHED)
		user_.established();
	else if (event != VERBS_TIMEWAIT_EXIT)
		fail(fault_of(event), nullptr);
}

void Stream::receive_done(ReceiveSlot &slot, int status, u32 length)
{
	if (status != 0) {
		fail_operation(Fault::ReceiveFailed, status);
		return;
	}
	slot.completed(length);

	const Completion completion(*this);

	user_.received(slot);
}

void Stream::send_done(SendSlot &slot, int status)
{
	if (status != 0)
		fail_operation(Fault::SendFailed, status);
	/* Without a signal it is one that failed. */
	end_sends(slot.ordinal, slot.signalled() ? &slot : nullptr,
		  status == 0);
}

void Stream::send_data_failed(int status)
{
	fail_operation(Fault::WriteFailed, status);
}

void Stream::marker_done(int status)
{
	u32 ordinal;
	{
		SpinGuard guard(lock_);

		ordinal = marker_ordinal_;
		marker_posted_ = false;
		count_posted(-1);
		if (unsignalled_.data_is_untold())
			report_posted_.queue(report_ms);
	}
	if (status != 0)
		fail_operation(Fault::SendFailed, status);
	end_sends(ordinal, nullptr, status == 0);
}

/*
 * The device is through with the Sends that left without a signal up to
 * @ordinal, and with @signalled if that is not null.
 */
void Stream::end_sends(u32 ordinal, SendSlot *signalled, bool ok)
{
	SendList ended;
	Posted posted;
	{
		SpinGuard guard(lock_);

		take_ended(ordinal, signalled, ended);
	}
	for (Send &send : ended)
		if (send.write)
			verbs_transfer_finish(handle_, send.write->storage);
	{
		SpinGuard guard(lock_);

		for (Send &send : ended)
			if (send.write)
				note_over(*send.write);
		open_if_quiet();
		posted = post_waiting();
	}
	follow_up(posted);
	report(ended, ok);
}

/* Frees their slots; @ended: those of whose end the user has to hear. */
void Stream::take_ended(u32 ordinal, SendSlot *signalled, SendList &ended)
{
	while (SendSlot *slot = unsignalled_.pop_through(ordinal)) {
		if (slot->holds_data())
			ended.push_back(slot->send());
		free_slots_.push_front(*slot);
	}
	if (!signalled)
		return;
	if (is_long(signalled->send()))
		long_send_busy_ = false;
	count_posted(-1);
	ended.push_back(signalled->send());
	free_slots_.push_front(*signalled);
}

void Stream::transfer_done(Transfer &transfer, int status)
{
	Posted posted;

	if (status != 0)
		fail_operation(transfer.read ? Fault::ReadFailed :
					       Fault::WriteFailed, status);
	verbs_transfer_finish(handle_, transfer.storage);
	{
		SpinGuard guard(lock_);

		note_over(transfer);
		open_if_quiet();
		posted = post_waiting();
	}
	follow_up(posted);

	const Completion completion(*this);

	user_.transferred(transfer, status == 0);
}

void Stream::count_posted(int change)
{
	__atomic_store_n(&sends_posted_,
			 sends_posted_ + static_cast<u32>(change),
			 __ATOMIC_RELAXED);
}

void Stream::open_if_quiet()
{
	if (state_ != State::Open && sends_posted_ == 0 && budget_.untouched())
		quiet_.open();
}

/* The device is through with it, and has its means back. */
void Stream::note_over(Transfer &transfer)
{
	budget_.give_back(transfer.work_requests, transfer.read);
	note_returned(transfer);
}

} // namespace rcap::verbs

/* The port calls back ------------------------------------------------------ */

using rcap::Transfer;
using rcap::verbs::ReceiveSlot;
using rcap::verbs::SendSlot;
using rcap::verbs::Stream;

void verbs_stream_event(void *context, enum verbs_stream_event event)
{
	static_cast<Stream *>(context)->event(event);
}

int verbs_stream_device_removed(void *context)
{
	return static_cast<Stream *>(context)->device_removed();
}

void verbs_receive_done(void *context, int status, u32 length)
{
	auto *slot = static_cast<ReceiveSlot *>(context);

	slot->stream().receive_done(*slot, status, length);
}

void verbs_send_done(void *context, int status)
{
	auto *slot = static_cast<SendSlot *>(context);

	slot->stream().send_done(*slot, status);
}

void verbs_send_data_failed(void *context, int status)
{
	static_cast<SendSlot *>(context)->stream().send_data_failed(status);
}

void verbs_marker_done(void *context, int status)
{
	static_cast<Stream *>(context)->marker_done(status);
}

void verbs_transfer_done(void *context, int status)
{
	auto *transfer = static_cast<Transfer *>(context);

	static_cast<Stream *>(transfer->provider)->transfer_done(*transfer,
								 status);
}
