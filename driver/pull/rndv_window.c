// SPDX-License-Identifier: GPL-2.0
/*
 * Messages made of the bytes of a window.  A peer gets them with a message that
 * the driver of the window's owner announces; the peer pulls it as it pulls others,
 * and no program knows of it here.
 *
 * onesided/large.c calls this, in softirq for a get of a peer, and in process
 * context when the window is revoked.
 */
#include "channel/channel.h"
#include "channel/close.h"
#include "compat.h"
#include "endpoint/endpoint.h"
#include "memory/region.h"
#include "observe/trace.h"
#include "onesided/window.h"
#include "pull/rndv.h"

/* On failure the caller gives the message up. */
static int rndv_publish_window(struct omx_channel *ch, struct omx_rndv *rndv)
{
	struct omx_table *table = &ch->ep->rndvs;
	int error;

	if (!omx_window_ref(rndv->window))
		return -ENOENT;
	error = omx_table_add(table, rndv, &rndv->id, GFP_ATOMIC | __GFP_NOWARN);
	if (!error) {
		error = omx_channel_enlist(ch, &rndv->in_channel, &ch->rndvs);
		if (!error)
			return 0;
		omx_rndv_stop(rndv);
		omx_table_remove(table, rndv->id);
	}
	omx_window_put(rndv->window);
	return error;
}

int omx_rndv_of_window(struct omx_channel *ch, struct omx_window *window, u64 offset,
		       u64 length, u32 *message)
{
	struct omx_rndv *rndv = omx_rndv_alloc(ch, length, GFP_ATOMIC | __GFP_NOWARN);
	int error;

	if (!rndv)
		return -ENOMEM;
	omx_region_ref(window->region);
	rndv->region = window->region;
	rndv->window = window;
	rndv->start = window->start + offset;
	refcount_inc(&rndv->ref);	/* once in its channel it may end */
	error = rndv_publish_window(ch, rndv);
	if (!error) {
		*message = rndv->id;
		trace_omx_rndv_send(ch, rndv->id, 0, length, rndv->region);
	} else {
		omx_rndv_put(rndv);
	}
	omx_rndv_put(rndv);
	return error;
}

/*
 * Requests that are being responded to, and copies within the host, look at
 * `withdrawn` or find the message inside RCU: once a grace period has passed, none
 * of them reads.
 */
static void rndv_revoke(struct omx_endpoint *ep, struct omx_rndv *rndv)
{
	struct omx_channel *ch = rndv->ch;
	bool mine;

	spin_lock_bh(&ch->lock);
	mine = !list_empty(&rndv->in_channel);
	list_del_init(&rndv->in_channel);
	spin_unlock_bh(&ch->lock);
	if (!mine)
		return;
	WRITE_ONCE(rndv->withdrawn, true);
	omx_rndv_finish(ep, rndv, OMX_STATUS_BAD_WINDOW, 0);
}

void omx_rndvs_revoke(struct omx_endpoint *ep, const struct omx_window *window)
{
	struct omx_rndv *rndv;
	u32 slot = 0;

	rcu_read_lock();	/* a message may end by itself meanwhile */
	while ((rndv = omx_table_next(&ep->rndvs, &slot))) {
		if (rndv->window == window)
			rndv_revoke(ep, rndv);
		omx_cond_resched_rcu();
	}
	rcu_read_unlock();
}
