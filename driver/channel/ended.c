// SPDX-License-Identifier: GPL-2.0
/*
 * The flows of channels that have ended, so that late packets are not delivered a
 * second time.
 *
 * channel.c calls it, in any context, when a channel ends or a packet has none.
 */
#include "channel/ended.h"
#include "channel/sequence.h"

void omx_ended_add(struct omx_ended_flows *flows, u32 hash, const struct omx_flow *flow,
		   u32 now)
{
	struct omx_ended *ended = &flows->slots[hash % OMX_ENDED_SLOTS];

	ended->flow = *flow;
	ended->when = now;
}

static bool is_same_peer(const struct omx_flow *a, const struct omx_flow *b)
{
	return a->mac == b->mac && a->session == b->session && a->endpoint == b->endpoint;
}

u16 omx_ended_last(const struct omx_ended_flows *flows, u32 hash,
		   const struct omx_flow *peer, u32 now)
{
	const struct omx_ended *ended = &flows->slots[hash % OMX_ENDED_SLOTS];

	return ended->flow.flow && is_same_peer(&ended->flow, peer) &&
	       now - ended->when < OMX_ENDED_LIFETIME ? ended->flow.flow : 0;
}

bool omx_ended_has(const struct omx_ended_flows *flows, u32 hash,
		   const struct omx_flow *flow, u32 now)
{
	u16 last = omx_ended_last(flows, hash, flow, now);

	return last && !omx_flow_is_newer(flow->flow, last);
}
