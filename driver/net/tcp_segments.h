/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TCP segmentation offload (TSO): nearly every NIC cuts a long TCP packet into segments.
 * Frames that would leave in one skb (net/gso_skb.h) travel as one such packet to peers of which
 * it is known (tso_probe.c) that they receive its segments, whose network stack merges them as
 * it does with TCP.  There is no connection behind them: docs/PROTOCOL.md, "TCP segments".
 * Their Ethertype is that of IPv4, or ours if both boards prefer that and the path is found to
 * pass them on.
 *
 * Receiving needs the hook for packets of one device (CONFIG_NETFILTER_INGRESS).
 */
#ifndef OMX_TCP_SEGMENTS_H
#define OMX_TCP_SEGMENTS_H

#include <linux/netfilter.h>
#include <linux/skbuff.h>
#include <linux/types.h>

#include "omx_wire.h"

struct omx_board;
struct omx_peer;

/* How much longer the headers of a segment are than those of a frame, at most. */
#define OMX_TSO_OVERHEAD	36
/* A probe fits, and so do all headers. */
#define OMX_TSO_MTU_MIN		1280
/*
 * With the Ethertype of IPv4: longer frames are few, and gain less than the checksum costs where
 * the NIC leaves that to the processor.
 */
#define OMX_TSO_IP_MTU_MAX	4096

#if IS_ENABLED(CONFIG_NETFILTER_INGRESS)

/* Of a board. */
struct omx_tso {
	struct nf_hook_ops hook;
	bool receives;			/* the hook is there; written under rtnl */
};

/* ---- process context, rtnl held ---- */
/*
 * The board is new, or its device has other features: receives segments from now on if the
 * device offers to make them.  On others each packet would pay for the hook in vain.
 */
void omx_tso_start(struct omx_board *board);
/* Segments may be received for a grace period. */
void omx_tso_stop(struct omx_board *board);

/* ---- any context ---- */
/* Have segments arrived lately, on any board? */
bool omx_tso_arrives(void);
/* Does the device make them where frames do not stay in one piece?  rtnl or RCU held. */
bool omx_tso_is_offered(const struct omx_board *board);
/* Can the board send and receive them?  RCU read lock held. */
bool omx_tso_is_possible(const struct omx_board *board);
/*
 * Does it rather have them with our Ethertype?  GRO need not verify a checksum then, and what
 * filters TCP on the way to it does not see them.  But a NIC with several receive queues spreads
 * packets by their IP addresses, verifies what is IP, and may look for it in what it segments;
 * and interfaces on top of others leave GRO to those.
 */
bool omx_tso_prefers_own(const struct omx_board *board);
/* Does this peer receive them?  The same condition. */
bool omx_tso_reaches(struct omx_board *board, u64 mac);
/*
 * Gives an skb of omx_gso_mark() the headers of a TCP packet if its peer receives segments, or
 * if it is a hello, which asks whether it does, and has the Ethertype in omx_frame_cb().
 * Otherwise, or without memory, nothing changes.
 * False: a hello did not become a packet, and must not leave.  RCU read lock held.
 */
bool omx_tso_wrap(struct omx_board *board, struct sk_buff *skb, u64 mac);

/* ---- softirq ---- */
/* Is this packet with our Ethertype, whose skb->data is behind that, a TCP segment? */
static inline bool omx_tso_is_own(const struct sk_buff *skb)
{
	const u8 *byte;
	u8 copy;

	byte = skb_header_pointer(skb, 0, sizeof(copy), &copy);
	return byte && *byte == OMX_WIRE_TSO_FIRST;
}

/* Such a segment, which nobody else has, becomes a frame.  NULL: it is dropped, and counted. */
struct sk_buff *omx_tso_unwrap(struct omx_board *board, struct sk_buff *skb);

/* ---- tso_probe.c; any context, table->lock held ---- */
/*
 * Is a probe to be sent now, and with which Ethertype?  0: not now; lowers *next to when one will
 * be.  RCU read lock held.
 */
__be16 omx_tso_probe_is_due(struct omx_board *board, struct omx_peer *peer, unsigned long *next);
void omx_tso_probe_answered(struct omx_board *board, struct omx_peer *peer, __be16 ethertype);
/* Whether it receives them has changed. */
void omx_tso_probe_soon(struct omx_board *board, struct omx_peer *peer);

/* ---- the same; any context; a lock of a channel or pull may be held ---- */
/* A frame to the peer is lost: perhaps because segments do not arrive any more. */
void omx_tso_doubt(struct omx_board *board, u64 mac);

#else

struct omx_tso {
};

static inline void omx_tso_start(struct omx_board *board)
{
}

static inline void omx_tso_stop(struct omx_board *board)
{
}

static inline bool omx_tso_arrives(void)
{
	return false;
}

static inline bool omx_tso_is_possible(const struct omx_board *board)
{
	return false;
}

static inline bool omx_tso_prefers_own(const struct omx_board *board)
{
	return false;
}

static inline bool omx_tso_is_own(const struct sk_buff *skb)
{
	return false;
}

static inline struct sk_buff *omx_tso_unwrap(struct omx_board *board, struct sk_buff *skb)
{
	return skb;
}

static inline bool omx_tso_reaches(struct omx_board *board, u64 mac)
{
	return false;
}

static inline bool omx_tso_wrap(struct omx_board *board, struct sk_buff *skb, u64 mac)
{
	return true;
}

static inline __be16 omx_tso_probe_is_due(struct omx_board *board, struct omx_peer *peer,
					  unsigned long *next)
{
	return 0;
}

static inline void omx_tso_probe_answered(struct omx_board *board, struct omx_peer *peer,
					  __be16 ethertype)
{
}

static inline void omx_tso_probe_soon(struct omx_board *board, struct omx_peer *peer)
{
}

static inline void omx_tso_doubt(struct omx_board *board, u64 mac)
{
}

#endif
#endif
