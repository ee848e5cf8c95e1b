/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Building frames and handing them to the interface.
 */
#ifndef OMX_SEND_H
#define OMX_SEND_H

#include <linux/if_ether.h>
#include <linux/skbuff.h>

#include "omx_wire.h"

struct omx_board;

/* What all frames to one destination begin with. */
struct omx_packet_template {
	struct ethhdr eth;
	struct omx_wire_head head;
} __packed;

void omx_packet_template_init(struct omx_packet_template *template,
			      struct omx_board *board, u64 dst_mac);

/*
 * A frame of this type with `payload` bytes behind its body: the body is
 * zeroed, the payload is the caller's to fill.  The payload of a long frame may
 * be in page fragments, if no memory of that length is in one piece.  Any
 * context, but NULL is more likely with GFP_ATOMIC.  A sequenced one may be made
 * of what is in *spare, which is NULL then.
 */
struct sk_buff *omx_packet_make(const struct omx_packet_template *template,
				enum omx_wire_type type, unsigned int payload,
				gfp_t gfp, struct sk_buff **spare);
/*
 * May this sequenced packet be a spare one?  Its clone has left the network,
 * and allocating the two again costs more than all else in sending a byte.
 */
static inline bool omx_packet_is_spare(const struct sk_buff *skb)
{
	return skb->fclone == SKB_FCLONE_ORIG && !skb_cloned(skb);
}

/* What all replies to one pull begin with, but for their length and offset. */
struct omx_packet_response {
	struct omx_packet_template start;
	struct omx_wire_pull_response body;
} __packed;

/* BH off.  Its payload may be in page fragments. */
struct sk_buff *omx_packet_make_response(const struct omx_packet_response *header,
					 u64 offset, unsigned int payload);
/* The same to somebody that no channel leads to: endpoints and sessions are 0. */
struct sk_buff *omx_packet_alloc(struct omx_board *board, u64 dst_mac,
				 enum omx_wire_type type, unsigned int payload,
				 gfp_t gfp);

/*
 * Consumes skb.  A frame for a board of this host goes straight back up.
 * Any context, no lock of an endpoint's or channel's receive side held.
 */
void omx_packet_xmit(struct omx_board *board, struct sk_buff *skb);

/*
 * Our header is the packet's network header, for packets that we send
 * (frame_begin()) and for those that we receive (omx_receive()).  It does not
 * always follow ETH_HLEN bytes behind the MAC header: a VLAN device with
 * reorder_hdr off leaves its tag in the frame.
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
