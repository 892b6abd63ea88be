// SPDX-License-Identifier: GPL-2.0
#include "iser/flow_control.h"

#include <gtest/gtest.h>

#include <string>

#include "iser/login_keys.h"

namespace iser {
namespace {

/* The keys of a login in which the target agrees to all that is offered. */
LoginKeys agreed(std::string pairs)
{
	LoginKeys keys;

	for (char &character : pairs)
		if (character == ' ')
			character = '\0';
	const base::Bytes text(reinterpret_cast<const u8 *>(pairs.data()),
			       pairs.size());
	keys.note_request(text);
	keys.note_response(text);
	return keys;
}

LoginKeys without_r2t(u32 first_burst, u32 segment)
{
	return agreed("InitialR2T=No FirstBurstLength=" + std::to_string(first_burst) +
		      " TargetRecvDataSegmentLength=" +
		      std::to_string(segment) + " ");
}

TEST(UnsolicitedDataOuts, NoneWhenEachHasItsR2t)
{
	EXPECT_EQ(unsolicited_data_outs(agreed("InitialR2T=Yes ")), 0u);
	EXPECT_EQ(unsolicited_data_outs(LoginKeys()), 0u);
}

TEST(UnsolicitedDataOuts, AreTheFirstBurst)
{
	EXPECT_EQ(unsolicited_data_outs(without_r2t(16384, 4096)), 4u);
	EXPECT_EQ(unsolicited_data_outs(without_r2t(4096, 8192)), 1u);
}

TEST(UnsolicitedDataOuts, TheLastOneMayBeShort)
{
	EXPECT_EQ(unsolicited_data_outs(without_r2t(8704, 4096)), 3u);
}

TEST(FlowControl, TheWindowIsTheCoresAsLongAsItHasItsBuffers)
{
	const FlowControl plan = flow_control_under_load(LoginKeys(), 64);

	EXPECT_EQ(plan.command_window, 64u);
	EXPECT_EQ(plan.receives, 64u + unexpected_pdus);
}

TEST(FlowControl, NoWindowIsWiderThanTheReceiveQueue)
{
	const FlowControl plan = flow_control_under_load(LoginKeys(), 512);

	EXPECT_EQ(plan.command_window, most_regulated_pdus);
	EXPECT_EQ(plan.receives, most_regulated_pdus + unexpected_pdus);
}

TEST(FlowControl, AnIdleConnectionHasFewBuffersAndAWindowToMatch)
{
	const FlowControl plan = flow_control_when_idle(LoginKeys(), 64);

	EXPECT_EQ(plan.command_window, 8u);
	EXPECT_EQ(plan.receives, 8u + unexpected_pdus);
}

/* RFC 7145 8.1: whatever may come without being asked for has its buffer. */
void every_pdu_has_its_buffer(const LoginKeys &keys, u32 core_window,
			      const FlowControl &plan)
{
	EXPECT_GE(plan.receives, plan.command_window *
						 (1 + unsolicited_data_outs(keys)) +
					 unexpected_pdus);
	EXPECT_LE(plan.receives, most_regulated_pdus + unexpected_pdus);
	EXPECT_LE(plan.command_window, core_window);
	EXPECT_GE(plan.command_window, 1u);
}

TEST(FlowControl, EveryUnsolicitedDataOutHasItsBuffer)
{
	for (u32 first_burst = 512; first_burst <= 65536; first_burst += 512) {
		for (u32 core_window : {1u, 17u, 64u, 500u}) {
			const LoginKeys keys = without_r2t(first_burst, 4096);

			every_pdu_has_its_buffer(
				keys, core_window,
				flow_control_when_idle(keys, core_window));
			every_pdu_has_its_buffer(
				keys, core_window,
				flow_control_under_load(keys, core_window));
		}
	}
}

/* Of a discovery session; what is narrowed by less than 0 would be widened. */
TEST(FlowControl, AClosedWindowStaysClosed)
{
	EXPECT_EQ(flow_control_when_idle(LoginKeys(), 0).command_window, 0u);
	EXPECT_EQ(flow_control_under_load(LoginKeys(), 0).command_window, 0u);
}

TEST(FlowControl, ACommandThatTakesAllBuffersGoesAlone)
{
	const FlowControl plan =
		flow_control_under_load(without_r2t(1 << 20, 512), 64);

	EXPECT_EQ(plan.command_window, 1u);
	EXPECT_EQ(plan.receives, most_regulated_pdus + unexpected_pdus);
}

TEST(NarrowWindow, LowersMaxCmdSnAndNothingElse)
{
	Bhs bhs = {};
	Bhs wanted = {};

	bhs.as<AsyncMessagePdu>().max_cmd_sn = 5;
	wanted.as<AsyncMessagePdu>().max_cmd_sn = 0xffffffe5;
	narrow_window(bhs, 32);
	EXPECT_EQ(memcmp(&bhs, &wanted, sizeof(bhs)), 0);
}

TEST(WindowLeft, IsCountedAcrossTheWrap)
{
	Bhs bhs = {};

	bhs.as<AsyncMessagePdu>().exp_cmd_sn = 0xfffffffe;
	bhs.as<AsyncMessagePdu>().max_cmd_sn = 1;
	EXPECT_EQ(window_left(bhs), 4u);
	/* RFC 7143 4.2.2.1: closed. */
	bhs.as<AsyncMessagePdu>().max_cmd_sn = 0xfffffffd;
	EXPECT_EQ(window_left(bhs), 0u);
}

} // namespace
} // namespace iser
