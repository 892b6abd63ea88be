// SPDX-License-Identifier: GPL-2.0
#include "iser/flow_control.h"

#include "iser/login_keys.h"

namespace iser {

using base::larger;
using base::smaller;

namespace {

/* An initiator that sends a command now and then needs no more. */
constexpr u32 idle_regulated_pdus = 8;

/*
 * Not more than @buffers can serve, but for one command; and never more than
 * the core's window, which may be closed.
 */
FlowControl plan(const LoginKeys &keys, u32 core_window, u32 buffers)
{
	const u32 per_command = 1 + unsolicited_data_outs(keys);
	const u32 window =
		smaller(core_window, larger(buffers / per_command, 1));

	return {
		.command_window = window,
		.receives = smaller(window * per_command, most_regulated_pdus) +
			    unexpected_pdus,
	};
}

} // namespace

u32 unsolicited_data_outs(const LoginKeys &keys)
{
	if (keys.initial_r2t())
		return 0;

	const u32 segment = keys.target_recv_data_segment_length();

	return (keys.first_burst_length() + segment - 1) / segment;
}

FlowControl flow_control_when_idle(const LoginKeys &keys, u32 core_window)
{
	return plan(keys, core_window, idle_regulated_pdus);
}

FlowControl flow_control_under_load(const LoginKeys &keys, u32 core_window)
{
	return plan(keys, core_window, most_regulated_pdus);
}

/* MaxCmdSN stands at the same place in every PDU of a target. */
void narrow_window(Bhs &bhs, u32 commands)
{
	Be32 &max_cmd_sn = bhs.as<AsyncMessagePdu>().max_cmd_sn;

	max_cmd_sn = max_cmd_sn - commands;
}

u32 window_left(const Bhs &bhs)
{
	const auto &pdu = bhs.as<AsyncMessagePdu>();

	return pdu.max_cmd_sn - pdu.exp_cmd_sn + 1;
}

} // namespace iser
