// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "iser/bhs.h"

namespace iser {

class LoginKeys;

/*
 * PDUs that may come beyond the command window: immediate ones, whose limit
 * nobody declared (RFC 7145 8.1.1; reference OQ-21), and answers to our pings.
 */
inline constexpr u32 unexpected_pdus = 16;

/* Of one connection in full feature phase. */
struct FlowControl {
	/* Receive buffers; no peer that keeps the rules needs one more. */
	u32 receives;
	/* Commands the initiator may have outstanding (MaxCmdSN). */
	u32 command_window;
};

/*
 * Nothing holds back the Data-Outs that follow a command without R2T, so each
 * command of the window has to find room for all of its own (RFC 7145 8.1).
 * What @most_receives buffers cannot serve, the window is narrowed for.
 *
 * @core_window: what the target core would let the initiator have outstanding.
 */
FlowControl plan_flow_control(const LoginKeys &keys, u32 core_window,
			      u32 most_receives);

/*
 * In a PDU to the initiator: @commands less than the target core lets it have
 * outstanding.  LIO opens its window when the login is over, and then only
 * with completed commands, so the difference holds for the whole session.
 */
void narrow_window(Bhs &bhs, u32 commands);

/*
 * Data-Outs that may follow a command unasked; all of the first burst, because
 * immediate data may be agreed on and not be used.
 */
u32 unsolicited_data_outs(const LoginKeys &keys);

} // namespace iser
