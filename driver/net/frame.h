/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Construction of frames, and access to the headers of frames that are sent or
 * received.
 */
#ifndef OMX_FRAME_H
#define OMX_FRAME_H

#include <linux/if_ether.h>
#include <linux/skbuff.h>

#include "net/udp_carrier.h"
#include "omx_wire.h"

struct omx_board;

/*
 * What the carrier tells of a frame that it has received, in skb->cb.  All but the last two
 * bytes is there until a channel or pull uses skb->cb.
 */
struct omx_frame_cb {
	struct omx_address source;	/* if it came by UDP */
	__be16 tso;			/* Ethertype of the TCP segment that it came in, or 0 */
	bool by_group;			/* it came by UDP, and was sent to a group */
	u8 others[sizeof_field(struct sk_buff, cb) - sizeof(struct omx_address) - 5];
	bool by_udp;
	bool marked;			/* by a congested router (ECN, RFC 3168) */
};

static inline struct omx_frame_cb *omx_frame_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct omx_frame_cb) != sizeof(skb->cb));
	return (struct omx_frame_cb *)skb->cb;
}

/* What all frames to one destination begin with. */
struct omx_packet_template {
	struct ethhdr eth;
	struct omx_wire_head head;
} __packed;

void omx_packet_template_init(struct omx_packet_template *template,
			      struct omx_board *board, u64 dst_mac);

/*
 * Makes a frame of this type with `payload` bytes behind its body.  The body is
 * zeroed; the caller fills the payload.  The payload of a long frame is in page
 * fragments if there is no memory of that length in one piece.  A small
 * sequenced packet is made of *spare if that is not NULL, and *spare is NULL
 * then.  Any context, but NULL is more likely with GFP_ATOMIC.
 */
struct sk_buff *omx_packet_make(const struct omx_packet_template *template,
				enum omx_wire_type type, unsigned int payload,
				gfp_t gfp, struct sk_buff **spare);
/*
 * The same for a payload of many frames, all of which is in pages of the page pool.  NULL: not
 * without waiting for memory.
 */
struct sk_buff *omx_packet_make_on_pages(const struct omx_packet_template *template,
					 enum omx_wire_type type, unsigned int payload,
					 gfp_t gfp);
/*
 * May this sequenced packet, which has been acknowledged, be used again for
 * another one?  It may if its clone has been freed.  Allocating the two would
 * cost more than everything else in sending a byte.
 */
static inline bool omx_packet_is_spare(const struct sk_buff *skb)
{
	return skb->fclone == SKB_FCLONE_ORIG && !skb_cloned(skb);
}

/* The headers of all responses to one pull; length and offset are set in each. */
struct omx_packet_response {
	struct omx_packet_template start;
	struct omx_wire_pull_response body;
} __packed;

/* BH off.  The payload may be in page fragments. */
struct sk_buff *omx_packet_make_response(const struct omx_packet_response *header,
					 u64 offset, unsigned int payload);

/*
 * A packet that begins with the first bytes of another one; the caller attaches page
 * fragments.  BH off.  NULL: out of memory.
 */
struct sk_buff *omx_packet_copy_header(const struct sk_buff *packet, unsigned int length);

/*
 * Makes a frame for a peer to which there is no channel: endpoints and sessions
 * are 0.
 */
struct sk_buff *omx_packet_alloc(struct omx_board *board, u64 dst_mac,
				 enum omx_wire_type type, unsigned int payload,
				 gfp_t gfp);

/*
 * Our header is the packet's network header, both in packets that we send
 * (frame_begin()) and in those that we receive (omx_receive()).  It may be more
 * than ETH_HLEN bytes behind the MAC header: a VLAN device with reorder_hdr off
 * leaves its tag in the frame.
 */
static inline struct omx_wire_head *omx_packet_head(const struct sk_buff *skb)
{
	return (struct omx_wire_head *)skb_network_header(skb);
}

static inline void *omx_packet_body(const struct sk_buff *skb)
{
	return omx_packet_head(skb) + 1;
}

#endif
