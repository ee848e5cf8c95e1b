// SPDX-License-Identifier: GPL-2.0
/*
 * The ioctls that post small one-sided accesses, PUT, GET, ATOMIC and FLUSH: each checks
 * what the program wants and makes packets of it.  access.c sends them.
 *
 * chardev.c calls them in process context.  They refuse what no target would accept
 * as a valid frame (net/wire.c), because a sequenced packet that the target drops
 * would end the channel.
 */
#include <linux/kernel.h>
#include <linux/uaccess.h>

#include "channel/channel.h"
#include "endpoint/user_buffer.h"
#include "net/board.h"
#include "net/frame.h"
#include "onesided/access.h"
#include "onesided/access_order.h"

#define PUT_HEADER	(sizeof(struct omx_wire_head) + sizeof(struct omx_wire_put))
#define RESPONSE_HEADER	(sizeof(struct omx_wire_head) + sizeof(struct omx_wire_access_response))
#define PUT_STEP	16	/* multiples of it keep the target's copies aligned */

/* Each packet of a put brings some of its bytes. */
static_assert(OMX_MTU_MIN >= PUT_HEADER + PUT_STEP);

/* ---- PUT ---- */

/* The last packet asks the target to say that the put is done, and to tell its program. */
static void put_fill_last(struct omx_wire_put *body, const struct omx_ioc_put *ioc)
{
	body->flags |= OMX_PUT_LAST | OMX_PUT_ACK;
	if (!(ioc->flags & OMX_ACCESS_EVENT))
		return;
	body->flags |= OMX_PUT_EVENT;
	body->immediate = cpu_to_be64(ioc->immediate);
}

static int put_add_packet(const struct omx_access *access, const struct omx_ioc_put *ioc,
			  struct omx_buffer_iter *data, u32 length,
			  struct sk_buff_head *packets)
{
	u64 done = ioc->buffer.length - omx_buffer_left(data);
	struct omx_wire_put *body = omx_access_add_packet(access, length, packets);

	if (!body)
		return -ENOMEM;
	omx_key_write(&body->key, &ioc->key);
	body->offset = cpu_to_be64(ioc->offset + done);
	body->access = cpu_to_be32(access->id);
	body->length = cpu_to_be32(ioc->buffer.length);
	body->flags = done ? 0 : OMX_PUT_FIRST;
	if (done + length == ioc->buffer.length)
		put_fill_last(body, ioc);
	return omx_buffer_read_skb(data, skb_peek_tail(packets), ETH_HLEN + PUT_HEADER, length);
}

static int put_make_packets(const struct omx_access *access, const void *order,
			    struct sk_buff_head *packets)
{
	const struct omx_ioc_put *ioc = order;
	u32 most = round_down(omx_channel_mtu(access->ch) - PUT_HEADER, PUT_STEP);
	struct omx_buffer_iter data;
	int error;

	error = omx_buffer_start(&data, &ioc->buffer, ITER_SOURCE);
	if (error)
		return error;
	do {
		error = put_add_packet(access, ioc, &data,
				       min_t(u64, omx_buffer_left(&data), most), packets);
	} while (!error && omx_buffer_left(&data));
	omx_buffer_end(&data);
	return error;
}

int omx_access_order_put(struct omx_access_order *order, const struct omx_ioc_put *ioc)
{
	if (ioc->buffer.length > OMX_MEDIUM_MAX || ioc->flags & ~OMX_ACCESS_EVENT ||
	    (ioc->immediate && !(ioc->flags & OMX_ACCESS_EVENT)) ||
	    ioc->offset + ioc->buffer.length < ioc->offset)
		return -EINVAL;
	*order = (struct omx_access_order){
		.ioc = ioc,
		.make_packets = put_make_packets,
		.offset = ioc->offset,
		.length = ioc->buffer.length,
		.cookie = ioc->cookie,
		.channel = ioc->channel,
		.bytes = ioc->buffer.length,
		.type = OMX_WIRE_PUT,
	};
	return 0;
}

long omx_put(struct omx_endpoint *ep, void __user *arg)
{
	struct omx_access_order order;
	struct omx_ioc_put ioc;
	int error;

	if (copy_from_user(&ioc, arg, sizeof(ioc)))
		return -EFAULT;
	error = omx_access_order_put(&order, &ioc);
	return error ? error : omx_access_run(ep, &order);
}

/* ---- GET ---- */

