// SPDX-License-Identifier: GPL-2.0
#include "iser/task_management.h"

namespace iser {

bool is_affected(const TaskIdentity &task, const TaskManagement &management)
{
	if (!task.in_order || !(task.cmd_sn < management.cmd_sn))
		return false;
	switch (management.function) {
	case TaskFunction::AbortTask:
		return task.itt == management.referenced_task_tag;
	case TaskFunction::TargetWarmReset:
	case TaskFunction::TargetColdReset:
		return true;
	default:
		return task.lun == management.lun;
	}
}

} // namespace iser
