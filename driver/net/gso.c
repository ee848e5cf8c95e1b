// SPDX-License-Identifier: GPL-2.0
/*
 * GSO: several frames travel to the device in one skb.
 *
 * pull/respond.c and eager/burst.c mark such an skb, in softirq or process context.  The
 * network stack calls gso_segment() if the device does not forward it whole.
 */
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <net/sock.h>

#include "compat.h"
#include "net/board.h"
#include "net/frame.h"
#include "net/gso_skb.h"
#include "net/gso_frames.h"
#include "net/gso_private.h"
#include "net/tx_page_pool.h"
#include "omx_wire.h"

#define GSO_FEATURES	(NETIF_F_SG | NETIF_F_GSO)

u32 omx_gso_frames(struct omx_board *board, u64 mac, u32 frame_length)
{
	if (READ_ONCE(board->detaching) ||
	    (board->dev->features & GSO_FEATURES) != GSO_FEATURES ||
	    omx_peer_udp_path(board, mac))
		return 1;
	return omx_gso_frames_max(frame_length);
}

bool omx_gso_is_passed_on(const struct omx_board *board)
{
	return board->dev->features & NETIF_F_GSO_FRAGLIST;
}

void omx_gso_mark(struct sk_buff *skb, u32 header_length, u32 frame_length, u32 frames)
{
	skb_shinfo(skb)->gso_size = frame_length;
	skb_shinfo(skb)->gso_segs = frames;
	skb_shinfo(skb)->gso_type |= OMX_GSO_TYPE;	/* beside that of a tunnel */
	skb->ip_summed = CHECKSUM_UNNECESSARY;	/* frames have no checksum */
	/*
	 * The stack computes the length of one frame from where the headers end.
	 * An IP tunnel drops the skb if that seems to exceed the path MTU.
	 */
	skb_set_transport_header(skb, skb_network_offset(skb) + header_length);
}

/* ---- headers ---- */

static void gso_fix_response(struct omx_wire_pull_response *response, u32 before)
{
	be64_add_cpu(&response->offset, before);
}

static void gso_fix_eager(struct omx_wire_eager *eager, u32 before, u32 i, bool is_last)
{
	be32_add_cpu(&eager->offset, before);
	be32_add_cpu(&eager->sequence.seq, i);
	if (!is_last)
		eager->sequence.flags = omx_burst_flags_inside(eager->sequence.flags);
}

/*
 * The header of each frame says where its part of the payload belongs: `before` bytes and i
 * frames behind what it says so far.
 */
static void gso_fix_header(struct sk_buff *frame, u32 mac_length, u32 before, u32 i)
{
	struct omx_wire_head *head = (void *)(skb_mac_header(frame) + mac_length);

	skb_set_network_header(frame, mac_length);
	skb_reset_mac_len(frame);
	head->length = cpu_to_be16(frame->len - mac_length);
	if (head->type == OMX_WIRE_EAGER)
		gso_fix_eager((void *)(head + 1), before, i, !frame->next);
	else
		gso_fix_response((void *)(head + 1), before);
}

/* The same for TCP segments with our Ethertype, whose checksums nobody looks at. */
static void gso_fix_segment(struct sk_buff *segment, u32 mac_length, u32 before)
{
	struct omx_tso_headers *headers = (void *)(skb_mac_header(segment) + mac_length);

	skb_set_network_header(segment, mac_length);
	skb_reset_mac_len(segment);
	headers->ip.tot_len = cpu_to_be16(segment->len - mac_length);
	be32_add_cpu(&headers->tcp.seq, before);
}

/* Of several frames or segments, in the linear part; 0: neither. */
static u32 gso_pull_header(struct sk_buff *skb)
{
	u32 header;

	if (!pskb_may_pull(skb, sizeof(struct omx_wire_head)))
		return 0;
	if (!omx_gro_is_segment(skb->data))
		header = omx_gso_header_length(((const struct omx_wire_head *)skb->data)->type);
	else if (pskb_may_pull(skb, OMX_TSO_HEADERS_MIN))
		header = omx_gso_segment_header_length((const void *)skb->data);
	else
		return 0;
	return pskb_may_pull(skb, header) ? header : 0;
}

/* ---- of page fragments ---- */

/* What skb_segment() would make heads for, which take longer than everything else here. */
static bool gso_is_plain(struct sk_buff *skb, u32 header, netdev_features_t features)
{
	return skb_headlen(skb) == header && !skb_has_frag_list(skb) &&
	       skb_shinfo(skb)->gso_type == OMX_GSO_TYPE && features & NETIF_F_SG &&
	       !skb_zcopy(skb);
}

/* The next bytes of the payload. */
struct gso_payload {
	const skb_frag_t *frag;
	u32 offset;		/* in it */
	u32 left;		/* of all */
};

