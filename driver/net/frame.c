// SPDX-License-Identifier: GPL-2.0
/*
 * Construction of frames: memory for an skb, and the headers that every frame
 * begins with.  The senders of all types of frames call these functions, in
 * process context, softirqs and timers; transmit.c sends what they return.
 *
 * The cost of a frame is mostly that of its memory.  Small sequenced packets are
 * therefore allocated together with the clone that travels, and used again;
 * long frames, and the headers of pull responses, are built on pages that are used
 * again (tx_page_pool.c); only if there is no such memory in one piece does the
 * payload get single pages.
 */
#include <linux/netdevice.h>

#include "net/board.h"
#include "net/frame.h"
#include "net/packet_pool.h"
#include "net/tx_page_pool.h"

/* Frames longer than this are built on pages of the page pool. */
#define SMALL_FRAME	(256 - ETH_HLEN)

/* Room for headers that device drivers, IP and UDP add in front of the frame. */
#define HEADROOM	(NET_SKB_PAD + 32 - ETH_HLEN % 4)

static bool frame_is_sequenced(enum omx_wire_type type)
{
	return (type >= OMX_WIRE_EAGER && type <= OMX_WIRE_NOTIFY) ||
	       (type >= OMX_WIRE_PUT && type <= OMX_WIRE_BUNDLE);
}

/*
 * A channel keeps a sequenced packet until it is acknowledged, and sends a clone
 * of it.  Small ones are allocated together with the clone, all of the same
 * size so that any of them can be used again for the next packet.
 */
static bool frame_is_pair(enum omx_wire_type type, unsigned int length)
{
	return frame_is_sequenced(type) && length <= SMALL_FRAME;
}

static struct sk_buff *spare_reuse(struct sk_buff **spare)
{
	struct sk_buff *skb = READ_ONCE(*spare) ? xchg(spare, NULL) : NULL;

	if (!skb)
		skb = omx_packet_pool_get();
	if (skb) {
		__skb_trim(skb, 0);
		/* The network stack shares this with us while it has the clone. */
		skb_shinfo(skb)->gso_segs = 0;
	}
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

	if (frame_is_pair(type, length))
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

/* Puts `length` bytes into the skb and returns where the frame begins. */
static void *frame_begin(struct sk_buff *skb, unsigned int length, __be16 protocol)
{
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, ETH_HLEN);
	skb->protocol = protocol;
	return __skb_put(skb, length);
}

/*
 * If memory is fragmented, the payload is put into single pages.  The allocator
 * may sleep until there are some if gfp allows that, which it never does for a
 * frame in one piece.  Returns where the frame begins, or NULL.
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

static void frame_set_start(struct omx_packet_template *start,
			    const struct omx_packet_template *template,
			    enum omx_wire_type type, unsigned int payload)
{
	unsigned int header = omx_wire_header_length(type);

	*start = *template;
	start->head.type = type;
	start->head.length = cpu_to_be16(header + payload);
	memset(start + 1, 0, header - sizeof(start->head));
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
	frame_set_start(start, template, type, payload);
	return skb;
}

struct sk_buff *omx_packet_make_on_pages(const struct omx_packet_template *template,
					 enum omx_wire_type type, unsigned int payload,
					 gfp_t gfp)
{
	unsigned int header = ETH_HLEN + omx_wire_header_length(type);
	bool complete = false;
	struct sk_buff *skb;

	local_bh_disable();
	skb = omx_page_pool_skb(HEADROOM + header, gfp);
	if (skb) {
		skb_reserve(skb, HEADROOM);
		frame_set_start(frame_begin(skb, header, template->eth.h_proto), template, type, 0);
		complete = omx_page_pool_attach(skb, payload, gfp);
	}
	local_bh_enable();
	if (likely(complete))
		return skb;
	kfree_skb(skb);
	return NULL;
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

struct sk_buff *omx_packet_copy_header(const struct sk_buff *packet, unsigned int length)
{
	struct sk_buff *skb = omx_page_pool_skb(HEADROOM + length, GFP_ATOMIC | __GFP_NOWARN);

	if (!skb)
		return NULL;
	skb_reserve(skb, HEADROOM);
	memcpy(frame_begin(skb, length, packet->protocol), packet->data, length);
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
