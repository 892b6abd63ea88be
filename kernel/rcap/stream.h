// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/result.h"
#include "port/port.h"
#include "rcap/fault.h"
#include "rcap/operation.h"
#include "rcap/receive.h"

namespace rcap {

/*
 * Who uses a stream.  Called in process context, without a lock of the stream;
 * received(), sent() and transferred() come from completion workers and must
 * not wait for anything that another completion brings.
 */
class StreamUser {
public:
	/* Both ends are connected; messages may come from now on. */
	virtual void established() = 0;
	virtual void received(Receive &receive) = 0;
	/*
	 * @ok false: the stream went down before the message was sent.  For an
	 * unconfirmed one it may come from a thread of the stream's own.
	 */
	virtual void sent(Send &send, bool ok) = 0;
	/* An RDMA Read, or a Write that no Send carries, has ended. */
	virtual void transferred(Transfer &transfer, bool ok) = 0;
	/*
	 * The stream went down, for this reason; said once.  Operations that
	 * are not complete yet will be, with ok false.  May come in atomic
	 * context.  @detail: words of the provider, or null.
	 */
	virtual void lost(Fault fault, const char *detail) = 0;
	/*
	 * After close(): nothing below refers to the stream any more, and it
	 * may be destroyed.  Said once.  Not from an operation's end.
	 */
	virtual void released() = 0;

protected:
	~StreamUser() = default;
};

/* Receive buffers come in sets; Load joins FullFeature. */
enum class ReceiveSet : u8 { Login, FullFeature, Load };

/* How the receive buffers of a set look. */
struct ReceiveShape {
	u32 count;	/* buffers posted */
	u32 body;	/* bytes behind the head, at most 8192 */
	u32 tail;	/* and behind these, at most 384 */
};

/* What the device below can do. */
struct Traits {
	bool send_with_invalidate = false;
	const char *device = "";
	u8 port = 0;
	u32 read_depth = 0;
	u32 send_queue = 0;
};

/*
 * A reliable connection that carries Sends both ways, and RDMA Reads and
 * Writes that this side starts (RFC 7145 4.1).  Operations are never refused:
 * they wait in order while the send queue is full, and end with ok false when
 * the stream is down.
 */
class Stream {
public:
	virtual ~Stream() = default;

	virtual const Traits &traits() const = 0;
	virtual const port_address &peer() const = 0;
	virtual const port_address &local() const = 0;

	/*
	 * Answers the peer's connection request; @private_data is copied.  From
	 * the call on the user may be called back, and has to close the stream.
	 * Error: there is no connection, of which lost() tells as well.
	 */
	virtual base::Error accept(base::Bytes private_data) = 0;

	/*
	 * A small set of large buffers is for the login; one for full feature
	 * is allocated once the peer is known (RFC 7145 5.1.2), and another
	 * when it has more to do than an idle peer.  Allocating sleeps and
	 * posts nothing.
	 */
	virtual base::Error allocate_receives(ReceiveSet set,
					      const ReceiveShape &shape) = 0;
	virtual base::Error post_receives(ReceiveSet set) = 0;
	/* Frees a set of which no buffer is posted. */
	virtual void free_receives(ReceiveSet set) = 0;
	/* Hands a buffer back to the device. */
	virtual void give_back(Receive &receive) = 0;

	/*
	 * Memory for @count more Sends at a time, besides the few that a login
	 * needs; what exceeds it waits.  Sleeps.
	 */
	virtual base::Error allocate_sends(u32 count) = 0;
	/*
	 * Longest data of a Send: short ones go together, one long one (a login
	 * or Text Response) at a time, until free_long_send().
	 */
	static constexpr u32 short_data = 180;
	static constexpr u32 long_data = 8192;
	virtual void free_long_send() = 0;

	/*
	 * RDMA Reads outstanding at a time, from now on: @depth, at least 1,
	 * if that is less than the traits say.  Before the first one.
	 */
	virtual void limit_reads(u32 depth) = 0;

	/* All three sleep while they prepare data. */
	virtual void send(Send &send) = 0;
	virtual void write(Transfer &transfer) = 0;
	virtual void read(Transfer &transfer) = 0;

	/*
	 * Ends the connection: disconnects, completes every operation, returns
	 * the device's resources.  Sleeps until no operation can end and no
	 * message can come any more; what can until released() is news of the
	 * connection itself, established() and lost().  Harmless twice.  Not
	 * from a call of StreamUser.
	 */
	virtual void close() = 0;
};

} // namespace rcap
