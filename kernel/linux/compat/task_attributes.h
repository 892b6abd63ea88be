/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIO_ISER_LINUX_COMPAT_TASK_ATTRIBUTES_H
#define LIO_ISER_LINUX_COMPAT_TASK_ATTRIBUTES_H

#include <linux/atomic.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include <target/target_core_base.h>

#include "linux/compat/config.h"

/*
 * The core executes an ORDERED command when no other one is under way, and
 * nothing behind it before it has ended.  A command that is aborted while it is
 * executed it does not take back from these counts: then no ORDERED command of
 * anybody, or no command at all, is executed on that device any more.  So this
 * is called for each that ends; the flag says that the core has not done it.
 */
static inline void end_task_attribute(struct se_cmd *cmd)
{
#if COMPAT_TASK_ATTRIBUTES
	struct se_device *device = cmd->se_dev;

	if (likely(!(cmd->se_cmd_flags & SCF_TASK_ATTR_SET)))
		return;
	cmd->se_cmd_flags &= ~SCF_TASK_ATTR_SET;
	if (cmd->sam_task_attr == TCM_ORDERED_TAG) {
		spin_lock(&device->delayed_cmd_lock);
		device->ordered_sync_in_progress = false;
		spin_unlock(&device->delayed_cmd_lock);
	} else {
		atomic_dec(&device->non_ordered);
		smp_mb__after_atomic();
	}
	if (atomic_read(&device->delayed_cmd_count) > 0)
		schedule_work(&device->delayed_cmd_work);
#endif
}

#endif
