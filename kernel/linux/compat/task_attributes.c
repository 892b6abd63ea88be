// SPDX-License-Identifier: GPL-2.0
/* The core counts commands by task attribute in these fields; see the header. */
#include <linux/atomic.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <target/target_core_base.h>

void probe(struct se_device *device);
void probe(struct se_device *device)
{
	spin_lock(&device->delayed_cmd_lock);
	device->ordered_sync_in_progress = false;
	spin_unlock(&device->delayed_cmd_lock);
	atomic_dec(&device->non_ordered);
	if (atomic_read(&device->delayed_cmd_count) > 0)
		schedule_work(&device->delayed_cmd_work);
}
