// SPDX-License-Identifier: GPL-2.0
/*
 * Sending eager messages: the program's data is copied into frames at once, that of a short
 * message behind another one if that has not left yet.
 *
 * chardev.c calls omx_send_eager() for OMX_IOC_SEND, in process context.
 */
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "channel/channel.h"
#include "channel/cork.h"
#include "channel/send.h"
#include "eager/bundle.h"
#include "eager/burst.h"
#include "eager/eager_send.h"
#include "endpoint/endpoint.h"
#include "endpoint/user_buffer.h"
#include "net/board.h"
#include "net/frame.h"

struct message {
	struct omx_channel *ch;
	struct omx_buffer_iter data;
	u64 match_info;
	u32 length;
	u32 frame_payload;		/* of several frames */
	bool fits_frame;		/* it needs only one */
	bool may_join;			/* it may travel together with others */
	u32 room;			/* of a packet that it waits in for others, else 0 */
	bool has_room;			/* in its packet, or burst, for another one */
};

static u32 message_mtu(const struct message *message)
{
	return message->frame_payload + OMX_EAGER_HEADER;
}

/* Will it wait for others?  A hint, which is looked at again when the packet is queued. */
static bool message_will_wait(const struct message *message)
{
	const struct omx_channel *ch = message->ch;

	/* Without the lock. */
	return !skb_queue_empty_lockless(&ch->pending) || data_race(omx_cork_is_wanted(ch));
}

/* Or without more room, if there is no memory for that in one piece. */
static struct sk_buff *message_make_roomy(const struct message *message, u32 length, u32 room)
{
	struct sk_buff *skb = omx_channel_packet(message->ch, OMX_WIRE_EAGER, room, GFP_KERNEL);

	if (!skb || skb_is_nonlinear(skb)) {
		kfree_skb(skb);
		return omx_channel_packet(message->ch, OMX_WIRE_EAGER, length, GFP_KERNEL);
	}
	__skb_trim(skb, ETH_HLEN + OMX_EAGER_HEADER + length);
	omx_packet_head(skb)->length = cpu_to_be16(OMX_EAGER_HEADER + length);
	return skb;
}

static struct sk_buff *message_make_fragment(const struct message *message,
					     u32 offset, u32 length)
{
	struct omx_wire_eager *eager;
	struct sk_buff *skb;

	if (message->room)
		skb = message_make_roomy(message, length, message->room);
	else
		skb = omx_channel_packet(message->ch, OMX_WIRE_EAGER, length, GFP_KERNEL);
	if (!skb)
		return NULL;
	eager = omx_packet_body(skb);
	eager->match_info = cpu_to_be64(message->match_info);
	eager->msg_length = cpu_to_be32(message->length);
	eager->offset = cpu_to_be32(offset);
	return skb;
}

static struct sk_buff *message_make_burst(const struct message *message)
{
	struct omx_wire_eager *eager;
	struct sk_buff *burst;

	burst = omx_burst_make(message->ch, message->length, message->frame_payload);
	if (!burst)
		return NULL;
	eager = omx_packet_body(burst);
	eager->match_info = cpu_to_be64(message->match_info);
	eager->msg_length = cpu_to_be32(message->length);
	return burst;
}

static int message_make_fragments(struct message *message, struct sk_buff_head *packets)
{
	u32 most = message->fits_frame ? message->length : message->frame_payload;
	u32 offset = 0;

	do {
		u32 length = min(message->length - offset, most);
		struct sk_buff *skb = message_make_fragment(message, offset, length);
		int error;

		if (!skb)
			return -ENOMEM;
		__skb_queue_tail(packets, skb);
		error = omx_buffer_read_skb(&message->data, skb, ETH_HLEN + OMX_EAGER_HEADER,
					    length);
		if (error)
			return error;
		offset += length;
	} while (offset < message->length);
	return 0;
}

/* A bundle of this message, to which others can be added.  NULL: it is to go by itself. */
static struct sk_buff *message_make_bundle(struct message *message)
{
	struct sk_buff *bundle;

