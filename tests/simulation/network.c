// SPDX-License-Identifier: BSD-2-Clause
/*
 * The network: each node has a link to one switch.  A frame waits in the node's queue,
 * travels to the switch, suffers what the troubles of the moment are, waits in the
 * queue of the switch's port, and travels to the other node.
 */
#include "omx_wire.h"
#include "sim.h"

#include "bundle.h"
#include "burst.h"
#include "trace.h"

#define OVERHEAD	24u		/* on the link: preamble, check sequence, gap */
#define SHORTEST	60u

/* ---- ports ---- */

void sim_port_init(struct sim_port *port, u64 rate, u32 limit)
{
	*port = (struct sim_port){ .rate = rate, .limit = limit };
}

void sim_port_destroy(struct sim_port *port)
{
	free(port->leaves);
	port->leaves = NULL;
}

static void port_grow(struct sim_port *port)
{
	u32 size = port->size ? 2 * port->size : 16, i;
	u64 *leaves = malloc(size * sizeof(*leaves));

	for (i = 0; i < port->count; i++)
		leaves[i] = port->leaves[(port->first + i) % port->size];
	free(port->leaves);
	port->leaves = leaves;
	port->first = 0;
	port->size = size;
}

/* When the last bit of the frame leaves; 0: there is no room for it. */
static u64 port_send(struct sim_port *port, u32 length)
{
	u64 bits = 8ull * (max(length, SHORTEST) + OVERHEAD);

	while (port->count && port->leaves[port->first] <= sim_now) {
		port->first = (port->first + 1) % port->size;
		port->count--;
	}
	if (port->count >= port->limit) {
		port->dropped++;
		return 0;
	}
	if (port->count == port->size)
		port_grow(port);
	port->free_at = max(port->free_at, sim_now) + bits * SIM_S / port->rate;
	port->leaves[(port->first + port->count++) % port->size] = port->free_at;
	port->frames++;
	port->bytes += length;
	return port->free_at;
}

/* The longest of those that it consists of. */
static u32 frame_length(const struct sk_buff *skb)
{
	return skb_is_gso(skb) ? ETH_HLEN + OMX_EAGER_HEADER + skb->gso_size : skb->len;
}

/* ---- arriving ---- */

static void frame_receive(struct sk_buff *skb, struct sim_node *node, u8 type)
{
	struct packet_type *handler = node->board ? &node->board->packet_type : NULL;

	if (!handler || node->deaf || frame_length(skb) > node->takes + ETH_HLEN) {
		sim_trace_frame(skb, handler ? "lost, too long" : "lost, nobody is there");
		kfree_skb(skb);
		return;
	}
	sim_trace_frame(skb, "received");
	sim_skb_set_owner(skb, node);
	skb->fclone = SKB_FCLONE_UNAVAILABLE;
	skb->dev = &node->dev;
	skb->pkt_type = type;
	if (skb->data == skb_mac_header(skb))
		__skb_pull(skb, ETH_HLEN);
	rcu_read_lock();
	handler->func(skb, &node->dev, handler, &node->dev);
	rcu_read_unlock();
}

static void frame_arrives(struct sim_event *event)
{
	struct sk_buff *skb = container_of(event, struct sk_buff, event);
	u8 type = eth_hdr(skb)->h_dest[0] & 1 ? PACKET_BROADCAST : PACKET_HOST;

	frame_receive(skb, skb->to, type);
}

/* A frame that a board sends to itself, or to another one of its host. */
int netif_rx(struct sk_buff *skb)
{
	skb->to = skb->dev->node;
	skb->event.node = skb->to;
	skb->event.softirq = true;
	skb->event.run = frame_arrives;
	sim_event_at(&skb->event, sim_now + 2 * SIM_US);
	return NET_RX_SUCCESS;
}

/* ---- the switch ---- */

static struct sim_node *node_of(const u8 *mac)
{
	u32 index = mac[3] << 16 | mac[4] << 8 | mac[5];

	return mac[0] == 2 && index < sim.node_count ? &sim.node[index] : NULL;
}

static bool never_passes(const struct sk_buff *skb)
{
	const struct omx_wire_head *head = (const void *)(skb_mac_header(skb) + ETH_HLEN);

	return (sim.longest && frame_length(skb) > sim.longest) ||
	       (sim.cut && be16_to_cpu(head->dst_endpoint) == sim.cut);
}

static bool is_cut_off(const struct sim_node *from, const struct sim_node *to)
{
	return from->side != to->side || from->mute || to->deaf;
}