static void gso_attach(struct sk_buff *frame, struct gso_payload *payload, u32 length)
{
	u32 n;

	frame->len += length;
	frame->data_len += length;
	frame->truesize += length;
	payload->left -= length;
	for (; length; length -= n) {
		const skb_frag_t *frag = payload->frag;

		n = min(length, skb_frag_size(frag) - payload->offset);
		get_page(skb_frag_page(frag));
		skb_fill_page_desc(frame, skb_shinfo(frame)->nr_frags, skb_frag_page(frag),
				   skb_frag_off(frag) + payload->offset, n);
		payload->offset += n;
		if (payload->offset == skb_frag_size(frag)) {
			payload->offset = 0;
			payload->frag++;
		}
	}
}

/* Those of skb at the same place, with what tunnels have put in front of them. */
static struct sk_buff *gso_make_headers(const struct sk_buff *skb)
{
	const unsigned int headroom = skb_mac_header(skb) - skb->head;
	const unsigned int length = skb_tail_pointer(skb) - skb_mac_header(skb);
	struct sk_buff *frame = omx_page_pool_skb(headroom + length, GFP_ATOMIC | __GFP_NOWARN);

	if (!frame)
		return NULL;
	skb_reserve(frame, headroom);
	__skb_put(frame, length);
	memcpy(frame->head, skb->head, headroom + length);
	skb_copy_header(frame, skb);
	skb_shinfo(frame)->gso_size = 0;
	skb_shinfo(frame)->gso_segs = 0;
	skb_shinfo(frame)->gso_type = 0;
	skb_shinfo(frame)->flags |= skb_shinfo(skb)->flags & SKBFL_SHARED_FRAG;
	return frame;
}

/* The last frame is charged to the sender instead of all, as skb_segment() does it. */
static void gso_pass_owner_on(struct sk_buff *skb, struct sk_buff *last)
{
	if (skb->destructor != sock_wfree)
		return;
	swap(last->truesize, skb->truesize);
	swap(last->destructor, skb->destructor);
	swap(last->sk, skb->sk);
}

static struct sk_buff *gso_segment_plain(struct sk_buff *skb)
{
	struct gso_payload payload = {
		.frag = skb_shinfo(skb)->frags,
		.left = skb->data_len,
	};
	struct sk_buff *frame, *first = NULL, **end = &first;

	local_bh_disable();
	do {
		frame = gso_make_headers(skb);
		if (!frame)
			break;
		gso_attach(frame, &payload, min_t(u32, payload.left, skb_shinfo(skb)->gso_size));
		*end = frame;
		end = &frame->next;
	} while (payload.left);
	local_bh_enable();
	if (!frame) {
		kfree_skb_list(first);
		return ERR_PTR(-ENOMEM);
	}
	first->prev = frame;		/* the callers look for it there */
	gso_pass_owner_on(skb, frame);
	return first;
}

/* ---- of any kind ---- */

static struct sk_buff *gso_segment_any(struct sk_buff *skb, u32 header,
				       netdev_features_t features)
{
	__skb_pull(skb, header);
	/* Nothing needs a checksum of the payload, except a tunnel that has one. */
	if (!skb->encap_hdr_csum)
		features |= NETIF_F_HW_CSUM;
	return skb_segment(skb, features);
}

/*
 * skb->data is behind the Ethernet header, which may include the tag of a VLAN.
 * A tunnel may have added GSO types of its own.
 */
static struct sk_buff *gso_segment(struct sk_buff *skb, netdev_features_t features)
{
	u32 size = skb_shinfo(skb)->gso_size, i = 0;
	struct sk_buff *frames, *frame;
	u32 header, mac_length;
	bool is_segment;

	header = omx_gso_is_ours(skb) ? gso_pull_header(skb) : 0;
	if (!header)
		return ERR_PTR(-EINVAL);
	is_segment = omx_gro_is_segment(skb->data);
	mac_length = skb->data - skb_mac_header(skb);
	if (gso_is_plain(skb, header, features))
		frames = gso_segment_plain(skb);
	else
		frames = gso_segment_any(skb, header, features);
	if (IS_ERR(frames))
		return frames;
	for (frame = frames; frame; frame = frame->next, i++)
		if (is_segment)
			gso_fix_segment(frame, mac_length, i * size);
		else
			gso_fix_header(frame, mac_length, i * size, i);
	return frames;
}

static struct packet_offload gso_offload = {
	.callbacks = {
		.gso_segment = gso_segment,
		.gro_receive = omx_gro_receive,
		.gro_complete = omx_gro_complete,
	},
};

void omx_gso_init(void)
{
	gso_offload.type = cpu_to_be16(omx_ethertype);
	dev_add_offload(&gso_offload);
}

void omx_gso_exit(void)
{
	/* The network stack would warn of frames whose type is gone, and drop them. */
	omx_gro_stop();
	dev_remove_offload(&gso_offload);
}
