// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "iser/bhs.h"

/* Who may send how much without asking (RFC 7145 8.1). */
namespace iser {

class LoginKeys;

/*
 * PDUs that may come beyond the command window: immediate ones, whose limit
 * nobody declared (RFC 7145 8.1.1; reference OQ-21), and answers to our pings.
 */
inline constexpr u32 unexpected_pdus = 8;

/*
 * Receive buffers for commands and their unsolicited data, at most.  With the
 * few for other PDUs and what a drain needs, they fit into a queue of 128,
 * because devices round up.
 */
inline constexpr u32 most_regulated_pdus = 112;

/* Of one connection in full feature phase. */
struct FlowControl {
	/* Commands the initiator may have outstanding. */
	u32 command_window;
	/* Receive buffers; no peer that keeps the rules needs one more. */
	u32 receives;
};

/*
 * Nothing holds back the Data-Outs that follow a command without R2T, so each
 * command of the window has to find room for all of its own.  The window is
 * narrowed to what the buffers can serve: few, or as many as there may be.
 *
 * @core_window: what the target core would let the initiator have outstanding.
 */
FlowControl flow_control_when_idle(const LoginKeys &keys, u32 core_window);
FlowControl flow_control_under_load(const LoginKeys &keys, u32 core_window);

/*
 * Data-Outs that may follow a command unasked; all of the first burst, because
 * immediate data may be agreed on and not be used.
 */
u32 unsolicited_data_outs(const LoginKeys &keys);

/*
 * In a PDU to the initiator: @commands less than the target core lets it have
 * outstanding.  The core opens its window when the login is over, and then
 * only with completed commands, so the difference holds for the whole session.
 */
void narrow_window(Bhs &bhs, u32 commands);

/* How many more commands this PDU lets the initiator send. */
u32 window_left(const Bhs &bhs);

} // namespace iser
