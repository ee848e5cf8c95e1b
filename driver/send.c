// SPDX-License-Identifier: GPL-2.0
#include <linux/netdevice.h>

#include "iface.h"
#include "send.h"

struct sk_buff *omx_packet_alloc(struct omx_iface *iface, u64 dst_mac,
				 enum omx_wire_type type, unsigned int body,
				 gfp_t gfp)
{
	unsigned int length = sizeof(struct omx_wire_head) + body;
	struct omx_wire_head *head;
	struct ethhdr *eth;
	struct sk_buff *skb;

	/* Sequenced packets are kept while their clone travels. */
	skb = __alloc_skb(LL_MAX_HEADER + ETH_HLEN + length, gfp,
			  type >= OMX_WIRE_EAGER && type <= OMX_WIRE_NOTIFY ?
			  SKB_ALLOC_FCLONE : 0, NUMA_NO_NODE);
	if (!skb)
		return NULL;
	skb_reserve(skb, LL_MAX_HEADER);
	skb_reset_mac_header(skb);
	eth = skb_put(skb, ETH_HLEN);
	u64_to_ether_addr(dst_mac, eth->h_dest);
	u64_to_ether_addr(iface->mac, eth->h_source);
	eth->h_proto = cpu_to_be16(omx_ethertype);
	skb_set_network_header(skb, ETH_HLEN);
	skb->protocol = cpu_to_be16(omx_ethertype);

	head = skb_put_zero(skb, length);
	head->version = OMX_WIRE_VERSION;
	head->type = type;
	head->length = cpu_to_be16(length);
	return skb;
}

/* A board talks to itself: straight back up, through the backlog of this CPU. */
static void loop_back(struct sk_buff *skb)
{
	skb->pkt_type = PACKET_HOST;
	__skb_pull(skb, ETH_HLEN);
	skb_reset_network_header(skb);
	netif_rx(skb);
}

/* net_xmit_eval() is a macro that evaluates its argument twice. */
static bool hand_over(struct sk_buff *skb)
{
	int error = dev_queue_xmit(skb);

	return !net_xmit_eval(error);
}

void omx_packet_xmit(struct omx_iface *iface, struct sk_buff *skb)
{
	const u8 type = omx_packet_head(skb)->type;

	rcu_read_lock();
	/* Pairs with detach: the device is ours until a grace period behind it. */
	if (READ_ONCE(iface->detaching)) {
		rcu_read_unlock();
		omx_count(iface, DROP_BOARD_DOWN);
		kfree_skb(skb);
		return;
	}
	omx_count_type(iface, TX, type);
	skb->dev = iface->dev;
	if (omx_mac_read(eth_hdr(skb)->h_dest) == iface->mac)
		loop_back(skb);
	else if (!hand_over(skb))
		omx_count(iface, TX_FAILED);
	rcu_read_unlock();
}
