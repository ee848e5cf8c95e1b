/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hello protocol, by which hosts discover each other.  attach.c starts and
 * stops it for a board, net/receive.c hands its frames to it.
 */
#ifndef OMX_HELLO_H
#define OMX_HELLO_H

#include <linux/jiffies.h>
#include <linux/types.h>

struct omx_board;
struct omx_peer;
struct omx_peer_table;
struct sk_buff;

#define OMX_RESPONSE_INTERVAL	(HZ / 10)	/* between two responses to one peer */

/* ---- process context, rtnl held ---- */
void omx_hello_init(struct omx_board *board);	/* silent until resumed */
void omx_hello_resume(struct omx_board *board);	/* the board is up: says hello */
/* The board goes down: says bye, and forgets peers that are not static; sleeps. */
void omx_hello_pause(struct omx_board *board);

/* ---- any context, table->lock held ---- */
/* The peer is new: says hello to it, several times if it does not respond. */
void omx_hello_to_udp_peer(struct omx_board *board, struct omx_peer *peer);
/* Somebody in a multicast group wants to know who is there. */
void omx_hello_to_groups(struct omx_board *board);

/* A frame calls for a hello or a probe. */
void omx_hello_soon(struct omx_peer_table *table);

/* ---- any context ---- */
/* Name, MTU or the path to the network has changed: says hello soon. */
void omx_hello_announce(struct omx_board *board);
/* A channel to this peer begins: requests its MTU if that is not known. */
void omx_peer_request_mtu(struct omx_board *board, u64 mac);
/*
 * Probes the path to this peer, whose MAC is known, with a HELLO of `frame` bytes, and
 * sends a short one beside it.  RCU read lock held.
 */
void omx_hello_probe(struct omx_board *board, const struct omx_peer *peer, u32 frame);
/* The same with two TCP segments, to find out whether these arrive. */
void omx_hello_tso_probe(struct omx_board *board, const struct omx_peer *peer, __be16 ethertype);
/* The peer requested frames above the path MTU: tells it ours, requests its own. */
void omx_peer_exchange_mtu(struct omx_board *board, u64 mac);

/* ---- softirq, RCU read lock held; validated frames, consumed ---- */
void omx_hello_pkt(struct omx_board *board, struct sk_buff *skb);
void omx_bye_pkt(struct omx_board *board, struct sk_buff *skb);

#endif
