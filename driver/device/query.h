/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The questions of omx_abi.h that need no endpoint, and the few changes that
 * an administrator of the namespace may make.  Process context; 0 or -errno.  netlink/
 * answers the same questions with the functions at the end.
 */
#ifndef OMX_QUERY_H
#define OMX_QUERY_H

#include <linux/compiler.h>
#include <linux/types.h>

struct net;
struct omx_board;
struct omx_ioc_board;
struct omx_ioc_peer;
struct omx_ioc_udp_peer;

int omx_query_info(struct net *net, void __user *arg);
int omx_query_engine(struct net *net, void __user *arg);
int omx_query_board(struct net *net, void __user *arg);
int omx_query_board_name(struct net *net, void __user *arg);
int omx_query_endpoint_info(struct net *net, void __user *arg);
int omx_query_counters(struct net *net, void __user *arg);
int omx_query_counter_label(struct net *net, void __user *arg);
int omx_query_counters_clear(struct net *net, void __user *arg);
int omx_query_peer(struct net *net, void __user *arg);
int omx_query_peer_by_mac(struct net *net, void __user *arg);
int omx_query_peer_by_name(struct net *net, void __user *arg);
int omx_query_peer_add(struct net *net, void __user *arg);
int omx_query_peer_remove(struct net *net, void __user *arg);
int omx_query_udp_peer(struct net *net, void __user *arg);
int omx_query_udp_peer_add(struct net *net, void __user *arg);
int omx_query_udp_peer_remove(struct net *net, void __user *arg);

/* rtnl held, and the board is not detaching. */
void omx_query_describe_board(struct omx_board *board, struct omx_ioc_board *abi_board);
u64 omx_query_counter(struct omx_board *board, unsigned int counter);
/* As omx_peer_add() and omx_udp_peer_add(), once address and name have been checked. */
int omx_query_add_peer(struct omx_board *board, const struct omx_ioc_peer *peer);
int omx_query_add_udp_peer(struct omx_board *board, struct omx_ioc_udp_peer *peer);

#endif
