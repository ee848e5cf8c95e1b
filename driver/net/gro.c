// SPDX-License-Identifier: GPL-2.0
/*
 * GRO: consecutive frames of a pull, and consecutive packets of an eager message, that a
 * device receives in one NAPI poll become one skb, so that they are validated, looked up,
 * locked and copied once.  Pairs with gso.c, whose fields a merged skb has, so that it may
 * be forwarded as well.  TCP segments with our Ethertype are merged by gro_segments.c.
 *
 * The network stack calls omx_gro_receive() and omx_gro_complete() in softirq, for frames
 * of our Ethertype on any interface, whether it is a board or not.
 */
#include <linux/delay.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <net/gro.h>

#include "net/gso_skb.h"
#include "net/gso_private.h"
#include "net/tcp_segments.h"
#include "net/tso_packet.h"
#include "omx_wire.h"

/* ms: NAPI holds frames for gro_flush_timeout of the interface, and for a tick. */
#define HELD_FOR_MS	50

static bool gro_has_stopped;

struct response_header {
	struct omx_wire_head head;
	struct omx_wire_pull_response body;
} __packed;

struct eager_header {
	struct omx_wire_head head;
	struct omx_wire_eager body;
} __packed;

static_assert(sizeof(struct response_header) == OMX_PULL_RESPONSE_HEADER);
static_assert(sizeof(struct eager_header) == OMX_EAGER_HEADER);
static_assert(OMX_PULL_RESPONSE_HEADER <= OMX_EAGER_HEADER);
static_assert(OMX_EAGER_HEADER <= OMX_TSO_HEADERS_MIN);

/* ---- what may be merged ---- */

static bool gro_is_same_peer(const struct omx_wire_head *a, const struct omx_wire_head *b)
{
	return a->type == b->type && a->dst_endpoint == b->dst_endpoint &&
	       a->src_endpoint == b->src_endpoint && a->dst_session == b->dst_session &&
	       a->src_session == b->src_session;
}

/* Nothing but the offset and the length may differ between frames of one skb. */
static bool gro_is_same_pull(const struct response_header *a, const struct response_header *b)
{
	return a->body.pull == b->body.pull && a->body.flags == b->body.flags;
}

/* The same, and the number and the flags. */
static bool gro_is_same_message(const struct eager_header *a, const struct eager_header *b)
{
	const struct omx_wire_sequence *one = &a->body.sequence, *other = &b->body.sequence;

	return a->body.match_info == b->body.match_info &&
	       a->body.msg_length == b->body.msg_length && one->flow == other->flow &&
	       one->ack_flow == other->ack_flow && one->ack == other->ack &&
	       one->window == other->window && one->performed == other->performed;
}

/* Is this the last packet of a message? */
static bool eager_ends(const struct eager_header *header, u32 payload)
{
	return be32_to_cpu(header->body.offset) + payload >= be32_to_cpu(header->body.msg_length);
}

/* A frame's header, which may be in a page that others write to: the type is read once. */
struct gro_header {
	const void *start;		/* struct omx_wire_head, and what its type adds */
	unsigned int length;
	bool is_eager;
};

/* `head` is that of the frame.  False: it is not of a type that is merged. */
static bool gro_get_header(struct sk_buff *skb, const struct omx_wire_head *head,
			   struct gro_header *header)
{
	u8 type;

	if (head->version != OMX_WIRE_VERSION)
		return false;
	type = READ_ONCE(head->type);
	header->start = head;
	header->length = omx_gso_header_length(type);
	header->is_eager = type == OMX_WIRE_EAGER;
	/* With padding: it is delivered by itself, behind those that are held. */
	if (be16_to_cpu(head->length) != skb_gro_len(skb))
		NAPI_GRO_CB(skb)->flush = 1;
	return header->length;
}

/*
 * Most messages are short.  And TCP segments of the same channel with the Ethertype of IPv4, which
 * GRO holds by itself, must not overtake frames.
 */
static bool eager_stays_alone(const struct eager_header *header, unsigned int payload)
{
	return (!header->body.offset && eager_ends(header, payload)) || omx_tso_arrives();
}

/*
 * Packets of one channel stay in their order, so those of other messages, and what cannot be
 * merged with them, have the held ones delivered first.  The order of responses is nothing
 * to anybody.
 */
static bool gro_is_same_flow(const struct sk_buff *skb, const struct gro_header *header,
			     unsigned int offset)
{
	const void *held = skb->data + offset;

	if (omx_gro_is_segment(held))
		return header->is_eager && skb_headlen(skb) >= offset + OMX_TSO_HEADERS_MIN &&
		       omx_gro_is_of_channel(held, header->start);
	return gro_is_same_peer(held, header->start) &&
	       (header->is_eager || gro_is_same_pull(held, header->start));
}

/* The held skb that this frame follows, or NULL.  The others are of other flows. */
static struct sk_buff *gro_find_held(struct list_head *held, const struct gro_header *header,
				     unsigned int offset)
{
	struct sk_buff *found = NULL;
	struct sk_buff *skb;

	list_for_each_entry(skb, held, list) {
		if (!NAPI_GRO_CB(skb)->same_flow)
			continue;
		if (gro_is_same_flow(skb, header, offset))
			found = skb;
		else
			NAPI_GRO_CB(skb)->same_flow = 0;
	}
	return found;
}

