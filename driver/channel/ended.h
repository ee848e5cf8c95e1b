/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The flows of channels that have ended: a packet of one may still be on its
 * way, or be sent again by a peer that has not noticed the end.  It must not
 * be delivered a second time, on a channel made for it or on a later one.
 *
 * The table has a fixed size, and a flow lives in one of the few places that its
 * peer's hash gives: the oldest one there is replaced.  Of a peer that lost its place
 * a late packet can be delivered twice.  Flows have 16 bits and are ordered
 * modulo 2^16, so an entry is void after OMX_ENDED_LIFETIME: the packets of a
 * peer endpoint that makes 32768 channels to others in that time, and then one
 * to us, are dropped and sent again until it is over.
 *
 * Plain data, no locks: the endpoint holds channels_lock around every call, the
 * unit tests need none.
 */
#ifndef OMX_ENDED_H
#define OMX_ENDED_H

#include <linux/types.h>

#define OMX_ENDED_SLOTS		256	/* a power of two */
#define OMX_ENDED_WAYS		4	/* of them for a hash; likewise */
#define OMX_ENDED_LIFETIME	120	/* s */

struct omx_flow {
	u64 mac;
	u32 session;
	u16 endpoint;
	u16 flow;			/* 0: none */
};

struct omx_ended {
	struct omx_flow flow;
	u32 when;			/* s */
};

struct omx_ended_flows {
	struct omx_ended slots[OMX_ENDED_SLOTS];
};

/* `hash` is of the peer: MAC, session, endpoint; `now` is in seconds. */
void omx_ended_add(struct omx_ended_flows *flows, u32 hash, const struct omx_flow *flow,
		   u32 now);
/* Has the channel of this flow ended, or that of a newer one? */
bool omx_ended_has(const struct omx_ended_flows *flows, u32 hash,
		   const struct omx_flow *flow, u32 now);
/* The last flow of this peer that has ended; 0: none is remembered. */
u16 omx_ended_last(const struct omx_ended_flows *flows, u32 hash,
		   const struct omx_flow *peer, u32 now);

#endif
