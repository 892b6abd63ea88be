// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/memory.h"
#include "rcap/stream.h"

namespace rcap {

/* How much a stream must hold at most; fixed before the peer is known. */
struct StreamShape {
	u32 sends;	/* Sends outstanding in full feature phase */
	u32 receives;	/* receive buffers of full feature phase */
};

/* A peer that asks for a connection.  Lives while the handler runs. */
class ConnectionRequest {
public:
	virtual base::Bytes private_data() const = 0;
	virtual const port_address &peer() const = 0;
	/* The device can do Send with Invalidate. */
	virtual bool send_with_invalidate() const = 0;
	virtual base::Result<base::OwnPtr<Stream>>
	make_stream(const StreamShape &shape, StreamUser &user) = 0;
	/* Refuses; @why goes into the private data as it is. */
	virtual void reject(base::Bytes why) = 0;

protected:
	~ConnectionRequest() = default;
};

class ListenerUser {
public:
	/*
	 * Process context, in the connection manager's handler.  True: a
	 * stream was made, and its accept() called.  False: refuse.
	 */
	virtual bool connection_requested(ConnectionRequest &request) = 0;
	/* The listener moved, came back (@up), or went away. */
	virtual void listening(const port_address &address, bool up) = 0;

protected:
	~ListenerUser() = default;
};

/*
 * Listens on one address, and goes on when the address moves or the device
 * goes and comes back.  The destructor waits for requests being handled.
 */
class Listener {
public:
	virtual ~Listener() = default;
	/* Where it really listens; another port if its own was taken. */
	virtual port_address address() const = 0;
};

/* On all RDMA devices that have the address. */
base::Result<base::OwnPtr<Listener>> listen_verbs(const port_address &address,
						  ListenerUser &user);

} // namespace rcap
