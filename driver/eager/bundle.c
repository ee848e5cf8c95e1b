// SPDX-License-Identifier: GPL-2.0
/*
 * Bundles: see bundle.h.  eager_send.c adds messages, in process context; channels deliver
 * those that have arrived, mostly in softirq.
 */
#include <linux/align.h>
#include <linux/if_ether.h>
#include <linux/minmax.h>
#include <linux/skbuff.h>
#include <linux/string.h>

#include "channel/channel.h"
#include "eager/bundle.h"
#include "eager/eager_receive.h"
#include "endpoint/endpoint.h"
#include "endpoint/user_buffer.h"
#include "net/board.h"
#include "net/frame.h"
#include "net/gso_skb.h"

#define BUNDLE_HEADER	(sizeof(struct omx_wire_head) + sizeof(struct omx_wire_bundle))

/* A packet with one message becomes a bundle without being moved. */
static_assert(sizeof(struct omx_wire_eager) - offsetof(struct omx_wire_eager, match_info) ==
	      sizeof(struct omx_wire_bundled));
static_assert(offsetof(struct omx_wire_eager, msg_length) -
	      offsetof(struct omx_wire_eager, match_info) ==
	      offsetof(struct omx_wire_bundled, msg_length));
static_assert(BUNDLE_HEADER % OMX_WIRE_BUNDLE_ALIGN == 0);
/* The longest ones are not alone. */
static_assert(2 * (1 + OMX_WIRE_BUNDLED_MAX / OMX_SLOT_SIZE) <= OMX_PACKET_SLOTS_MAX);

/* ---- sending ---- */

static u32 bundle_align(u32 length)
{
	return ALIGN(length, OMX_WIRE_BUNDLE_ALIGN);
}

u32 omx_bundle_room(u32 length, u32 mtu)
{
	u32 message = bundle_align(sizeof(struct omx_wire_bundled) + length);
	u32 most;

	if (length > OMX_WIRE_BUNDLED_MAX || BUNDLE_HEADER + 2 * message > mtu)
		return 0;
	most = BUNDLE_HEADER + OMX_PACKET_SLOTS_MAX / omx_ring_slots(length) * message;
	return min(most, mtu) - OMX_EAGER_HEADER;
}

/* Is it a bundle, or can it become one? */
static bool packet_has_messages(const struct sk_buff *packet)
{
	const struct omx_wire_eager *eager = omx_packet_body(packet);
	u32 length;

	switch (omx_packet_head(packet)->type) {
	case OMX_WIRE_BUNDLE:
		return true;
	case OMX_WIRE_EAGER:
		length = be32_to_cpu(eager->msg_length);
		return length <= OMX_WIRE_BUNDLED_MAX &&
		       packet->len == ETH_HLEN + OMX_EAGER_HEADER + length;
	default:
		return false;
	}
}

/* Where another message begins, counted from the head of the frame. */
static u32 packet_end(const struct sk_buff *packet)
{
	return bundle_align(packet->len - ETH_HLEN);
}

static bool packet_has_room(const struct sk_buff *packet, u32 length)
{
	u32 used = packet->len - ETH_HLEN;

	return packet_end(packet) - used + sizeof(struct omx_wire_bundled) + length <=
	       skb_tailroom(packet);
}

bool omx_bundle_takes_another(const struct sk_buff *packet)
{
	const struct omx_wire_eager *eager = omx_packet_body(packet);

	return packet_has_messages(packet) &&
	       packet_has_room(packet, be32_to_cpu(eager->msg_length));
}

/* False: the program's memory cannot be read now. */
static bool packet_add(struct sk_buff *packet, u64 match_info, struct omx_buffer_iter *data,
		       u32 length)
{
	u32 end = packet_end(packet), used = packet->len - ETH_HLEN;
	struct omx_wire_head *head = omx_packet_head(packet);
	struct omx_wire_bundled *message = (void *)head + end;

	if (!omx_buffer_read_now(data, message + 1, length))
		return false;
	memset((void *)head + used, 0, end - used);
	*message = (struct omx_wire_bundled){
		.match_info = cpu_to_be64(match_info),
		.msg_length = cpu_to_be32(length),
	};
	used = end + sizeof(*message) + length;
	__skb_put(packet, ETH_HLEN + used - packet->len);
	head->type = OMX_WIRE_BUNDLE;
	head->length = cpu_to_be16(used);
	return true;
}

bool omx_bundle_add(struct omx_channel *ch, u32 mtu, u64 match_info, struct omx_buffer_iter *data,
		    u32 length)
{
	struct sk_buff *packet = skb_peek_tail(&ch->pending);
	u32 slots = omx_ring_slots(length);

	lockdep_assert_held(&ch->lock);
	if (!packet || omx_pending_cb(packet)->packets > 1 ||
	    !packet_has_messages(packet) || !packet_has_room(packet, length) ||
	    packet_end(packet) + sizeof(struct omx_wire_bundled) + length > mtu ||
	    omx_pending_cb(packet)->slots + slots > OMX_PACKET_SLOTS_MAX ||
	    !packet_add(packet, match_info, data, length))
		return false;
	omx_pending_cb(packet)->slots += slots;
	omx_pending_cb(packet)->messages++;
	WRITE_ONCE(ch->own_messages, ch->own_messages + 1);
	return true;
}

/* ---- receiving ---- */

/* The header of the message there.  False: its bytes are not all in the packet. */
static bool bundle_read(const struct sk_buff *skb, u32 at, struct omx_wire_bundled *message)
{
	u32 left = skb->len - at, length;

	if (left < sizeof(*message) || skb_copy_bits(skb, at, message, sizeof(*message)))
		return false;
	length = be32_to_cpu(message->msg_length);
	return length <= OMX_WIRE_BUNDLED_MAX && length <= left - sizeof(*message);
}

bool omx_receive_bundle(struct omx_channel *ch, struct sk_buff *skb, u32 *delivered)
{
	u32 at = BUNDLE_HEADER + *delivered;

	lockdep_assert_held(&ch->lock);
	while (at < skb->len) {
		struct omx_wire_bundled message;
		u32 length;

		if (!bundle_read(skb, at, &message)) {
			/* The peer violates the protocol: drop what follows. */
			omx_count(ch->ep->board, DROP_FRAGMENT);
			break;
		}
		length = be32_to_cpu(message.msg_length);
		if (!omx_eager_push(ch, be64_to_cpu(message.match_info), skb,
				    at + sizeof(message), length)) {
			*delivered = at - BUNDLE_HEADER;
			return false;
		}
		at = bundle_align(at + sizeof(message) + length);
	}
	omx_gro_free(skb);
	return true;
}
