// SPDX-License-Identifier: GPL-2.0
/*
 * One-sided accesses whose bytes are pulled.  Whoever receives them pulls, so that
 * nobody is sent more than it can take:
 *
 * - A large put is a message of the initiator's program.  The driver of the target
 *   pulls it into the window.
 * - A large get makes a message of the window's bytes at the target, whose number the
 *   response carries.  The initiator's library pulls it.
 *
 * chardev.c calls the ioctl and window.c the revocation, in process context.
 * perform.c begins the transfers of peers, mostly in softirq: that does not sleep, so
 * neither a stopped program nor a work queue delays it.
 *
 * A peer can make transfers wait for as long as it likes.  So they are admitted at
 * the lowest level of memory, as regions are: the program's own messages always
 * have some left.
 */
#include <linux/uaccess.h>

#include "channel/channel.h"
#include "channel/send.h"
#include "endpoint/endpoint.h"
#include "net/frame.h"
#include "onesided/access.h"
#include "onesided/access_order.h"
#include "onesided/large.h"
#include "onesided/window.h"
#include "pull/pull.h"
#include "pull/rndv.h"

/* ---- the initiator of a put ---- */

static struct sk_buff *put_make_packet(const struct omx_rndv *rndv,
				       const struct omx_rndv_order *order)
{
	const struct omx_put_order *put = container_of(order, struct omx_put_order, order);
	struct omx_wire_put_rndv *body;
	struct sk_buff *skb;

	skb = omx_channel_packet(rndv->ch, OMX_WIRE_PUT_RNDV, 0, GFP_KERNEL);
	if (!skb)
		return NULL;
	body = omx_packet_body(skb);
	omx_key_write(&body->key, &put->ioc.key);
	body->offset = cpu_to_be64(put->ioc.offset);
	body->immediate = cpu_to_be64(put->ioc.immediate);
	body->length = cpu_to_be64(rndv->length);
	body->message = cpu_to_be32(rndv->id);
	body->flags = put->ioc.flags & OMX_ACCESS_EVENT ? OMX_PUT_EVENT : 0;
	return skb;
}

static bool put_is_valid(const struct omx_ioc_put_rndv *ioc)
{
	return !ioc->reserved && !(ioc->flags & ~OMX_ACCESS_EVENT) &&
	       (!ioc->immediate || ioc->flags & OMX_ACCESS_EVENT) &&
	       ioc->offset + ioc->length >= ioc->offset;
}

int omx_put_order_init(struct omx_put_order *put)
{
	if (!put_is_valid(&put->ioc))
		return -EINVAL;
	put->order = (struct omx_rndv_order){
		.ioc.length = put->ioc.length,
		.ioc.cookie = put->ioc.cookie,
		.ioc.address = put->ioc.address,
		.ioc.channel = put->ioc.channel,
		.ioc.region = put->ioc.region,
		.make_packet = put_make_packet,
	};
	return 0;
}

long omx_put_rndv(struct omx_endpoint *ep, void __user *arg)
{
	struct omx_put_order put;
	int error;

	if (copy_from_user(&put.ioc, arg, sizeof(put.ioc)))
		return -EFAULT;
	error = omx_put_order_init(&put);
	return error ? error : omx_rndv_announce(ep, &put.order);
}

/* ---- the target ---- */

/* What the caller reports, or -EAGAIN if a moment later it may succeed. */
static int start_status(int error)
{
	switch (error) {
	case 0:
		return OMX_STATUS_OK;
	case -ENOMEM:
		return -EAGAIN;
	case -ENOENT:
		return OMX_STATUS_BAD_WINDOW;
	case -ENOSPC:
		return OMX_STATUS_NO_MEMORY;
	default:
		return OMX_STATUS_ABORTED;	/* the channel has ended: nobody reads it */
	}
}

int omx_put_rndv_start(struct omx_channel *ch, struct omx_window *window,
		       const struct sk_buff *skb)
{
	const struct omx_wire_put_rndv *body = omx_packet_body(skb);

	if (!omx_endpoint_takes(ch->ep, &ch->ep->pulls, OMX_ACCOUNT_REGION))
		return OMX_STATUS_NO_MEMORY;
	return start_status(omx_pull_into_window(ch, window, body));
}

int omx_get_announce(struct omx_channel *ch, struct omx_window *window,
		     const struct sk_buff *skb, u32 *message)
{
	const struct omx_wire_get *body = omx_packet_body(skb);

	if (!omx_endpoint_takes(ch->ep, &ch->ep->rndvs, OMX_ACCOUNT_REGION))
		return OMX_STATUS_NO_MEMORY;
	return start_status(omx_rndv_of_window(ch, window, be64_to_cpu(body->offset),
					       be64_to_cpu(body->length), message));
}

void omx_window_end_transfers(struct omx_endpoint *ep, struct omx_window *window)
{
	omx_pulls_revoke(ep, window);
	omx_rndvs_revoke(ep, window);
}
