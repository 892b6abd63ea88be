// SPDX-License-Identifier: GPL-2.0
/* What one initiator and the target do, step by step, in a fixed order. */
#include <gtest/gtest.h>

#include "loopback/machine.h"

namespace {

using namespace loopback;

class Loopback : public ::testing::Test {
protected:
	void SetUp() override { ASSERT_EQ(machine.open(), 0); }
	void TearDown() override
	{
		machine.close();
		EXPECT_EQ(machine.leftovers(), "");
		EXPECT_EQ(machine.network.dry, 0u);
	}

	Machine machine;
};

TEST_F(Loopback, LoginToLogout)
{
	Initiator initiator;

	initiator.session.login(Machine::login_options());
	EXPECT_TRUE(initiator.session.scsi({.cdb = {0, 0, 0, 0, 0, 0}}).good());
	EXPECT_EQ(initiator.session.logout(), 0);
}

} // namespace
