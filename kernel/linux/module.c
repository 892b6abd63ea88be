// SPDX-License-Identifier: GPL-2.0
/* Load, unload, parameters. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/namei.h>
#include <linux/path.h>

#include "linux/objects.h"
#include "port/entry.h"

struct lio_settings lio_settings = {
	.max_pending = 128,
	.login_timeout = 15,
	.receive_data = 4096,
	.silent_write_base = 1,
};

module_param_named(max_pending, lio_settings.max_pending, uint, 0644);
MODULE_PARM_DESC(max_pending,
		 "Connections of a portal whose login is not finished, at most (128)");

module_param_named(login_timeout, lio_settings.login_timeout, uint, 0644);
MODULE_PARM_DESC(login_timeout, "Seconds for a login, all in all (15)");

static int set_receive_data(const char *text, const struct kernel_param *param)
{
	return param_set_uint_minmax(text, param, 512, 8192);
}

static const struct kernel_param_ops receive_data_ops = {
	.set = set_receive_data,
	.get = param_get_uint,
};
module_param_cb(receive_data, &receive_data_ops, &lio_settings.receive_data,
		0644);
MODULE_PARM_DESC(receive_data,
		 "Longest immediate or unsolicited data segment, in bytes: 512 to 8192 (4096)");

module_param_named(silent_write_base, lio_settings.silent_write_base, uint,
		   0644);
MODULE_PARM_DESC(silent_write_base,
		 "Where the write buffer of an initiator begins that does not say: 1 behind the unsolicited data, as Linux does; 0 at the first byte, as RFC 7145 has it (1)");

/* LIO takes the transport of a type that registered first (F-47). */
static void warn_if_late(void)
{
	struct path path;

	if (kern_path("/sys/module/ib_isert", LOOKUP_FOLLOW, &path))
		return;
	path_put(&path);
	pr_warn("ib_isert is loaded already and serves all iSER portals; switch iser off on its portals, run 'rmmod lio_iser ib_isert' and load lio_iser first (make install arranges that)\n");
}

static int __init lio_iser_init(void)
{
	int rc;

	rc = port_init();
	if (rc < 0)
		return rc;
	rc = lio_module_create();
	if (rc < 0) {
		port_exit();
		return rc;
	}
	warn_if_late();
	debugfs_create();
	transport_register();
	return 0;
}

/* Portals and connections hold the module, so nothing is in use here. */
static void __exit lio_iser_exit(void)
{
	transport_unregister();
	debugfs_destroy();
	port_flush();
	lio_module_destroy();
	port_exit();
}

module_init(lio_iser_init);
module_exit(lio_iser_exit);
MODULE_DESCRIPTION("iSER transport of the LIO iSCSI target");
MODULE_LICENSE("GPL");
