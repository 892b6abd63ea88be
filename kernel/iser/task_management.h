// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/serial.h"
#include "iser/bhs.h"

namespace iser {

/* A SCSI task, as far as task management tells tasks apart. */
struct TaskIdentity {
	u32 itt;
	u64 lun;
	base::SerialNumber cmd_sn;
	/* Every command before it has come. */
	bool in_order;
};

/* A task management function that was carried out. */
struct TaskManagement {
	TaskFunction function;
	u32 referenced_task_tag;
	u64 lun;
	base::SerialNumber cmd_sn;
};

/* Whether @task is one that @management is about, and came before it. */
bool is_affected(const TaskIdentity &task, const TaskManagement &management);

} // namespace iser
