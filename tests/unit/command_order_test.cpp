// SPDX-License-Identifier: GPL-2.0
#include "iser/command_order.h"

#include <gtest/gtest.h>

namespace iser {
namespace {

bool takes(IscsiOpcode opcode, bool immediate = false)
{
	Bhs bhs = {};

	bhs.opcode_and_immediate = static_cast<u8>(opcode);
	if (immediate)
		bhs.set_immediate();
	return takes_cmd_sn(bhs);
}

TEST(CommandOrder, RequestsTakeANumber)
{
	for (auto opcode : {IscsiOpcode::NopOut, IscsiOpcode::ScsiCommand,
			    IscsiOpcode::TaskManagementRequest,
			    IscsiOpcode::TextRequest,
			    IscsiOpcode::LogoutRequest}) {
		EXPECT_TRUE(takes(opcode)) << static_cast<int>(opcode);
		EXPECT_FALSE(takes(opcode, true)) << static_cast<int>(opcode);
	}
}

TEST(CommandOrder, DataAndSnackTakeNone)
{
	EXPECT_FALSE(takes(IscsiOpcode::DataOut));
	EXPECT_FALSE(takes(IscsiOpcode::SnackRequest));
}

TEST(CommandOrder, WhatATargetSendsTakesNone)
{
	for (auto opcode : {IscsiOpcode::NopIn, IscsiOpcode::ScsiResponse,
			    IscsiOpcode::Reject})
		EXPECT_FALSE(takes(opcode)) << static_cast<int>(opcode);
}

} // namespace
} // namespace iser
