// SPDX-License-Identifier: GPL-2.0
/*
 * The netlink family: its commands, what each of them takes, and who may give it.
 *
 * The module is not loaded for whoever asks for the family (MODULE_ALIAS_GENL_FAMILY):
 * that takes no privilege, and loading attaches all Ethernet interfaces.
 */
#include <linux/if.h>
#include <linux/if_ether.h>
#include <linux/in6.h>
#include <linux/module.h>

#include "compat.h"
#include "netlink/netlink.h"
#include "netlink/private.h"

/* ---- what requests contain: each command refuses everything else ---- */

static const struct nla_policy only_board_policy[] = {
	[OMX_A_BOARD]	= NLA_POLICY_MAX(NLA_U32, OMX_BOARD_MAX - 1),
};

static const struct nla_policy board_attach_policy[] = {
	[OMX_A_IFNAME]	= { .type = NLA_NUL_STRING, .len = IFNAMSIZ - 1 },
};

static const struct nla_policy board_detach_policy[] = {
	[OMX_A_IFNAME]	= { .type = NLA_NUL_STRING, .len = IFNAMSIZ - 1 },
	[OMX_A_FORCE]	= { .type = NLA_FLAG },
};

static const struct nla_policy board_set_policy[] = {
	[OMX_A_BOARD]	= NLA_POLICY_MAX(NLA_U32, OMX_BOARD_MAX - 1),
	[OMX_A_NAME]	= { .type = NLA_NUL_STRING, .len = OMX_NAME_LEN - 1 },
};

static const struct nla_policy peer_add_policy[] = {
	[OMX_A_BOARD]	= NLA_POLICY_MAX(NLA_U32, OMX_BOARD_MAX - 1),
	[OMX_A_MAC]	= NLA_POLICY_EXACT_LEN(ETH_ALEN),
	[OMX_A_NAME]	= { .type = NLA_NUL_STRING, .len = OMX_NAME_LEN - 1 },
	[OMX_A_ADDRESS]	= NLA_POLICY_EXACT_LEN(sizeof(struct in6_addr)),
	[OMX_A_SCOPE]	= { .type = NLA_U32 },
};

static const struct nla_policy peer_remove_policy[] = {
	[OMX_A_BOARD]	= NLA_POLICY_MAX(NLA_U32, OMX_BOARD_MAX - 1),
	[OMX_A_MAC]	= NLA_POLICY_EXACT_LEN(ETH_ALEN),
	[OMX_A_ADDRESS]	= NLA_POLICY_EXACT_LEN(sizeof(struct in6_addr)),
	[OMX_A_SCOPE]	= { .type = NLA_U32 },
};

/* ---- commands ---- */

#define DUMP(command, function) {			\
	.cmd		= command,			\
	.start		= omx_dump_start,		\
	.dumpit		= function,			\
	.policy		= only_board_policy,			\
	.maxattr	= ARRAY_SIZE(only_board_policy) - 1,	\
}

/*
 * What there is may be changed by who has the capability in its namespace.  New boards take
 * memory and open a way into the driver, which nobody gets by making a namespace.
 */
#define CHANGE_BY(permission, command, function, table) {	\
	.cmd		= command,			\
	.flags		= permission,			\
	.doit		= function,			\
	.policy		= table,			\
	.maxattr	= ARRAY_SIZE(table) - 1,	\
}

#define CHANGE(command, function, table)	\
	CHANGE_BY(GENL_UNS_ADMIN_PERM, command, function, table)

static const struct genl_ops netlink_ops[] = {
	DUMP(OMX_CMD_BOARD_GET,		omx_dump_boards),
	DUMP(OMX_CMD_PEER_GET,		omx_dump_peers),
	DUMP(OMX_CMD_ENDPOINT_GET,	omx_dump_endpoints),
	DUMP(OMX_CMD_COUNTER_GET,	omx_dump_counters),
	CHANGE_BY(GENL_ADMIN_PERM, OMX_CMD_BOARD_ATTACH,
		  omx_change_board_attach, board_attach_policy),
	CHANGE(OMX_CMD_BOARD_DETACH,	omx_change_board_detach, board_detach_policy),
	CHANGE(OMX_CMD_BOARD_SET,	omx_change_board_set, board_set_policy),
	CHANGE(OMX_CMD_PEER_ADD,	omx_change_peer_add, peer_add_policy),
	CHANGE(OMX_CMD_PEER_REMOVE,	omx_change_peer_remove, peer_remove_policy),
	CHANGE(OMX_CMD_COUNTER_CLEAR,	omx_change_counter_clear, only_board_policy),
};

/*
 * An event is copied to each listener while locks of the board are held; the capability
 * keeps others from listening with any number of sockets.
 */
static const struct genl_multicast_group netlink_groups[] = {
	[OMX_NETLINK_GROUP] = {
		.name	= OMX_NETLINK_EVENTS,
		.flags	= OMX_GENL_MCAST_ADMIN,
	},
};

/* resv_start_op is 0: all commands are validated strictly. */
struct genl_family omx_netlink_family __ro_after_init = {
	.name		= OMX_NETLINK_FAMILY,
	.version	= OMX_NETLINK_VERSION,
	.module		= THIS_MODULE,
	.netnsok	= true,
	.parallel_ops	= true,		/* boards and peers have locks of their own */
	.ops		= netlink_ops,
	.n_ops		= ARRAY_SIZE(netlink_ops),
	.mcgrps		= netlink_groups,
	.n_mcgrps	= ARRAY_SIZE(netlink_groups),
};

int omx_netlink_init(void)
{
	return genl_register_family(&omx_netlink_family);
}

void omx_netlink_exit(void)
{
	genl_unregister_family(&omx_netlink_family);
}
