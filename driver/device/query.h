/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The questions of omx_abi.h that need no endpoint, and the few changes that
 * an administrator of the namespace may make.  Process context; 0 or -errno.
 */
#ifndef OMX_QUERY_H
#define OMX_QUERY_H

#include <linux/compiler.h>

struct net;

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

#endif
