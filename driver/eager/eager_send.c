// SPDX-License-Identifier: GPL-2.0
/*
 * Sending eager messages: the program's data is copied into frames at once.
 *
 * chardev.c calls omx_send_eager() for OMX_IOC_SEND, in process context.
 */
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "channel/channel.h"
#include "channel/send.h"
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
	u32 frame_payload;
};

static struct sk_buff *message_make_fragment(const struct message *message,
					     u32 offset, u32 length)
{
	struct omx_wire_eager *eager;
	struct sk_buff *skb;

	skb = omx_channel_packet(message->ch, OMX_WIRE_EAGER, length, GFP_KERNEL);
	if (!skb)
		return NULL;
	eager = omx_packet_body(skb);
	eager->match_info = cpu_to_be64(message->match_info);
	eager->msg_length = cpu_to_be32(message->length);
	eager->offset = cpu_to_be32(offset);
	return skb;
}

static int message_make_packets(struct message *message, struct sk_buff_head *packets)
{
	u32 offset = 0;

	do {
		u32 length = min(message->length - offset, message->frame_payload);
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

static int message_send(struct message *message)
{
	struct sk_buff_head packets;
	int error;

	__skb_queue_head_init(&packets);
	error = message_make_packets(message, &packets);
	if (!error)
		return omx_channel_send_message(message->ch, &packets, message->length);
	__skb_queue_purge(&packets);
	return error;
}

/* Multiples of 16 keep the peer's copies aligned. */
static u32 frame_payload(struct omx_channel *ch)
{
	return round_down(omx_channel_mtu(ch) - OMX_EAGER_HEADER, 16);
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
	error = message_send(&message);
	omx_buffer_end(&message.data);
put_channel:
	omx_channel_put(message.ch);
	return error;
}
