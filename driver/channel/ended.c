// SPDX-License-Identifier: GPL-2.0
/*
 * The flows of channels that have ended, so that late packets are not delivered a
 * second time.
 *
 * channel.c calls it, in any context, when a channel ends or a packet has none.
 */
#include "channel/ended.h"
#include "channel/sequence.h"

static bool is_same_peer(const struct omx_flow *a, const struct omx_flow *b)
{
	return a->mac == b->mac && a->session == b->session && a->endpoint == b->endpoint;
}

static u32 first_slot(u32 hash)
{
	return hash * OMX_ENDED_WAYS % OMX_ENDED_SLOTS;
}

/* The place of this peer, or the one that is free or has not been used for longest. */
static struct omx_ended *ended_place(struct omx_ended_flows *flows, u32 hash,
				     const struct omx_flow *peer, u32 now)
{
	struct omx_ended *first = &flows->slots[first_slot(hash)], *oldest = first, *ended;

	for (ended = first; ended < first + OMX_ENDED_WAYS; ended++) {
		if (is_same_peer(&ended->flow, peer))
			return ended;
		if (oldest->flow.flow &&
		    (!ended->flow.flow || now - ended->when > now - oldest->when))
			oldest = ended;
	}
	return oldest;
}

void omx_ended_add(struct omx_ended_flows *flows, u32 hash, const struct omx_flow *flow,
		   u32 now)
{
	struct omx_ended *ended = ended_place(flows, hash, flow, now);

	ended->flow = *flow;
	ended->when = now;
}

u16 omx_ended_last(const struct omx_ended_flows *flows, u32 hash,
		   const struct omx_flow *peer, u32 now)
{
	const struct omx_ended *ended = &flows->slots[first_slot(hash)];
	int i;

	for (i = 0; i < OMX_ENDED_WAYS; i++, ended++)
		if (ended->flow.flow && is_same_peer(&ended->flow, peer))
			return now - ended->when < OMX_ENDED_LIFETIME ? ended->flow.flow : 0;
	return 0;
}

bool omx_ended_has(const struct omx_ended_flows *flows, u32 hash,
		   const struct omx_flow *flow, u32 now)
{
	u16 last = omx_ended_last(flows, hash, flow, now);

	return last && !omx_flow_is_newer(flow->flow, last);
}
