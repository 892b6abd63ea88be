// SPDX-License-Identifier: GPL-2.0
#include "iser/task_management.h"

#include <gtest/gtest.h>

namespace iser {
namespace {

using base::SerialNumber;

constexpr TaskIdentity task = {
	.itt = 0x11,
	.lun = 3,
	.cmd_sn = SerialNumber(100),
	.in_order = true,
};

TaskManagement management(TaskFunction function, u64 lun = 3)
{
	return {
		.function = function,
		.referenced_task_tag = reserved_tag,
		.lun = lun,
		.cmd_sn = SerialNumber(101),
	};
}

TEST(TaskManagement, AnAbortIsAboutTheTaskItNames)
{
	TaskManagement abort = management(TaskFunction::AbortTask);

	EXPECT_FALSE(is_affected(task, abort));
	abort.referenced_task_tag = task.itt;
	EXPECT_TRUE(is_affected(task, abort));
	/* The tag is enough: LIO has looked at the LUN. */
	abort.lun = 4;
	EXPECT_TRUE(is_affected(task, abort));
}

TEST(TaskManagement, ASetIsThatOfTheLogicalUnit)
{
	for (auto function : {TaskFunction::AbortTaskSet,
			      TaskFunction::ClearTaskSet,
			      TaskFunction::LogicalUnitReset}) {
		EXPECT_TRUE(is_affected(task, management(function)));
		EXPECT_FALSE(is_affected(task, management(function, 4)));
	}
}

TEST(TaskManagement, ATargetResetIsAboutAllLogicalUnits)
{
	for (auto function : {TaskFunction::TargetWarmReset,
			      TaskFunction::TargetColdReset})
		EXPECT_TRUE(is_affected(task, management(function, 4)));
}

/* RFC 7143 4.2.3.3 */
TEST(TaskManagement, OnlyWhatCameBeforeIsAffected)
{
	TaskManagement reset = management(TaskFunction::LogicalUnitReset);

	reset.cmd_sn = task.cmd_sn;
	EXPECT_FALSE(is_affected(task, reset));
	reset.cmd_sn = SerialNumber(99);
	EXPECT_FALSE(is_affected(task, reset));
}

TEST(TaskManagement, NumbersWrap)
{
	TaskIdentity last = task;
	TaskManagement reset = management(TaskFunction::LogicalUnitReset);

	last.cmd_sn = SerialNumber(0xffffffff);
	reset.cmd_sn = SerialNumber(0);
	EXPECT_TRUE(is_affected(last, reset));
}

/* The response does not wait for what waits for other commands. */
TEST(TaskManagement, ATaskOutOfOrderIsNotWaitedFor)
{
	TaskIdentity early = task;

	early.in_order = false;
	EXPECT_FALSE(is_affected(early,
		management(TaskFunction::LogicalUnitReset)));
}

} // namespace
} // namespace iser
