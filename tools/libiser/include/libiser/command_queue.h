// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <functional>

#include "libiser/session.h"

namespace libiser {

/*
 * Keeps up to @depth SCSI commands of a session under way, and says of each
 * how it ended, in the order in which they end.  The target's command window
 * (MaxCmdSN, RFC 7143 4.2.2.1) may hold it below @depth.
 *
 * Belongs to the session's user, like the session not safe for concurrent use,
 * and must not outlive it.  While commands are under way, leave their tags to
 * the queue.
 */
class CommandQueue {
public:
	using Done = std::function<void(const ScsiResult &result)>;

	CommandQueue(Session &session, std::size_t depth);

	/*
	 * Starts a command; while @depth are under way, waits for one to end
	 * first.  The memory that @request names stays until @done is called,
	 * from here, poll() or drain().  Throws TimedOut after the request's
	 * timeout, ConnectionLost, ProtocolError; @done is not called then.
	 */
	void submit(const ScsiRequest &request, Done done);
	/* Calls what is done; waits for one at most @timeout.  False: none. */
	bool poll(Milliseconds timeout);
	/* Until none is under way; throws TimedOut if none ends in @timeout. */
	void drain(Milliseconds timeout = Milliseconds(30000));

	std::size_t under_way() const { return under_way_.size(); }

private:
	Session &session_;
	std::size_t depth_;
	std::map<Session::Tag, Done> under_way_;
};

} // namespace libiser
