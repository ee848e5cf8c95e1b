// SPDX-License-Identifier: GPL-2.0
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "buffer.h"
#include "channel.h"
#include "endpoint.h"
#include "iface.h"
#include "send.h"
#include "send_eager.h"

/* Payload up to here lies in the skb's head, more in chunks of the pool. */
#define LINEAR_MAX	128

#define CHUNK_ORDER	2
#define CHUNK_SIZE	(PAGE_SIZE << CHUNK_ORDER)

#define EAGER_HEADER	(sizeof(struct omx_wire_head) + sizeof(struct omx_wire_eager))

/* ---- chunks: pages that come back when the peer has acknowledged ---- */

/*
 * The oldest chunk if nobody refers to it any more, else a new one in its
 * place.  Frames hold references of their own, so a chunk that is still on
 * its way somewhere is simply left to them.
 */
static struct page *take_chunk(struct omx_tx_pool *pool)
{
	struct page **slot = &pool->page[pool->next];
	struct page *page;

	pool->next = (pool->next + 1) % OMX_TX_PAGES;
	if (*slot && page_ref_count(*slot) == 1)
		return *slot;
	page = alloc_pages(GFP_KERNEL | __GFP_COMP, CHUNK_ORDER);
	if (!page)
		return NULL;
	if (*slot)
		put_page(*slot);
	*slot = page;
	return page;
}

void omx_tx_pool_destroy(struct omx_tx_pool *pool)
{
	unsigned int i;

	for (i = 0; i < OMX_TX_PAGES; i++)
		if (pool->page[i])
			put_page(pool->page[i]);
}

static int add_chunks(struct omx_tx_pool *pool, struct sk_buff *skb,
		      struct omx_buffer_iter *data, u32 length)
{
	struct page *page;
	u32 piece;
	int error;

	for (; length; length -= piece) {
		piece = min_t(u32, length, CHUNK_SIZE);
		page = take_chunk(pool);
		if (!page)
			return -ENOMEM;
		error = omx_buffer_read(data, page_address(page), piece);
		if (error)
			return error;
		get_page(page);
		skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, page, 0, piece,
				CHUNK_SIZE);
	}
	return 0;
}

/* ---- messages ---- */

struct message {
	struct omx_channel *ch;
	struct omx_buffer_iter data;
	u64 match_info;
	u32 length;
	u32 frame_payload;
};

static struct sk_buff *make_fragment(const struct message *message, u32 offset,
				     u32 length)
{
	struct omx_wire_eager *eager;
	struct sk_buff *skb;
	u32 linear = length <= LINEAR_MAX ? length : 0;

	skb = omx_channel_packet(message->ch, OMX_WIRE_EAGER,
				 sizeof(*eager) + linear, GFP_KERNEL);
	if (!skb)
		return NULL;
	eager = omx_packet_body(skb);
	eager->match_info = cpu_to_be64(message->match_info);
	eager->msg_length = cpu_to_be32(message->length);
	eager->offset = cpu_to_be32(offset);
	omx_packet_head(skb)->length = cpu_to_be16(EAGER_HEADER + length);
	return skb;
}

static int fill_fragment(struct omx_endpoint *ep, struct sk_buff *skb,
			 struct omx_buffer_iter *data, u32 length)
{
	int error;

	if (length <= LINEAR_MAX)
		return omx_buffer_read(data, omx_packet_body(skb) +
				       sizeof(struct omx_wire_eager), length);
	mutex_lock(&ep->tx_lock);
	error = add_chunks(&ep->tx_pool, skb, data, length);
	mutex_unlock(&ep->tx_lock);
	return error;
}

static int make_packets(struct omx_endpoint *ep, struct message *message,
			struct sk_buff_head *packets)
{
	u32 offset = 0;

	do {
		u32 length = min(message->length - offset, message->frame_payload);
		struct sk_buff *skb = make_fragment(message, offset, length);
		int error;

		if (!skb)
			return -ENOMEM;
		__skb_queue_tail(packets, skb);
		error = fill_fragment(ep, skb, &message->data, length);
		if (error)
			return error;
		offset += length;
	} while (offset < message->length);
	return 0;
}

static int send_message(struct omx_endpoint *ep, struct message *message)
{
	struct sk_buff_head packets;
	int error;

	__skb_queue_head_init(&packets);
	error = make_packets(ep, message, &packets);
	if (!error)
		return omx_channel_send(message->ch, &packets);
	__skb_queue_purge(&packets);
	return error;
}

/* Multiples of 16 keep the peer's copies aligned. */
static u32 frame_payload(struct omx_channel *ch)
{
	return round_down(omx_channel_mtu(ch) - EAGER_HEADER, 16);
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
	error = -EAGAIN;
	if (!omx_channel_has_space(message.ch, send.buffer.length)) {
		omx_count(ep->iface, SEND_FULL);
		goto put_channel;
	}
	error = omx_buffer_start(&message.data, &send.buffer);
	if (error)
		goto put_channel;
	message.match_info = send.match_info;
	message.length = send.buffer.length;
	message.frame_payload = frame_payload(message.ch);
	error = send_message(ep, &message);
	omx_buffer_end(&message.data);
put_channel:
	omx_channel_put(message.ch);
	return error;
}
