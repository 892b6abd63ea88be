// SPDX-License-Identifier: GPL-2.0
/*
 * LIO asks the first iSER transport that was registered, so two modules cannot
 * serve side by side: whichever came second gets no portal.  This one, when it
 * is loaded, puts the last of LIO's iSER transports in front of all others.
 * Portals that exist keep the transport that they have.
 *
 * For a comparison in a guest that is thrown away: LIO's lock cannot be reached
 * from here, so nobody else may register a transport meanwhile.
 */
#include <linux/list.h>
#include <linux/module.h>
#include <target/iscsi/iscsi_transport.h>

/* Of no kind that a portal could ask for. */
static struct iscsit_transport probe = {
	.name = "transport_order",
	.transport_type = -1,
	.owner = THIS_MODULE,
};

static int __init transport_order_init(void)
{
	struct iscsit_transport *last = &probe;
	struct list_head *head;

	/* It comes last, and so stands between LIO's list and its last entry. */
	iscsit_register_transport(&probe);
	head = probe.t_node.next;
	list_for_each_entry_continue_reverse(last, head, t_node)
		if (last->transport_type == ISCSI_INFINIBAND) {
			list_move(&last->t_node, head);
			break;
		}
	iscsit_unregister_transport(&probe);
	return 0;
}

static void __exit transport_order_exit(void)
{
}

module_init(transport_order_init);
module_exit(transport_order_exit);
MODULE_DESCRIPTION("Puts LIO's last iSER transport first, for comparisons");
MODULE_LICENSE("GPL");
