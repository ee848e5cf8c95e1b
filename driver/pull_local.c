// SPDX-License-Identifier: GPL-2.0
/*
 * Large messages whose sender is on this host.  The receiver's system call
 * copies what is there.  From the first page on that the sender lacks, work
 * copies the rest: a page of the sender is waited for in the sender's share of
 * page-in, one of the receiver in the receiver's.
 */
#include <linux/skbuff.h>

#include "channel.h"
#include "endpoint.h"
#include "fault.h"
#include "iface.h"
#include "pull_private.h"
#include "rndv.h"
#include "trace.h"

/* Copied at a time, by way of a buffer. */
#define PIECE	(16U << 10)

/* The message of a sender on this host, referenced.  As omx_rndv_get(). */
static struct omx_rndv *local_source(struct omx_pull *pull)
{
	struct omx_endpoint *ep = pull->ep, *peer;
	struct omx_rndv *rndv = ERR_PTR(-ENOENT);
	struct omx_channel *ch = pull->ch, *back;
	struct omx_iface *iface;

	iface = omx_iface_get_by_mac(ep->net, ch->mac);
	if (!iface)
		return rndv;
	rcu_read_lock();
	peer = omx_endpoint_find(iface, ch->peer_endpoint);
	if (peer && peer->session == ch->peer_session) {
		back = omx_channel_find(peer, ep->iface->mac, ep->index, ep->session);
		if (back)
			rndv = omx_rndv_get(peer, pull->message, back);
		if (!IS_ERR(rndv) && pull->length > rndv->length) {
			omx_rndv_put(rndv);
			rndv = ERR_PTR(-ENOENT);
		}
	}
	rcu_read_unlock();
	omx_iface_put(iface);
	return rndv;
}

static u8 status_of(int error)
{
	if (!error)
		return OMX_STATUS_OK;
	return error == -ENOENT ? OMX_STATUS_BAD_REGION : omx_fault_status(error);
}

/* ---- later ---- */

static int page_in(struct omx_pull *pull)
{
	bool write = !pull->lacks_source;
	const struct omx_channel *ch = write ? pull->ch : pull->source->ch;
	u64 length = min(max_t(u64, PIECE, omx_fault_step()), pull->length - pull->paged);
	int error;

	trace_omx_page_in_begin(ch, pull->message, write, pull->paged, length);
	error = omx_region_page_in(write ? pull->region : pull->source->region, pull->paged,
				   length, write ? OMX_REGION_WRITE : OMX_REGION_READ);
	trace_omx_page_in_end(ch, pull->message, write, error);
	return error;
}

/* -EAGAIN: pages are absent; -ECANCELED: the pull has ended. */
static int copy_piece(struct omx_pull *pull, struct sk_buff *skb)
{
	u32 length = min_t(u64, PIECE, pull->length - pull->paged);
	int error;

	local_bh_disable();
	error = omx_region_read(&pull->ahead, pull->paged, skb->data, length);
	pull->lacks_source = error == -EAGAIN;
	/* Behind the read: the program may have written to it since. */
	if (!error && READ_ONCE(pull->source->withdrawn))
		error = -ENOENT;
	if (!error) {
		spin_lock(&pull->lock);
		error = pull->state != OMX_PULL_LOCAL ? -ECANCELED :
			omx_region_fill(&pull->cursor, pull->paged, skb, 0, length, NULL);
		spin_unlock(&pull->lock);
	}
	local_bh_enable();
	if (!error)
		pull->paged += length;
	return error;
}

static int copy(struct omx_pull *pull)
{
	struct sk_buff *skb = alloc_skb(PIECE, GFP_KERNEL);
	int error = 0;

	if (!skb)
		return -ENOMEM;
	skb_put(skb, PIECE);
	while (!error && pull->paged < pull->length) {
		error = copy_piece(pull, skb);
		cond_resched();
	}
	consume_skb(skb);
	return error;
}

/* The work may run elsewhere as soon as it is queued. */
static void queue(struct omx_pull *pull)
{
	struct omx_region *region = pull->lacks_source ? pull->source->region : pull->region;

	omx_fault_queue(region->space->share, &pull->page_in);
}

static void go_on(struct work_struct *work)
{
	struct omx_pull *pull = container_of(work, struct omx_pull, page_in);
	int error = page_in(pull);

	if (!error)
		error = copy(pull);
	if (error == -EAGAIN) {
		queue(pull);
		return;
	}
	rcu_read_lock();	/* the endpoint stays if the pull has not ended */
	omx_pull_end(pull, status_of(error));
	rcu_read_unlock();
	omx_region_cursor_end(&pull->ahead);
	omx_rndv_put(pull->source);
	omx_pull_put(pull);
}

/* Takes over the reference on the source. */
static void start_later(struct omx_pull *pull, struct omx_rndv *source, u64 done)
{
	pull->source = source;
	pull->lacks_source = true;
	pull->paged = done;
	omx_region_cursor_init(&pull->ahead, source->region, OMX_REGION_READ);
	INIT_WORK(&pull->page_in, go_on);
	refcount_inc(&pull->ref);
	spin_lock_bh(&pull->lock);
	pull->state = OMX_PULL_LOCAL;
	spin_unlock_bh(&pull->lock);
	rcu_read_lock();
	omx_pull_end_if_missed(pull);
	rcu_read_unlock();
	queue(pull);
}

/* ---- at once ---- */

void omx_pull_locally(struct omx_pull *pull)
{
	struct omx_rndv *source = local_source(pull);
	int error = PTR_ERR_OR_ZERO(source);
	u64 done = 0;

	if (!error) {
		error = omx_region_copy_to_user(source->region, pull->region,
						pull->length, &done);
		omx_count(pull->ep->iface, LOCAL_COPY);
		if (error == -EAGAIN) {
			start_later(pull, source, done);
			return;
		}
		if (READ_ONCE(source->withdrawn))
			error = -ENOENT;
		omx_rndv_put(source);
	}
	pull->state = OMX_PULL_DONE;
	omx_pull_conclude(pull, status_of(error));
}