static int get_make_packets(const struct omx_access *access, const void *order,
			    struct sk_buff_head *packets)
{
	const struct omx_ioc_get *ioc = order;
	struct omx_wire_get *body;

	if (!access->announced &&
	    ioc->length > min_t(u32, OMX_WIRE_GET_MAX,
				omx_channel_mtu(access->ch) - RESPONSE_HEADER))
		return -EMSGSIZE;
	body = omx_access_add_packet(access, 0, packets);
	if (!body)
		return -ENOMEM;
	omx_key_write(&body->key, &ioc->key);
	body->offset = cpu_to_be64(ioc->offset);
	body->length = cpu_to_be64(ioc->length);
	body->access = cpu_to_be32(access->id);
	body->flags = access->announced ? OMX_GET_ANNOUNCE : 0;
	return 0;
}

int omx_access_order_get(struct omx_access_order *order, const struct omx_ioc_get *ioc)
{
	if (ioc->flags & ~OMX_ACCESS_ANNOUNCE || ioc->offset + ioc->length < ioc->offset)
		return -EINVAL;
	*order = (struct omx_access_order){
		.ioc = ioc,
		.make_packets = get_make_packets,
		.offset = ioc->offset,
		.length = ioc->length,
		.cookie = ioc->cookie,
		.channel = ioc->channel,
		.type = OMX_WIRE_GET,
		.announced = ioc->flags & OMX_ACCESS_ANNOUNCE,
	};
	return 0;
}

long omx_get(struct omx_endpoint *ep, void __user *arg)
{
	struct omx_access_order order;
	struct omx_ioc_get ioc;
	int error;

	if (copy_from_user(&ioc, arg, sizeof(ioc)))
		return -EFAULT;
	error = omx_access_order_get(&order, &ioc);
	return error ? error : omx_access_run(ep, &order);
}

/* ---- ATOMIC ---- */

static int atomic_make_packets(const struct omx_access *access, const void *order,
			       struct sk_buff_head *packets)
{
	const struct omx_ioc_atomic *ioc = order;
	struct omx_wire_atomic *body = omx_access_add_packet(access, 0, packets);

	if (!body)
		return -ENOMEM;
	omx_key_write(&body->key, &ioc->key);
	body->offset = cpu_to_be64(ioc->offset);
	body->operand = cpu_to_be64(ioc->operand);
	body->compare = cpu_to_be64(ioc->compare);
	body->access = cpu_to_be32(access->id);
	body->operation = ioc->operation;
	body->size = ioc->size;
	return 0;
}

/* Only the target knows whether the word is aligned. */
static bool atomic_is_valid(const struct omx_ioc_atomic *ioc)
{
	return (ioc->size == 4 || ioc->size == 8) && ioc->operation < OMX_OPERATIONS &&
	       !ioc->reserved[0] && !ioc->reserved[1];
}

long omx_atomic(struct omx_endpoint *ep, void __user *arg)
{
	struct omx_ioc_atomic ioc;
	struct omx_access_order order;

	if (copy_from_user(&ioc, arg, sizeof(ioc)))
		return -EFAULT;
	if (!atomic_is_valid(&ioc))
		return -EINVAL;
	order = (struct omx_access_order){
		.ioc = &ioc,
		.make_packets = atomic_make_packets,
		.offset = ioc.offset,
		.length = ioc.size,
		.cookie = ioc.cookie,
		.channel = ioc.channel,
		.type = OMX_WIRE_ATOMIC,
	};
	return omx_access_run(ep, &order);
}

/* ---- FLUSH ---- */

static int flush_make_packets(const struct omx_access *access, const void *order,
			      struct sk_buff_head *packets)
{
	const struct omx_ioc_flush_active *ioc = order;
	struct omx_wire_flush *body = omx_access_add_packet(access, 0, packets);

	if (!body)
		return -ENOMEM;
	body->stamp = cpu_to_be64(ioc->stamp);
	body->access = cpu_to_be32(access->id);
	return 0;
}

long omx_flush_active(struct omx_endpoint *ep, void __user *arg)
{
	struct omx_ioc_flush_active ioc;
	struct omx_access_order order;

	if (copy_from_user(&ioc, arg, sizeof(ioc)))
		return -EFAULT;
	if (ioc.reserved)
		return -EINVAL;
	order = (struct omx_access_order){
		.ioc = &ioc,
		.make_packets = flush_make_packets,
		.cookie = ioc.cookie,
		.channel = ioc.channel,
		.type = OMX_WIRE_FLUSH,
	};
	return omx_access_run(ep, &order);
}
