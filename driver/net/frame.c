// SPDX-License-Identifier: GPL-2.0
#include <linux/netdevice.h>

#include "net/board.h"
#include "net/frame.h"
#include "net/tx_page_pool.h"

/* Longer frames are built on chunks. */
#define SMALL_FRAME	(256 - ETH_HLEN)

/* Room in front for what drivers may push. */
#define HEADROOM	(NET_SKB_PAD - ETH_HLEN % 4)

/*
 * Small sequenced packets are kept while their clone travels: they are
 * allocated as such a pair, all with the same room so that each can be the next.
 */
static bool is_pair(enum omx_wire_type type, unsigned int length)
{
	return type >= OMX_WIRE_EAGER && type <= OMX_WIRE_NOTIFY &&
	       length <= SMALL_FRAME;
}

static struct sk_buff *spare_reuse(struct sk_buff **spare)
{
	struct sk_buff *skb = READ_ONCE(*spare) ? xchg(spare, NULL) : NULL;

	if (skb)
		__skb_trim(skb, 0);
	return skb;
}

static struct sk_buff *spare_pair_alloc(gfp_t gfp)
{
	struct sk_buff *skb;

	skb = __alloc_skb(HEADROOM + SMALL_FRAME, gfp, SKB_ALLOC_FCLONE, NUMA_NO_NODE);
	if (skb)
		skb_reserve(skb, HEADROOM);
	return skb;
}

static struct sk_buff *frame_alloc(enum omx_wire_type type, unsigned int length,
				   gfp_t gfp, struct sk_buff **spare)
{
	struct sk_buff *skb;

	if (is_pair(type, length))
		return spare_reuse(spare) ?: spare_pair_alloc(gfp);
	if (length > SMALL_FRAME) {
		local_bh_disable();
		skb = omx_page_pool_skb(HEADROOM + length, gfp);
		local_bh_enable();
	} else {
		skb = alloc_skb(HEADROOM + length, gfp);
	}
	if (skb)
		skb_reserve(skb, HEADROOM);
	return skb;
}

/* Returns where the frame begins, which has this length. */
static void *frame_begin(struct sk_buff *skb, unsigned int length, __be16 protocol)
{
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, ETH_HLEN);
	skb->protocol = protocol;
	return __skb_put(skb, length);
}

/*
 * Free memory may consist of single pages: the payload gets as many of them as
 * it needs.  Unlike for a frame in one piece, the allocator may wait for them
 * if gfp allows that.  Returns where the frame begins, or NULL.
 */
static noinline void *frame_in_pages(unsigned int header, unsigned int payload,
				     __be16 protocol, gfp_t gfp, struct sk_buff **out)
{
	struct sk_buff *skb;
	void *start;
	int error;

	skb = alloc_skb_with_frags(HEADROOM + header, payload, 0, &error, gfp | __GFP_NOWARN);
	*out = skb;
	if (!skb)
		return NULL;
	skb_reserve(skb, HEADROOM);
	start = frame_begin(skb, header, protocol);
	skb->data_len = payload;
	skb->len += payload;
	return start;
}

void omx_packet_template_init(struct omx_packet_template *template,
			      struct omx_board *board, u64 dst_mac)
{
	memset(template, 0, sizeof(*template));
	u64_to_ether_addr(dst_mac, template->eth.h_dest);
	u64_to_ether_addr(board->mac, template->eth.h_source);
	template->eth.h_proto = cpu_to_be16(omx_ethertype);
	template->head.version = OMX_WIRE_VERSION;
}

struct sk_buff *omx_packet_make(const struct omx_packet_template *template,
				enum omx_wire_type type, unsigned int payload,
				gfp_t gfp, struct sk_buff **spare)
{
	unsigned int header = omx_wire_header_length(type);
	unsigned int length = ETH_HLEN + header + payload;
	struct omx_packet_template *start = NULL;
	struct sk_buff *skb;

	skb = frame_alloc(type, length, gfp, spare);
	if (likely(skb))
		start = frame_begin(skb, length, template->eth.h_proto);
	else if (length > SMALL_FRAME)
		start = frame_in_pages(ETH_HLEN + header, payload, template->eth.h_proto,
				       gfp, &skb);
	if (!start)
		return NULL;
	*start = *template;
	start->head.type = type;
	start->head.length = cpu_to_be16(header + payload);
	memset(start + 1, 0, header - sizeof(start->head));
	return skb;
}

struct sk_buff *omx_packet_make_response(const struct omx_packet_response *header,
					 u64 offset, unsigned int payload)
{
	const gfp_t gfp = GFP_ATOMIC | __GFP_NOWARN;
	const __be16 protocol = header->start.eth.h_proto;
	struct omx_packet_response *start;
	struct sk_buff *skb;

	skb = omx_page_pool_skb(HEADROOM + sizeof(*start) + payload, gfp);
	if (likely(skb)) {
		skb_reserve(skb, HEADROOM);
		start = frame_begin(skb, sizeof(*start) + payload, protocol);
	} else {
		start = frame_in_pages(sizeof(*start), payload, protocol, gfp, &skb);
	}
	if (!start)
		return NULL;
	*start = *header;
	start->start.head.length = cpu_to_be16(sizeof(*start) - ETH_HLEN + payload);
	start->body.offset = cpu_to_be64(offset);
	return skb;
}

struct sk_buff *omx_packet_alloc(struct omx_board *board, u64 dst_mac,
				 enum omx_wire_type type, unsigned int payload,
				 gfp_t gfp)
{
	struct omx_packet_template template;

	omx_packet_template_init(&template, board, dst_mac);
	return omx_packet_make(&template, type, payload, gfp, NULL);
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

void omx_packet_xmit(struct omx_board *board, struct sk_buff *skb)
{
	const u8 type = omx_packet_head(skb)->type;

	rcu_read_lock();
	/* Pairs with detach: the device is ours until a grace period behind it. */
	if (READ_ONCE(board->detaching)) {
		rcu_read_unlock();
		omx_count(board, DROP_BOARD_DOWN);
		kfree_skb(skb);
		return;
	}
	omx_count_type(board, TX, type);
	skb->dev = board->dev;
	if (ether_addr_equal(eth_hdr(skb)->h_dest, board->dev->dev_addr))
		loop_back(skb);
	else if (!hand_over(skb))
		omx_count(board, TX_FAILED);
	rcu_read_unlock();
}
