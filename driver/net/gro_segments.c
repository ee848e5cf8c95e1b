// SPDX-License-Identifier: GPL-2.0
/*
 * GRO of TCP segments with our Ethertype: those that a NIC has made of one packet become one
 * again, which tso_receive.c turns into frames, or gso.c into segments if it is forwarded.  The
 * network stack does the same with segments that have the Ethertype of IPv4.
 *
 * gro.c calls these, in softirq.
 */
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <net/gro.h>

#include "net/gso_private.h"
#include "net/gso_skb.h"
#include "net/tso_packet.h"

struct gro_segment {
	const struct omx_tso_headers *headers;
	u32 header_length;
	u32 payload;
	u32 end;			/* of the payload, in that of the packet */
	bool is_padded;
};

/* At the offset of GRO.  False: nothing that is merged. */
static bool segment_get(struct sk_buff *skb, struct gro_segment *segment)
{
	const unsigned int offset = skb_gro_offset(skb), length = skb_gro_len(skb);
	const struct omx_tso_headers *headers;

	if (length < OMX_TSO_HEADERS_MIN)
		return false;
	headers = skb_gro_header(skb, offset + OMX_TSO_HEADERS_MIN, offset);
	segment->header_length = headers ? omx_gso_segment_header_length(headers) : 0;
	if (!segment->header_length || length < segment->header_length)
		return false;
	headers = skb_gro_header(skb, offset + segment->header_length, offset);
	if (!headers)
		return false;
	segment->headers = headers;
	segment->payload = length - segment->header_length;
	segment->end = be32_to_cpu(headers->tcp.seq) + segment->payload;
	segment->is_padded = be16_to_cpu(headers->ip.tot_len) != length;
	/* It is delivered by itself, behind those that are held. */
	if (segment->is_padded)
		NAPI_GRO_CB(skb)->flush = 1;
	return true;
}

/* The last one that the NIC has made of its packet? */
static bool segment_ends_packet(const struct gro_segment *segment)
{
	const u32 window = be16_to_cpu(segment->headers->tcp.window);

	return segment->end > (OMX_WIRE_TSO_SEGMENTS(window) - 1) * OMX_WIRE_TSO_PAYLOAD(window);
}

bool omx_gro_is_of_channel(const void *segment, const struct omx_wire_head *frame)
{
	const struct omx_tso_headers *headers = segment;

	return headers->option.type == frame->type &&
	       headers->option.dst_endpoint == frame->dst_endpoint &&
	       headers->option.src_session == frame->src_session &&
	       headers->tcp.ack_seq == frame->dst_session;
}

static bool segment_is_of_channel(const struct omx_tso_headers *held,
				  const struct omx_tso_headers *headers)
{
	return held->option.type == headers->option.type &&
	       held->option.dst_endpoint == headers->option.dst_endpoint &&
	       held->option.src_session == headers->option.src_session &&
	       held->tcp.ack_seq == headers->tcp.ack_seq;
}

static bool held_is_of_channel(const struct sk_buff *skb, const struct omx_tso_headers *headers,
			       unsigned int offset)
{
	const void *held = skb->data + offset;

	if (!omx_gro_is_segment(held))
		return omx_gro_is_of_channel(headers, held);
	return skb_headlen(skb) >= offset + OMX_TSO_HEADERS_MIN &&
	       segment_is_of_channel(held, headers);
}

/*
 * The last one of this channel that is held, or NULL.  There is no other one with packets of
 * eager messages, whose order matters.
 */
static struct sk_buff *segment_find_held(struct list_head *held_list,
					 const struct omx_tso_headers *headers,
					 unsigned int offset)
{
	struct sk_buff *skb;

	list_for_each_entry(skb, held_list, list)
		if (NAPI_GRO_CB(skb)->same_flow && held_is_of_channel(skb, headers, offset))
			return skb;
	return NULL;
}

