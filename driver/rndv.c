// SPDX-License-Identifier: GPL-2.0
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "channel.h"
#include "endpoint.h"
#include "iface.h"
#include "region.h"
#include "rndv.h"
#include "send.h"

static void rndv_free(struct omx_rndv *rndv)
{
	if (rndv->region)
		omx_region_put(rndv->region);
	omx_channel_put(rndv->ch);
	kfree_rcu(rndv, rcu);
}

/* It was just taken out of its channel's list, which makes it ours. */
static void finish(struct omx_endpoint *ep, struct omx_rndv *rndv, u8 status,
		   u64 length)
{
	omx_table_remove(&ep->rndvs, rndv->id);
	rndv->note->event.channel = rndv->ch->id;
	rndv->note->event.status = status;
	rndv->note->event.length = length;
	omx_endpoint_post(ep, rndv->note);
	rndv_free(rndv);
}

static struct sk_buff *make_packet(struct omx_channel *ch,
				   const struct omx_ioc_send_rndv *ioc, u32 message)
{
	struct omx_wire_rndv *body;
	struct sk_buff *skb;

	skb = omx_channel_packet(ch, OMX_WIRE_RNDV, 0, GFP_KERNEL);
	if (!skb)
		return NULL;
	body = omx_packet_body(skb);
	body->match_info = cpu_to_be64(ioc->match_info);
	body->msg_length = cpu_to_be64(ioc->length);
	body->message = cpu_to_be32(message);
	return skb;
}

/* From here on the note tells how it ends. */
static int enlist(struct omx_channel *ch, struct omx_rndv *rndv)
{
	int error = 0;

	spin_lock_bh(&ch->lock);
	if (ch->dead) {
		error = -ENOTCONN;
	} else {
		omx_channel_wake_up(ch);
		list_add_tail(&rndv->link, &ch->rndvs);
	}
	spin_unlock_bh(&ch->lock);
	return error;
}

static int start(struct omx_endpoint *ep, struct omx_rndv *rndv,
		 const struct omx_ioc_send_rndv *ioc)
{
	struct omx_channel *ch = rndv->ch;
	struct sk_buff *skb;
	int error;

	error = omx_table_add(&ep->rndvs, rndv, &rndv->id, GFP_KERNEL);
	if (error)
		return error == -ENOSPC ? -EBUSY : error;
	skb = make_packet(ch, ioc, rndv->id);
	omx_channel_hold(ch);	/* once enlisted, the rndv may end with its own */
	error = skb ? enlist(ch, rndv) : -ENOMEM;
	if (error) {
		kfree_skb(skb);
		omx_table_remove(&ep->rndvs, rndv->id);
	} else {
		/* If the channel dies now, the note says so. */
		omx_channel_send_one(ch, skb);
		omx_channel_watch(ch);
	}
	omx_channel_put(ch);
	return error;
}

static int take_region(struct omx_endpoint *ep, struct omx_rndv *rndv,
		       const struct omx_ioc_send_rndv *ioc)
{
	if (!ioc->region)
		return ioc->length ? -EINVAL : 0;
	rndv->region = omx_region_get(ep, ioc->region);
	if (!rndv->region)
		return -ENOENT;
	if (ioc->length > rndv->region->length ||
	    !(rndv->region->flags & OMX_REGION_READ))
		return -EINVAL;
	return omx_region_prepare(ep->iface, rndv->region);
}

