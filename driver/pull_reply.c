// SPDX-License-Identifier: GPL-2.0
/*
 * The sender of a large message answers pull requests out of its region.
 */
#include "channel.h"
#include "endpoint.h"
#include "iface.h"
#include "offload.h"
#include "pull.h"
#include "region.h"
#include "rndv.h"
#include "send.h"

#define REPLY_HEADER \
	(sizeof(struct omx_wire_head) + sizeof(struct omx_wire_pull_reply))

/* What a request asks for, in the CPU's order. */
struct request {
	struct omx_region_cursor cursor;
	u64 offset;
	u32 length;
	u32 wanted;
	u32 frame_length;
	struct omx_packet_reply header;
	bool scatter;			/* the device sends page fragments as they are */
	u32 frames_max;			/* in one skb */
};

/* For devices that want their frames in one piece, and for many small segments. */
static struct sk_buff *copied_frame(struct request *request, u64 offset,
				    u32 length)
{
	struct sk_buff *skb = omx_packet_make_reply(&request->header, offset, length);

	if (skb && !omx_region_read(&request->cursor, offset,
				    skb->data + sizeof(request->header), length)) {
		kfree_skb(skb);
		skb = NULL;
	}
	return skb;
}

static struct sk_buff *scattered_frames(const struct request *request, u64 offset,
					u32 length)
{
	struct sk_buff *skb = omx_packet_make_reply(&request->header, offset, 0);

	if (!skb)
		return NULL;
	if (!omx_region_attach(request->cursor.region, offset, length, skb)) {
		kfree_skb(skb);
		return NULL;
	}
	omx_packet_head(skb)->length = cpu_to_be16(REPLY_HEADER + length);
	if (length > request->frame_length)
		omx_offload_mark(skb, request->frame_length,
				 DIV_ROUND_UP(length, request->frame_length));
	return skb;
}

/* How many frames from the first wanted one on may travel together. */
static u32 run_of(const struct request *request, u32 wanted)
{
	u32 run = ffz((u64)wanted >> __ffs(wanted));

	return min(run, request->frames_max);
}

/*
 * Sends frames from the first wanted one on; returns how many, 0: none could
 * be made.
 */
static u32 send_some(struct omx_iface *iface, struct request *request,
		     u32 wanted)
{
	u32 start = __ffs(wanted) * request->frame_length;
	u32 frames = request->scatter ? run_of(request, wanted) : 1;
	u64 offset = request->offset + start;
	struct sk_buff *skb = NULL;
	u32 length = 0;

	for (; request->scatter && !skb && frames; frames /= 2) {
		length = min(frames * request->frame_length, request->length - start);
		skb = scattered_frames(request, offset, length);
		if (skb)
			break;
	}
	if (!skb) {
		frames = 1;
		length = min(request->frame_length, request->length - start);
		skb = copied_frame(request, offset, length);
	}
	if (!skb)
		return 0;
	omx_packet_xmit(iface, skb);
	return frames;
}

/* At most OMX_BLOCK_FRAMES. */
static void reply(struct omx_iface *iface, struct request *request)
{
	u32 wanted = request->wanted;

	while (wanted) {
		u32 sent = send_some(iface, request, wanted);

		if (!sent) {
			omx_count(iface, DROP_NO_MEMORY);
			return;		/* the puller asks again */
		}
		for (; sent; sent--)
			wanted &= wanted - 1;
	}
}

static void refuse(struct omx_channel *ch, __be32 pull)
{
	struct omx_wire_nack *nack;
	struct sk_buff *skb;

	skb = omx_channel_packet(ch, OMX_WIRE_NACK, 0, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return;
	nack = omx_packet_body(skb);
	nack->status = OMX_STATUS_BAD_REGION;
	nack->type = OMX_WIRE_PULL;
	nack->pull = pull;
	omx_packet_xmit(ch->ep->iface, skb);
}

static void prepare(struct request *request, const struct omx_channel *ch,
		    const struct omx_wire_pull *body, struct omx_region *region)
{
	const struct omx_iface *iface = ch->ep->iface;

	request->header.start = ch->template;
	request->header.start.head.type = OMX_WIRE_PULL_REPLY;
	request->header.body.pull = body->pull;
	request->header.body.reserved = 0;
	omx_region_cursor_init(&request->cursor, region);
	request->offset = be64_to_cpu(body->offset);
	request->length = be32_to_cpu(body->length);
	request->wanted = be32_to_cpu(body->wanted);
	request->frame_length = be16_to_cpu(body->frame_length);
	request->scatter = omx_iface_has(iface, NETIF_F_SG);
	request->frames_max = omx_offload_frames(iface, request->frame_length);
}

void omx_pull_pkt(struct omx_iface *iface, struct omx_endpoint *ep,
		  struct sk_buff *skb)
{
	const struct omx_wire_pull *body = omx_packet_body(skb);
	struct omx_channel *ch = omx_channel_of(ep, skb);
	struct omx_region *region;
	struct request request;
	u64 length;

	if (!ch) {
		omx_count(iface, DROP_NO_CHANNEL);
		goto free;
	}
	WRITE_ONCE(ch->heard, jiffies);
	region = omx_rndv_region(ep, be32_to_cpu(body->message), ch, &length);
	if (!region) {
		omx_count(iface, DROP_PULL_REGION);
		refuse(ch, body->pull);
		goto free;
	}
	prepare(&request, ch, body, region);
	if (request.offset + request.length > length) {
		omx_count(iface, DROP_PULL_RANGE);
		refuse(ch, body->pull);
	} else if (request.frame_length + REPLY_HEADER > omx_channel_mtu(ch)) {
		/* The puller starts over when it hears of the MTU. */
		omx_count(iface, DROP_PULL_MTU);
		omx_peer_settle_mtu(iface, ch->mac);
	} else {
		reply(iface, &request);
	}
	omx_region_put(region);
free:
	consume_skb(skb);
}
