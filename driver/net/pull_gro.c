// SPDX-License-Identifier: GPL-2.0
/*
 * GRO for pull responses: consecutive frames of a pull that a device receives in one
 * NAPI poll become one skb, so that they are validated, looked up, locked and copied
 * once.  Pairs with pull_gso.c, whose fields a merged skb has, so that it may be
 * forwarded as well.
 *
 * The network stack calls omx_gro_receive() and omx_gro_complete() in softirq, for frames
 * of our Ethertype on any interface, whether it is a board or not; pull/response.c calls
 * omx_gro_free_merged().
 */
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <net/gro.h>

#include "net/pull_gso.h"
#include "net/pull_gso_private.h"
#include "omx_wire.h"

struct response_header {
	struct omx_wire_head head;
	struct omx_wire_pull_response body;
} __packed;

static_assert(sizeof(struct response_header) == OMX_PULL_RESPONSE_HEADER);

/* Nothing but the offset and the length may differ between frames of one skb. */
static bool gro_is_same_pull(const struct response_header *a, const struct response_header *b)
{
	return a->head.dst_endpoint == b->head.dst_endpoint &&
	       a->head.src_endpoint == b->head.src_endpoint &&
	       a->head.dst_session == b->head.dst_session &&
	       a->head.src_session == b->head.src_session &&
	       a->body.pull == b->body.pull && a->body.reserved == b->body.reserved;
}

/* The header at the offset of GRO, or NULL: not a response without padding. */
static const struct response_header *gro_header(struct sk_buff *skb)
{
	unsigned int offset = skb_gro_offset(skb);
	const struct response_header *header;

	header = skb_gro_header(skb, offset + sizeof(*header), offset);
	if (!header || header->head.version != OMX_WIRE_VERSION ||
	    header->head.type != OMX_WIRE_PULL_RESPONSE ||
	    be16_to_cpu(header->head.length) != skb_gro_len(skb) ||
	    skb_gro_len(skb) == sizeof(*header))
		return NULL;
	return header;
}

/* The held skb with frames of the same pull, or NULL.  The others are of other flows. */
static struct sk_buff *gro_find_held(struct list_head *held, const struct response_header *header,
				     unsigned int offset)
{
	struct sk_buff *found = NULL;
	struct sk_buff *skb;

	list_for_each_entry(skb, held, list) {
		if (!NAPI_GRO_CB(skb)->same_flow)
			continue;
		if (gro_is_same_pull((const void *)(skb->data + offset), header))
			found = skb;
		else
			NAPI_GRO_CB(skb)->same_flow = 0;
	}
	return found;
}

/* Does this frame continue the held ones, and is no longer than each of them? */
static bool gro_continues(const struct sk_buff *held, const struct response_header *first,
			  unsigned int payload_offset, const struct response_header *header,
			  unsigned int length)
{
	unsigned int held_length = held->len - payload_offset;

	return be64_to_cpu(first->body.offset) + held_length == be64_to_cpu(header->body.offset) &&
	       length <= skb_shinfo(held)->gso_size &&
	       OMX_PULL_RESPONSE_HEADER + held_length + length <= U16_MAX;
}

/* Puts the payload behind the held frames. */
static bool gro_append(struct sk_buff *held, struct sk_buff *skb)
{
	struct sk_buff *last = NAPI_GRO_CB(held)->last;

	/* The headers may be in a page. */
	if (!pskb_may_pull(skb, skb_gro_offset(skb)))
		return false;
	__skb_pull(skb, skb_gro_offset(skb));
	if (last == held)
		skb_shinfo(held)->frag_list = skb;
	else
		last->next = skb;
	NAPI_GRO_CB(held)->last = skb;
	NAPI_GRO_CB(held)->count++;
	held->data_len += skb->len;
	held->len += skb->len;
	/* A sender on this host may be charged for what each of them has been so far. */
	skb_orphan(held);
	skb_orphan(skb);
	held->truesize += skb->truesize;
	NAPI_GRO_CB(skb)->same_flow = 1;
	return true;
}

struct sk_buff *omx_gro_receive(struct list_head *held_list, struct sk_buff *skb)
{
	const unsigned int offset = skb_gro_offset(skb);
	const struct response_header *header = gro_header(skb);
	struct sk_buff *held;
	unsigned int length;

	if (!header) {
		NAPI_GRO_CB(skb)->flush = 1;
		return NULL;
	}
	held = gro_find_held(held_list, header, offset);
	skb_gro_pull(skb, sizeof(*header));
	length = skb_gro_len(skb);
	if (!held)
		return NULL;
	if (NAPI_GRO_CB(skb)->flush ||
	    !gro_continues(held, (const void *)(held->data + offset), skb_gro_offset(skb),
			   header, length) ||
	    !gro_append(held, skb))
		return held;
	/* Only the last frame of an skb is shorter than the others. */
	return length < skb_shinfo(held)->gso_size ? held : NULL;
}

/* For skbs of at least two frames. */
int omx_gro_complete(struct sk_buff *skb, int offset)
{
	struct response_header *header = (void *)(skb->data + offset);

	header->head.length = cpu_to_be16(skb->len - offset);
	skb_set_network_header(skb, offset);
	omx_gso_mark(skb, skb_shinfo(skb)->gso_size, NAPI_GRO_CB(skb)->count);
	return 0;
}

/* Freeing all at once would not keep the heads for the next frames. */
void omx_gro_free_merged(struct sk_buff *skb)
{
	struct sk_buff *frame, *next;

	if (skb_cloned(skb))
		return;
	frame = skb_shinfo(skb)->frag_list;
	skb_frag_list_init(skb);
	for (; frame; frame = next) {
		next = frame->next;	/* which another holder of the frames may need, too */
		napi_consume_skb(frame, 1);
	}
}