	if (!message->may_join || !message_will_wait(message))
		return NULL;
	bundle = omx_bundle_make_long(message->ch, message->frame_payload, message->match_info,
				      &message->data, message->length);
	if (!bundle)
		message->room = omx_bundle_room(message->length, message_mtu(message));
	message->has_room = bundle || message->room;
	return bundle;
}

static int message_make_packets(struct message *message, struct sk_buff_head *packets)
{
	struct sk_buff *burst = message_make_bundle(message);

	if (IS_ERR(burst))
		return PTR_ERR(burst);
	if (burst) {
		__skb_queue_tail(packets, burst);
		return 0;
	}
	if (!message->fits_frame)
		burst = message_make_burst(message);
	if (!burst)
		return message_make_fragments(message, packets);
	__skb_queue_tail(packets, burst);
	return omx_buffer_read_skb(&message->data, burst, ETH_HLEN + OMX_EAGER_HEADER,
				   message->length);
}

/* Adds it to the packet that waits at the end of the queue, if there is one with room. */
static bool message_bundle(struct message *message)
{
	struct omx_channel *ch = message->ch;
	bool added;

	if (!message->may_join || skb_queue_empty_lockless(&ch->pending))
		return false;
	spin_lock_bh(&ch->lock);
	added = omx_bundle_add(ch, message_mtu(message), message->match_info, &message->data,
			       message->length);
	if (added)
		omx_traffic_add(&ch->sent, 1, message->length);
	spin_unlock_bh(&ch->lock);
	return added;
}

static int message_send(struct message *message)
{
	struct sk_buff_head packets;
	int error;

	if (message_bundle(message))
		return 0;
	__skb_queue_head_init(&packets);
	error = message_make_packets(message, &packets);
	if (!error)
		return omx_channel_send_message(message->ch, &packets, message->length,
						message->has_room);
	__skb_queue_purge(&packets);
	return error;
}

/* Multiples of 16 keep the peer's copies aligned. */
static u32 frame_payload(struct omx_channel *ch)
{
	return round_down(omx_channel_burst_mtu(ch) - OMX_EAGER_HEADER, 16);
}

long omx_send_eager(struct omx_endpoint *ep, void __user *arg)
{
	struct omx_ioc_send send;
	struct message message;
	long error;

	if (copy_from_user(&send, arg, sizeof(send)))
		return -EFAULT;
	if (send.reserved || send.buffer.length > OMX_MEDIUM_MAX)
		return -EINVAL;
	message.ch = omx_channel_get(ep, send.channel);
	if (!message.ch)
		return -ENOENT;
	error = -ENOTCONN;
	if (READ_ONCE(message.ch->dead))
		goto put_channel;
	error = -EMSGSIZE;
	if (READ_ONCE(message.ch->announce_only) && omx_endpoint_can_announce(ep)) {
		omx_count(ep->board, SEND_ANNOUNCED);
		goto put_channel;
	}
	error = -EAGAIN;
	if (!omx_channel_may_send(message.ch, send.buffer.length)) {
		omx_count(ep->board, SEND_FULL);
		goto put_channel;
	}
	error = omx_buffer_start(&message.data, &send.buffer, ITER_SOURCE);
	if (error)
		goto put_channel;
	message.match_info = send.match_info;
	message.length = send.buffer.length;
	message.frame_payload = frame_payload(message.ch);
	/* The MTU may change in between. */
	message.fits_frame = message.length <= max_t(u32, message.frame_payload,
						     omx_channel_mtu(message.ch) -
						     OMX_EAGER_HEADER);
	message.may_join = !message.data.segment && message.length <= OMX_WIRE_LONG_BUNDLED_MAX;
	message.room = 0;
	message.has_room = false;
	error = message_send(&message);
	omx_buffer_end(&message.data);
put_channel:
	omx_channel_put(message.ch);
	return error;
}
