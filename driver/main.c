// SPDX-License-Identifier: GPL-2.0
/*
 * The module: loading, which initializes all parts in order, unloading, and the
 * parameters that belong to no part.  The kernel calls all of it in process
 * context; parameters are read and written under kernel_param_lock().
 */
#define pr_fmt(fmt) "omx: " fmt

#include <linux/capability.h>
#include <linux/if_ether.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <net/net_namespace.h>

#include "device/chardev.h"
#include "engine/engine.h"
#include "engine/function.h"
#include "endpoint/account.h"
#include "endpoint/group.h"
#include "memory/lru.h"
#include "memory/space.h"
#include "net/attach.h"
#include "net/board.h"
#include "net/ifnames.h"
#include "net/packet_pool.h"
#include "net/gso_skb.h"
#include "net/small_queue.h"
#include "net/tx_page_pool.h"
#include "net/udp_carrier.h"
#include "netlink/netlink.h"
#include "observe/selftest.h"
#include "omx_version.h"
#include "pager/pager.h"

/*
 * Parameters are set before init runs and their files exist until exit is
 * over.  What is written before `ready` is kept for the end of init; both are
 * under kernel_param_lock(), which whoever calls the operations below holds.
 */
static char ifnames_at_load[1024] = "all";
static bool ready;

static int keep_for_load(const char *value)
{
	return strscpy(ifnames_at_load, value, sizeof(ifnames_at_load)) < 0 ?
		-ENOSPC : 0;
}

static int ifnames_set(const char *value, const struct kernel_param *param)
{
	if (!ready)
		return keep_for_load(value);
	if (!ns_capable(current->nsproxy->net_ns->user_ns, CAP_NET_ADMIN))
		return -EPERM;
	return omx_ifnames_command(value);
}

static int ifnames_get(char *buffer, const struct kernel_param *param)
{
	if (!ready)
		return scnprintf(buffer, PAGE_SIZE, "%s\n", ifnames_at_load);
	return omx_ifnames_list(buffer, PAGE_SIZE);
}

static const struct kernel_param_ops ifnames_ops = {
	.set	= ifnames_set,
	.get	= ifnames_get,
};

module_param_cb(ifnames, &ifnames_ops, NULL, 0644);
MODULE_PARM_DESC(ifnames,
		 "interfaces: all (default), none, or NAME, +NAME, -NAME (if unused), --NAME (in any case)");

module_param_named(ethertype, omx_ethertype, uint, 0444);
MODULE_PARM_DESC(ethertype, "EtherType of our frames (default 0x86DF)");

module_param_named(udp_port, omx_udp_port, uint, 0444);
MODULE_PARM_DESC(udp_port,
		 "UDP port of all hosts, for peers that are added by IP address (default 8687)");

/* A name that is not there yet must not keep the module from loading. */
static void begin_commands(void)
{
	kernel_param_lock(THIS_MODULE);
	ready = true;
	omx_ifnames_command(ifnames_at_load);
	kernel_param_unlock(THIS_MODULE);
}

static void end_commands(void)
{
	kernel_param_lock(THIS_MODULE);
	ready = false;
	kernel_param_unlock(THIS_MODULE);
}

static int __init omx_init(void)
{
	int error;

	if (omx_ethertype < ETH_P_802_3_MIN || omx_ethertype > 0xffff) {
		pr_err("ethertype %#x: not in 0x600 ... 0xffff\n", omx_ethertype);
		return -EINVAL;
	}
	if (!omx_udp_port || omx_udp_port > 0xffff) {
		pr_err("udp_port %u: not in 1 ... 65535\n", omx_udp_port);
		return -EINVAL;
	}
	error = omx_selftest();
	if (error)
		goto exit_pools;
	error = omx_group_init();
	if (error)
		goto exit_pools;
	error = omx_small_queues_init();
	if (error)
		goto exit_group;
	error = omx_space_init();
	if (error)
		goto exit_small_queues;
	error = omx_lru_init();
	if (error)
		goto exit_space;
	error = omx_engines_init();
	if (error)
		goto exit_lru;
	omx_dmaengine_init();
	omx_function_init();
	omx_gso_init();
	error = omx_boards_init();
	if (error)
		goto exit_gso;
	error = omx_netlink_init();
	if (error)
		goto exit_boards;
	error = omx_attach_init();
	if (error)
		goto exit_netlink;
	error = omx_chardev_init();
	if (error)
		goto exit_attach;
	omx_netlink_allow_changes(true);
	begin_commands();
	pr_info("version " OMX_VERSION " loaded\n");
	return 0;

exit_attach:
	omx_attach_exit();
exit_netlink:
	omx_netlink_exit();
exit_boards:
	omx_boards_exit();
exit_gso:
	omx_gso_exit();
	omx_function_exit();
	omx_dmaengine_exit();
	omx_engines_exit();
exit_lru:
	omx_lru_exit();
exit_space:
	omx_space_exit();
exit_small_queues:
	omx_small_queues_exit();
exit_group:
	omx_group_exit();
exit_pools:
	omx_packet_pools_exit();
	omx_page_pools_exit();
	return error;
}

/* No file is open: each holds a reference on the module. */
static void __exit omx_exit(void)
{
	end_commands();
	omx_netlink_allow_changes(false);
	omx_chardev_exit();
	omx_attach_exit();
	omx_netlink_exit();	/* has said that the boards are detached */
	omx_boards_exit();
	omx_gso_exit();
	omx_pager_exit();	/* transfers of closed endpoints may still page in */
	omx_function_exit();
	omx_dmaengine_exit();
	omx_engines_exit();
	omx_space_exit();
	omx_lru_exit();
	omx_small_queues_exit();
	omx_account_exit();
	omx_group_exit();
	rcu_barrier();		/* of those, and of boards that they held */
	omx_packet_pools_exit();
	omx_page_pools_exit();
	pr_info("unloaded\n");
}

module_init(omx_init);
module_exit(omx_exit);

MODULE_DESCRIPTION("Message passing over plain Ethernet");
MODULE_VERSION(OMX_VERSION);
MODULE_LICENSE("GPL");
