// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "iser/task_resources.h"
#include "port/layout.h"
#include "port/target.h"
#include "rcap/receive.h"

namespace lio {

/*
 * Our part of an LIO command (struct iscsit_cmd): iSER's resources of the task
 * and how far its data has come.
 *
 * Life: LIO allocates and frees the memory, and zeroes it at each allocation;
 * of() constructs it at first sight, because LIO makes commands of its own
 * (Reject, NOP-In).  Nothing in it needs a destructor once control_sent() or
 * data_completion_notify() has ended its operation.
 *
 * Touched by one context at a time: whoever has the command in hand, be it the
 * receive path, the target core's completion, or the stream's.
 */
class Command : base::Immovable {
public:
	/* What the operation that is under way will be followed by. */
	enum class Phase : u8 {
		Idle,
		Reading,	/* RDMA Read of write data, a burst at a time */
		Writing,	/* RDMA Write of read data, but the last burst */
		Status,		/* SCSI Response */
		Control,	/* another response that ends the command */
		Continue,	/* a Text Response with the C bit: kept */
		Ping,		/* NOP-In that waits for its NOP-Out */
		Logout,
	};

	static Command &of(iscsit_cmd *cmd);
	static Command &of(iser::TaskResources &task);

	iscsit_cmd *cmd() const { return cmd_; }

	iser::TaskResources task;
	Phase phase = Phase::Idle;
	/* Connection may still know it: on awaiting_, or as logout_cmd_. */
	bool remembered = false;
	/* A Reject that takes one of Connection's unexpected_. */
	bool unexpected = false;
	/*
	 * Of a response that does not end the command: the peer may answer it
	 * before we hear that it was sent.  Under Connection's lock_.
	 */
	bool sending = false;
	/* LIO has given the command up meanwhile.  Under Connection's lock_. */
	bool removed = false;
	/* Data moved so far, and all of it. */
	u32 offset = 0;
	u32 end = 0;
	/* On the connection's list while unsolicited data is due. */
	base::ListNode awaiting_node;
	/* On the connection's list while a task management response waits. */
	base::ListNode held_node;
	/* The receive buffer whose memory is the command's data, or null. */
	rcap::Receive *held = nullptr;
	alignas(TARGET_SCATTERLIST_ALIGN) u8
		scatterlist[TARGET_SCATTERLIST_SIZE];

private:
	explicit Command(iscsit_cmd *cmd) : cmd_(cmd) {}

	/* Set: it was constructed. */
	iscsit_cmd *cmd_;
};

} // namespace lio
