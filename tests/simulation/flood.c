// SPDX-License-Identifier: BSD-2-Clause
/*
 * A host that keeps to no window: it sends packets of many channels as fast as half of
 * its link, whatever acks say, and all of them say that more are waiting.  Each packet
 * is the first fragment of a message that never goes on, so nothing is delivered.
 *
 * It need not listen, because it looks at its victim's channels to learn which packets
 * are within the 64 that are not beyond any window.
 */
#include "channel/channel.h"
#include "flood.h"
#include "omx_wire.h"

#define CHANNELS	64
#define SESSION		0x4242
#define FLOW		1

static struct {
	struct sim_event event;
	struct sim_node *node;
	struct sim_node *to;
	u32 slot, session;		/* of the victim */
	u64 pause;			/* ns */
	u32 next;			/* channel */
	u32 seq[CHANNELS];
} flood;

static struct omx_endpoint *flood_victim(void)
{
	const struct sim_program *program = flood.to->program[flood.slot];

	return program && program->ep && program->ep->session == flood.session ?
	       program->ep : NULL;
}

/* The next one that the victim can take, or the first one of those again. */
static u32 flood_next_seq(u32 channel)
{
	struct omx_endpoint *ep = flood_victim();
	struct omx_channel *ch;
	u32 first = 1;

	rcu_read_lock();
	ch = omx_channel_find(ep, sim_node_mac(flood.node), channel, SESSION);
	if (ch)
		first = ch->rx.next;
	rcu_read_unlock();
	if (++flood.seq[channel] - first >= OMX_WINDOW)
		flood.seq[channel] = first;
	return flood.seq[channel];
}

static void flood_fill(u8 *frame, u32 payload, u32 channel, u32 seq)
{
	struct ethhdr *eth = (struct ethhdr *)frame;
	struct omx_wire_head *head = (struct omx_wire_head *)(eth + 1);
	struct omx_wire_eager *eager = (struct omx_wire_eager *)(head + 1);

	memcpy(eth->h_dest, flood.to->mac, ETH_ALEN);
	memcpy(eth->h_source, flood.node->mac, ETH_ALEN);
	eth->h_proto = htons(OMX_ETHERTYPE_DEFAULT);
	head->version = OMX_WIRE_VERSION;
	head->type = OMX_WIRE_EAGER;
	head->length = cpu_to_be16(sizeof(*head) + sizeof(*eager) + payload);
	head->dst_endpoint = cpu_to_be16(flood.slot);
	head->src_endpoint = cpu_to_be16(channel);
	head->dst_session = cpu_to_be32(flood.session);
	head->src_session = cpu_to_be32(SESSION);
	eager->sequence.flow = cpu_to_be16(FLOW);
	eager->sequence.seq = cpu_to_be32(seq);
	eager->sequence.flags = OMX_SEQUENCE_MORE;
	eager->msg_length = cpu_to_be32(OMX_MEDIUM_MAX);
}

static void flood_send(struct sim_event *event)
{
	u32 headers = ETH_HLEN + sizeof(struct omx_wire_head) + sizeof(struct omx_wire_eager);
	u32 length = ETH_HLEN + flood.node->dev.mtu;
	u32 channel = flood.next++ % CHANNELS;
	struct sk_buff *skb;

	if (!flood_victim())
		return;
	skb = alloc_skb(length, GFP_ATOMIC);
	if (skb) {
		u8 *frame = skb_put_zero(skb, length);

		flood_fill(frame, length - headers, channel, flood_next_seq(channel));
		skb_reset_mac_header(skb);
		skb->dev = &flood.node->dev;
		dev_queue_xmit(skb);
	}
	sim_event_at(event, sim_now + flood.pause);
}

void sim_flood_start(struct sim_node *node, const struct sim_program *victim)
{
	node->dev.up = true;
	memset(&flood, 0, sizeof(flood));
	flood.node = node;
	flood.to = victim->node;
	flood.slot = victim->slot;
	flood.session = victim->ep->session;
	flood.pause = 2 * 8 * SIM_S * (node->dev.mtu + ETH_HLEN + 24) / node->out.rate;
	flood.event = (struct sim_event){ .run = flood_send };
	sim_event_at(&flood.event, sim_now);
}

void sim_flood_stop(void)
{
	sim_event_cancel(&flood.event);
}
