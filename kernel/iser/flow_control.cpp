// SPDX-License-Identifier: GPL-2.0
#include "iser/flow_control.h"

#include "iser/login_keys.h"

namespace iser {
namespace {

u32 smaller(u32 a, u32 b)
{
	return a < b ? a : b;
}

u32 larger(u32 a, u32 b)
{
	return a > b ? a : b;
}

} // namespace

u32 unsolicited_data_outs(const LoginKeys &keys)
{
	if (keys.initial_r2t())
		return 0;

	const u32 segment = keys.target_recv_data_segment_length();

	return (keys.first_burst_length() + segment - 1) / segment;
}

/* MaxCmdSN stands at the same place in every PDU of a target. */
void narrow_window(Bhs &bhs, u32 commands)
{
	Be32 &max_cmd_sn = bhs.as<AsyncMessagePdu>().max_cmd_sn;

	max_cmd_sn = max_cmd_sn - commands;
}

FlowControl plan_flow_control(const LoginKeys &keys, u32 core_window,
			      u32 most_receives)
{
	const u32 per_command = 1 + unsolicited_data_outs(keys);
	const u32 room = most_receives - unexpected_pdus;
	const u32 window = larger(smaller(core_window, room / per_command), 1);

	return {
		.receives = smaller(window * per_command, room) +
			    unexpected_pdus,
		.command_window = window,
	};
}

} // namespace iser
