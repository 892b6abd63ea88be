// SPDX-License-Identifier: GPL-2.0
#include "libiser/command_queue.h"

#include <algorithm>

namespace libiser {

CommandQueue::CommandQueue(Session &session, std::size_t depth)
	: session_(session), depth_(std::max<std::size_t>(depth, 1))
{
}

void CommandQueue::submit(const ScsiRequest &request, Done done)
{
	while (under_way_.size() >= depth_)
		if (!poll(request.timeout))
			throw TimedOut("no command of a full queue has ended");

	const Session::Tag tag = session_.start(request);

	under_way_.emplace(tag, std::move(done));
}

bool CommandQueue::poll(Milliseconds timeout)
{
	const std::optional<Session::Tag> tag = session_.any_finished(timeout);

	if (!tag)
		return false;

	const auto found = under_way_.find(*tag);

	if (found == under_way_.end())
		throw Error("a command ended that the queue did not start");

	/* @done may submit the next one. */
	const Done done = std::move(found->second);

	under_way_.erase(found);
	done(session_.finish(*tag));
	return true;
}

void CommandQueue::drain(Milliseconds timeout)
{
	while (!under_way_.empty())
		if (!poll(timeout))
			throw TimedOut("commands are under way, and none ends");
}

} // namespace libiser