static bool eager_follows(const struct eager_header *first, const struct eager_header *header,
			  u32 packets, u32 bytes)
{
	return gro_is_same_message(first, header) &&
	       be32_to_cpu(first->body.sequence.seq) + packets ==
	       be32_to_cpu(header->body.sequence.seq) &&
	       be32_to_cpu(first->body.offset) + bytes == be32_to_cpu(header->body.offset);
}

static bool response_follows(const struct response_header *first,
			     const struct response_header *header, u32 bytes)
{
	return be64_to_cpu(first->body.offset) + bytes == be64_to_cpu(header->body.offset);
}

/* Does this frame continue the held ones, and is no longer than each of them? */
static bool gro_continues(const struct sk_buff *held, unsigned int offset,
			  const struct gro_header *header, unsigned int length)
{
	unsigned int held_length = held->len - offset - header->length;
	const void *first = held->data + offset;

	if (omx_gro_is_segment(first) || skb_headlen(held) < offset + header->length ||
	    length > skb_shinfo(held)->gso_size ||
	    header->length + held_length + length > U16_MAX)
		return false;
	if (header->is_eager)
		return eager_follows(first, header->start, NAPI_GRO_CB(held)->count, held_length);
	return response_follows(first, header->start, held_length);
}

/* ---- merging ---- */

/* False: this frame goes on by itself, behind the held ones. */
static bool gro_merge(struct sk_buff *held, struct sk_buff *skb, const struct gro_header *header,
		      unsigned int offset)
{
	struct eager_header *first = (void *)(held->data + offset);
	u8 flags = 0;

	if (NAPI_GRO_CB(skb)->flush || !gro_continues(held, offset, header, skb_gro_len(skb)))
		return false;
	if (header->is_eager)	/* the header may move */
		flags = ((const struct eager_header *)header->start)->body.sequence.flags;
	if (!omx_gro_append(held, skb))
		return false;
	if (header->is_eager)
		first->body.sequence.flags = omx_burst_flags(first->body.sequence.flags, flags);
	return true;
}

/* Nothing can follow: the last frame is shorter than the others, or ends the message. */
static bool gro_is_complete(const struct sk_buff *held, unsigned int offset,
			    const struct gro_header *header, unsigned int length)
{
	return length < skb_shinfo(held)->gso_size ||
	       (header->is_eager && eager_ends((const void *)(held->data + offset),
					       held->len - offset - header->length));
}

/* The header that all have which are merged.  NULL: the frame is hardly longer. */
static const void *gro_start(struct sk_buff *skb)
{
	const unsigned int offset = skb_gro_offset(skb);

	if (skb_gro_len(skb) <= OMX_EAGER_HEADER)
		return NULL;
	return skb_gro_header(skb, offset + OMX_EAGER_HEADER, offset);
}

struct sk_buff *omx_gro_receive(struct list_head *held_list, struct sk_buff *skb)
{
	const unsigned int offset = skb_gro_offset(skb);
	const void *start = gro_start(skb);
	struct gro_header header;
	struct sk_buff *held;
	unsigned int length;

	/* If it comes in one piece, or others have it, what they see must not change. */
	if (skb_is_gso(skb) || skb_cloned(skb) || unlikely(READ_ONCE(gro_has_stopped)))
		NAPI_GRO_CB(skb)->flush = 1;
	if (start && omx_gro_is_segment(start))
		return omx_gro_receive_segment(held_list, skb);
	if (!start || !gro_get_header(skb, start, &header)) {
		NAPI_GRO_CB(skb)->flush = 1;
		return NULL;
	}
	length = skb_gro_len(skb) - header.length;
	held = gro_find_held(held_list, &header, offset);
	if (header.is_eager && eager_stays_alone(header.start, length))
		NAPI_GRO_CB(skb)->flush = 1;
	skb_gro_pull(skb, header.length);
	if (!held) {
		if (header.is_eager && eager_ends(header.start, length))
			NAPI_GRO_CB(skb)->flush = 1;
		return NULL;
	}
	if (!gro_merge(held, skb, &header, offset))
		return held;
	return gro_is_complete(held, offset, &header, length) ? held : NULL;
}

/* For skbs of at least two frames. */
int omx_gro_complete(struct sk_buff *skb, int offset)
{
	struct omx_wire_head *head = (void *)(skb->data + offset);

	if (omx_gro_is_segment(head)) {
		omx_gro_complete_segment(skb, offset);
		return 0;
	}
	head->length = cpu_to_be16(skb->len - offset);
	skb_set_network_header(skb, offset);
	omx_gso_mark(skb, omx_gso_header_length(head->type), skb_shinfo(skb)->gso_size,
		     NAPI_GRO_CB(skb)->count);
	return 0;
}

void omx_gro_stop(void)
{
	WRITE_ONCE(gro_has_stopped, true);
	synchronize_net();	/* whoever has not seen that holds its frame by now */
	msleep(HELD_FOR_MS);
}
