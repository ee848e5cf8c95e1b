// SPDX-License-Identifier: GPL-2.0
/*
 * The ioctls of conditional accesses, PUT_WHEN and GET_WHEN, and of the keys that fire
 * them, POST_KEY.  An access is made as the ioctl without condition makes it
 * (access_ioctl.c, large.c), with a key and an offset of zeros; when.c keeps it.
 *
 * chardev.c calls them in process context.
 */
#include <linux/kernel.h>
#include <linux/uaccess.h>

#include "channel/channel.h"
#include "net/frame.h"
#include "onesided/when.h"
#include "onesided/when_private.h"

/* ---- PUT_WHEN ---- */

static long put_when_small(struct omx_endpoint *ep, const struct omx_ioc_put_when *ioc,
			   struct omx_when_order *when)
{
	const struct omx_ioc_put put = {
		.buffer = ioc->buffer,
		.immediate = ioc->immediate,
		.cookie = ioc->cookie,
		.channel = ioc->channel,
		.flags = ioc->flags,
	};
	struct omx_access_order order;
	int error = omx_access_order_put(&order, &put);

	if (error)
		return error;
	when->small = &order;
	when->type = OMX_WIRE_PUT;
	return omx_when_post(ep, when);
}

static long put_when_large(struct omx_endpoint *ep, const struct omx_ioc_put_when *ioc,
			   struct omx_when_order *when)
{
	struct omx_put_order put = {
		.ioc.immediate = ioc->immediate,
		.ioc.length = ioc->buffer.length,
		.ioc.cookie = ioc->cookie,
		.ioc.address = ioc->buffer.address,
		.ioc.channel = ioc->channel,
		.ioc.region = ioc->region,
		.ioc.flags = ioc->flags,
	};
	int error = omx_put_order_init(&put);

	if (error)
		return error;
	if (ioc->buffer.segment_count || ioc->buffer.reserved)
		return -EINVAL;
	put.order.held = true;
	when->large = &put.order;
	when->type = OMX_WIRE_PUT_RNDV;
	return omx_when_post(ep, when);
}

long omx_put_when(struct omx_endpoint *ep, void __user *arg)
{
	struct omx_ioc_put_when ioc;
	struct omx_when_order when;

	if (copy_from_user(&ioc, arg, sizeof(ioc)))
		return -EFAULT;
	when = (struct omx_when_order){
		.tag = ioc.tag,
		.length = ioc.buffer.length,
		.cookie = ioc.cookie,
		.channel = ioc.channel,
		.timeout_ms = ioc.timeout_ms,
	};
	return ioc.region ? put_when_large(ep, &ioc, &when) : put_when_small(ep, &ioc, &when);
}

/* ---- GET_WHEN ---- */

/* The region's bytes are pulled. */
static struct omx_ioc_pull get_when_pull(const struct omx_ioc_get_when *ioc)
{
	return (struct omx_ioc_pull){
		.length = ioc->length,
		.msg_length = ioc->length,
		.cookie = ioc->cookie,
		.address = ioc->address,
		.channel = ioc->channel,
		.region = ioc->region,
	};
}

long omx_get_when(struct omx_endpoint *ep, void __user *arg)
{
	struct omx_ioc_get_when ioc;
	struct omx_access_order order;
	struct omx_when_order when;
	struct omx_ioc_pull pull;
	struct omx_ioc_get get;
	int error;

	if (copy_from_user(&ioc, arg, sizeof(ioc)))
		return -EFAULT;
	if (ioc.reserved || (!ioc.region && ioc.address))
		return -EINVAL;
	get = (struct omx_ioc_get){
		.length = ioc.length,
		.cookie = ioc.cookie,
		.channel = ioc.channel,
		.flags = ioc.region ? OMX_ACCESS_ANNOUNCE : 0,
	};
	error = omx_access_order_get(&order, &get);
	if (error)
		return error;
	pull = get_when_pull(&ioc);
	when = (struct omx_when_order){
		.small = &order,
		.pull = ioc.region ? &pull : NULL,
		.tag = ioc.tag,
		.length = ioc.length,
		.cookie = ioc.cookie,
		.channel = ioc.channel,
		.timeout_ms = ioc.timeout_ms,
		.type = OMX_WIRE_GET,
	};
	return omx_when_post(ep, &when);
}

/* ---- POST_KEY ---- */

static int post_key_make_packets(const struct omx_access *access, const void *order,
				 struct sk_buff_head *packets)
{
	const struct omx_ioc_post_key *ioc = order;
	struct omx_wire_post_key *body = omx_access_add_packet(access, 0, packets);

	if (!body)
		return -ENOMEM;
	omx_key_write(&body->key, &ioc->key);
	body->offset = cpu_to_be64(ioc->offset);
	body->length = cpu_to_be64(ioc->length);
	body->tag = cpu_to_be64(ioc->tag);
	body->access = cpu_to_be32(access->id);
	return 0;
}

long omx_post_key(struct omx_endpoint *ep, void __user *arg)
{
	struct omx_ioc_post_key ioc;
	struct omx_access_order order;

	if (copy_from_user(&ioc, arg, sizeof(ioc)))
		return -EFAULT;
	if (ioc.reserved || ioc.offset + ioc.length < ioc.offset)
		return -EINVAL;
	order = (struct omx_access_order){
		.ioc = &ioc,
		.make_packets = post_key_make_packets,
		.offset = ioc.offset,
		.length = ioc.length,
		.cookie = ioc.cookie,
		.channel = ioc.channel,
		.type = OMX_WIRE_POST_KEY,
	};
	return omx_access_run(ep, &order);
}
