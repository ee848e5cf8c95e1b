/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the netlink family share and no other file uses: handlers of
 * requests, and the attributes of objects.
 */
#ifndef OMX_NETLINK_PRIVATE_H
#define OMX_NETLINK_PRIVATE_H

#include <net/genetlink.h>

#include "endpoint/traffic.h"
#include "omx_netlink.h"

struct omx_endpoint;
struct pid_namespace;

extern struct genl_family omx_netlink_family;

#define OMX_NETLINK_GROUP	0	/* of events */

/* What is said of an endpoint. */
struct omx_endpoint_state {
	u32 board;
	u32 endpoint;
	u32 pid;
	u32 channels;
	u32 sends;
	u32 pulls;
	u32 accesses;
	u32 regions;
	u32 windows;
	u32 unfetched;
	u32 events;
	u64 memory;
	struct omx_traffic sent, received;
	char command[16];
};

/* ---- dump.c: process context ---- */
int omx_dump_start(struct netlink_callback *cb);
int omx_dump_boards(struct sk_buff *skb, struct netlink_callback *cb);
int omx_dump_peers(struct sk_buff *skb, struct netlink_callback *cb);
int omx_dump_endpoints(struct sk_buff *skb, struct netlink_callback *cb);
int omx_dump_counters(struct sk_buff *skb, struct netlink_callback *cb);

/* ---- change.c: process context ---- */
int omx_change_board_attach(struct sk_buff *skb, struct genl_info *info);
int omx_change_board_detach(struct sk_buff *skb, struct genl_info *info);
int omx_change_board_set(struct sk_buff *skb, struct genl_info *info);
int omx_change_peer_add(struct sk_buff *skb, struct genl_info *info);
int omx_change_peer_remove(struct sk_buff *skb, struct genl_info *info);
int omx_change_counter_clear(struct sk_buff *skb, struct genl_info *info);

/* ---- describe.c: any context ---- */
/* RCU read lock held, or the endpoint stays for another reason. */
void omx_describe_endpoint(struct omx_endpoint *ep, struct pid_namespace *pids,
			   struct omx_endpoint_state *state);
/* Append attributes.  0, or -EMSGSIZE: there is no room. */
int omx_put_board(struct sk_buff *skb, const struct omx_ioc_board *board);
int omx_put_peer(struct sk_buff *skb, const struct omx_ioc_udp_peer *peer);
int omx_put_endpoint(struct sk_buff *skb, const struct omx_endpoint_state *state);
int omx_put_counter(struct sk_buff *skb, u32 board, u32 counter, u64 value);

#endif