/* As the check sequence does not find what was cut off before it was made. */
static bool frame_is_damaged(struct sk_buff **skb)
{
	struct sk_buff *copy;

	if (sim_chance(50))
		return true;
	copy = skb_copy(*skb, GFP_ATOMIC);
	kfree_skb(*skb);
	*skb = copy;
	if (!copy)
		return false;
	if (sim_chance(50))
		copy->len = ETH_HLEN + sim_below(copy->len - ETH_HLEN);
	else
		copy->data[ETH_HLEN] ^= 1 << sim_below(8);
	return false;
}

static void frame_to_port(struct sk_buff *skb, struct sim_node *to)
{
	u64 late = 0, leaves;

	leaves = port_send(&to->in, skb->length);
	if (!leaves) {
		sim_trace_frame(skb, "dropped, the port's queue is full");
		kfree_skb(skb);
		return;
	}
	if (sim_millionths(sim.troubles.reorder))
		late = sim_below(sim.troubles.late);
	skb->to = to;
	skb->event.softirq = true;
	skb->event.node = to;
	skb->event.run = frame_arrives;
	sim_event_at(&skb->event, leaves + sim.delay / 2 + late);
}

static bool frame_is_lost(struct sk_buff **skb, const struct sim_node *to)
{
	const struct sim_node *from = (*skb)->dev->node;

	if (is_cut_off(from, to) || never_passes(*skb) || sim_millionths(sim.troubles.loss) ||
	    (sim_millionths(sim.troubles.corrupt) && frame_is_damaged(skb))) {
		sim.lost++;
		sim_trace_frame(*skb, "lost");
		kfree_skb(*skb);
		return true;
	}
	return !*skb;
}

/* Consumes skb. */
static void frame_to(struct sk_buff *skb, struct sim_node *to)
{
	struct sk_buff *again;

	if (frame_is_lost(&skb, to))
		return;
	if (sim_millionths(sim.troubles.duplicate)) {
		again = skb_copy(skb, GFP_ATOMIC);
		if (again)
			frame_to_port(again, to);
	}
	frame_to_port(skb, to);
}

static void frame_to_all(struct sk_buff *skb)
{
	u32 i;

	for (i = 0; sim.broadcasts && i < sim.node_count; i++) {
		struct sk_buff *copy;

		if (&sim.node[i] == skb->dev->node || !sim.node[i].board)
			continue;
		copy = skb_copy(skb, GFP_ATOMIC);
		if (copy)
			frame_to(copy, &sim.node[i]);
	}
	kfree_skb(skb);
}

static void frame_at_switch(struct sim_event *event)
{
	struct sk_buff *skb = container_of(event, struct sk_buff, event);
	struct sim_node *to;

	sim_skb_set_owner(skb, NULL);
	if (eth_hdr(skb)->h_dest[0] & 1) {
		frame_to_all(skb);
		return;
	}
	to = node_of(eth_hdr(skb)->h_dest);
	if (to)
		frame_to(skb, to);
	else
		kfree_skb(skb);
}

/* ---- sending ---- */

static void frame_has_left(struct sim_event *event)
{
	struct sk_buff *skb = container_of(event, struct sk_buff, event);

	skb_orphan(skb);
	skb->event.node = NULL;
	skb->event.run = frame_at_switch;
	sim_event_at(&skb->event, sim_now + sim.delay / 2);
}

static int burst_xmit(struct sk_buff *burst)
{
	u32 i, frames = burst->gso_segs;

	for (i = 0; i < frames; i++) {
		struct sk_buff *frame = sim_burst_frame(burst, i);

		if (frame)
			dev_queue_xmit(frame);
	}
	kfree_skb(burst);
	return NET_XMIT_SUCCESS;
}

int dev_queue_xmit(struct sk_buff *skb)
{
	struct sim_node *node = skb->dev->node;
	u64 leaves;

	if (skb_is_gso(skb) && !sim_chance(sim.whole))
		return burst_xmit(skb);
	SIM_REQUIRE(skb->data == skb_mac_header(skb));
	sim_check_bundle(skb);
	skb->length = skb->len;
	leaves = skb->dev->up ? port_send(&node->out, skb->length) : 0;
	if (!leaves) {
		sim_trace_frame(skb, "refused, the board's queue is full");
		kfree_skb(skb);
		return NET_XMIT_DROP;
	}
	sim.frames++;
	sim_trace_frame(skb, "sent");
	skb->event.softirq = true;
	skb->event.node = skb->destructor ? node : NULL;
	skb->event.run = skb->destructor ? frame_has_left : frame_at_switch;
	sim_event_at(&skb->event, skb->destructor ? leaves : leaves + sim.delay / 2);
	sim_other_processors_run();
	return NET_XMIT_SUCCESS;
}
