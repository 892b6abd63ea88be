// SPDX-License-Identifier: GPL-2.0
/* What the module does, for a person: /sys/kernel/debug/lio_iser. */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "linux/objects.h"
#include "port/entry.h"

static struct dentry *directory;

static int connections_show(struct seq_file *reader, void *unused)
{
	lio_show_connections(reader);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(connections);

static int statistics_show(struct seq_file *reader, void *unused)
{
	lio_show_statistics(reader);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(statistics);

void debugfs_create(void)
{
	directory = debugfs_create_dir("lio_iser", NULL);
	debugfs_create_file("connections", 0400, directory, NULL,
			    &connections_fops);
	debugfs_create_file("statistics", 0400, directory, NULL,
			    &statistics_fops);
}

void debugfs_destroy(void)
{
	debugfs_remove_recursive(directory);
}