long omx_rndv_send(struct omx_endpoint *ep, void __user *arg)
{
	struct omx_ioc_send_rndv ioc;
	struct omx_rndv *rndv;
	struct omx_channel *ch;
	long error;

	if (copy_from_user(&ioc, arg, sizeof(ioc)))
		return -EFAULT;
	if (ioc.address && ioc.region != OMX_REGION_IMPLICIT)
		return -EINVAL;
	ch = omx_channel_get(ep, ioc.channel);
	if (!ch)
		return -ENOENT;
	error = -EBUSY;
	if (!omx_endpoint_takes_requests(ep))
		goto put_channel;
	error = -EAGAIN;
	if (!omx_channel_has_space(ch, 1))
		goto put_channel;
	error = -ENOMEM;
	rndv = kzalloc(sizeof(*rndv), GFP_KERNEL);
	if (!rndv)
		goto put_channel;
	INIT_LIST_HEAD(&rndv->link);
	rndv->note = omx_note_alloc(OMX_EVENT_SEND_DONE, ioc.cookie);
	if (!rndv->note)
		goto free_rndv;
	rndv->ch = ch;
	rndv->length = ioc.length;
	error = take_region(ep, rndv, &ioc);
	if (error)
		goto put_region;
	error = start(ep, rndv, &ioc);
	if (!error)
		return 0;
put_region:
	if (rndv->region)
		omx_region_put(rndv->region);
	kfree(rndv->note);
free_rndv:
	/* A pull that names it by chance may look at it. */
	kfree_rcu(rndv, rcu);
put_channel:
	omx_channel_put(ch);
	return error;
}

struct omx_region *omx_rndv_region(struct omx_endpoint *ep, u32 id,
				   const struct omx_channel *ch, u64 *length)
{
	struct omx_rndv *rndv = omx_table_find(&ep->rndvs, id);

	if (!rndv || rndv->id != id || rndv->ch != ch || !rndv->region ||
	    READ_ONCE(rndv->region->withdrawn) ||
	    !refcount_inc_not_zero(&rndv->region->ref))
		return NULL;
	*length = rndv->length;
	return rndv->region;
}

static struct omx_rndv *first_of(struct omx_channel *ch)
{
	struct omx_rndv *rndv;

	spin_lock_bh(&ch->lock);
	rndv = list_first_entry_or_null(&ch->rndvs, struct omx_rndv, link);
	if (rndv)
		list_del_init(&rndv->link);
	spin_unlock_bh(&ch->lock);
	return rndv;
}

void omx_rndvs_fail(struct omx_channel *ch, u8 status)
{
	struct omx_endpoint *ep = ch->ep;
	struct omx_rndv *rndv;

	while ((rndv = first_of(ch)))
		finish(ep, rndv, status, 0);
}

void omx_rndvs_destroy(struct omx_endpoint *ep)
{
	struct omx_rndv *rndv;
	u32 slot = 0;

	while ((rndv = omx_table_next(&ep->rndvs, &slot))) {
		omx_table_remove(&ep->rndvs, rndv->id);
		kfree(rndv->note);
		rndv_free(rndv);
	}
}

/* ---- frames ---- */

bool omx_receive_rndv(struct omx_channel *ch, struct sk_buff *skb)
{
	const struct omx_wire_rndv *body = omx_packet_body(skb);
	struct omx_event event = {
		.type = OMX_EVENT_RNDV,
		.channel = ch->id,
		.match_info = be64_to_cpu(body->match_info),
		.length = be64_to_cpu(body->msg_length),
		.remote_message = be32_to_cpu(body->message),
	};

	if (!omx_ring_push(&ch->ep->ring, &event, NULL, 0, 0))
		return false;
	omx_endpoint_notify_urgent(ch->ep);
	consume_skb(skb);
	return true;
}

bool omx_receive_notify(struct omx_channel *ch, struct sk_buff *skb)
{
	const struct omx_wire_notify *body = omx_packet_body(skb);
	u32 id = be32_to_cpu(body->message);
	struct omx_endpoint *ep = ch->ep;
	struct omx_rndv *rndv;
	u8 status = body->status;

	lockdep_assert_held(&ch->lock);
	rndv = omx_table_find(&ep->rndvs, id);
	if (!rndv || rndv->id != id || rndv->ch != ch || list_empty(&rndv->link)) {
		omx_count(ep->iface, DROP_NOTIFY);
	} else {
		list_del_init(&rndv->link);
		finish(ep, rndv, status < OMX_STATUSES ? status : OMX_STATUS_ABORTED,
		       min(be64_to_cpu(body->xfer_length), rndv->length));
	}
	consume_skb(skb);
	return true;
}