/* What segment_is_of_channel() has not compared. */
static bool segment_has_option_of(const struct omx_wire_tso *held,
				  const struct omx_wire_tso *option)
{
	return held->kind == option->kind && held->option_length == option->option_length &&
	       held->experiment == option->experiment && held->version == option->version;
}

static bool segment_has_response_of(const void *held, const void *body)
{
	const struct omx_wire_pull_response *a = held, *b = body;

	return a->offset == b->offset && a->pull == b->pull && a->flags == b->flags;
}

/* By the length, since a type in a page may change. */
static bool segment_has_body_of(const struct omx_tso_headers *held,
				const struct gro_segment *segment)
{
	const u32 length = segment->header_length - OMX_TSO_HEADERS_MIN;

	if (length == sizeof(struct omx_wire_pull_response))
		return segment_has_response_of(held->body, segment->headers->body);
	return !memcmp(held->body, segment->headers->body, length);
}

/*
 * Nothing but the lengths, the sequence number and the checksums differs in one packet.  Of the
 * others, tso_receive.c looks at those of the first segment.
 */
static bool segment_is_of_packet(const struct omx_tso_headers *held,
				 const struct gro_segment *segment)
{
	const struct omx_tso_headers *headers = segment->headers;

	return held->tcp.source == headers->tcp.source && held->tcp.dest == headers->tcp.dest &&
	       held->tcp.doff == headers->tcp.doff && held->tcp.window == headers->tcp.window &&
	       segment_has_option_of(&held->option, &headers->option) &&
	       segment_has_body_of(held, segment);
}

/* Does this segment follow the held ones, and is no longer than each of them? */
static bool segment_continues(const struct sk_buff *held, unsigned int offset,
			      const struct gro_segment *segment)
{
	const struct omx_tso_headers *first = (const void *)(held->data + offset);
	const u32 held_payload = held->len - offset - segment->header_length;

	return omx_gro_is_segment(first) &&
	       skb_headlen(held) >= offset + segment->header_length &&
	       segment_is_of_packet(first, segment) &&
	       be32_to_cpu(first->tcp.seq) + held_payload + segment->payload == segment->end &&
	       segment->payload <= skb_shinfo(held)->gso_size &&
	       held->len - offset + segment->payload <= U16_MAX;
}

/*
 * Some NICs, such as the e1000 that QEMU emulates, let an empty one follow a packet that full
 * ones have taken.  It says nothing.  tso_receive.c drops those that do not come by GRO.
 */
static bool segment_says_nothing(const struct gro_segment *segment)
{
	return !segment->payload && !segment->is_padded;
}

struct sk_buff *omx_gro_receive_segment(struct list_head *held_list, struct sk_buff *skb)
{
	const unsigned int offset = skb_gro_offset(skb);
	struct gro_segment segment;
	struct sk_buff *held;
	bool is_last;

	if (!segment_get(skb, &segment)) {
		NAPI_GRO_CB(skb)->flush = 1;
		return NULL;
	}
	/* The callback of a protocol around ours may look at it again. */
	if (!offset && segment_says_nothing(&segment)) {
		napi_consume_skb(skb, 1);
		return ERR_PTR(-EINPROGRESS);
	}
	held = segment_find_held(held_list, segment.headers, offset);
	is_last = segment_ends_packet(&segment);	/* the headers may move */
	skb_gro_pull(skb, segment.header_length);
	if (held && !NAPI_GRO_CB(skb)->flush && segment_continues(held, offset, &segment) &&
	    omx_gro_append(held, skb))
		return is_last ? held : NULL;
	/* Nothing can follow it. */
	NAPI_GRO_CB(skb)->flush |= is_last;
	return held;
}

void omx_gro_complete_segment(struct sk_buff *skb, unsigned int offset)
{
	struct omx_tso_headers *headers = (void *)(skb->data + offset);

	headers->ip.tot_len = cpu_to_be16(skb->len - offset);
	skb_set_network_header(skb, offset);
	omx_gso_mark(skb, omx_tso_headers_length(headers->option.type),
		     skb_shinfo(skb)->gso_size, NAPI_GRO_CB(skb)->count);
}
