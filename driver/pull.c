// SPDX-License-Identifier: GPL-2.0
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include "channel.h"
#include "compat.h"
#include "endpoint.h"
#include "iface.h"
#include "pull_private.h"
#include "send.h"
#include "trace.h"

/*
 * Bytes on their way to one interface, over all its pulls: a millisecond of
 * 10 Gb/s, four blocks of jumbo frames.
 */
#define IFACE_BYTES_MAX		(1200 * 1024)

#define PATIENCE_MIN_US		1000	/* for a gap behind which frames arrived */
#define TIMEOUT_MAX_US		1000000

/* ---- whose turn it is ---- */

static void give_back(struct omx_pull *pull, u32 frames)
{
	atomic_sub(frames * pull->window.frame_length,
		   &pull->ep->iface->pulls.outstanding);
}

/*
 * Who has to wait for a silent sender, or for pages, does not keep others from
 * asking theirs.
 */
void omx_pull_release_share(struct omx_pull *pull)
{
	lockdep_assert_held(&pull->lock);
	give_back(pull, pull->window.outstanding - pull->released);
	pull->released = pull->window.outstanding;
}

/* Takes the right to ask for a block, or queues the pull for it. */
static bool may_ask(struct omx_pull *pull)
{
	struct omx_pull_scheduler *pulls = &pull->ep->iface->pulls;
	u32 bytes = OMX_BLOCK_FRAMES * pull->window.frame_length;

	lockdep_assert_held(&pull->lock);
	/* One block may always travel, however large frames are. */
	if (atomic_add_return(bytes, &pulls->outstanding) <=
	    max_t(u32, bytes, IFACE_BYTES_MAX))
		return true;
	atomic_sub(bytes, &pulls->outstanding);
	spin_lock_bh(&pulls->lock);
	if (list_empty(&pull->in_schedule))
		list_add_tail(&pull->in_schedule, &pulls->waiting);
	spin_unlock_bh(&pulls->lock);
	omx_count(pull->ep->iface, PULL_WAITED);
	return false;
}

static struct omx_pull *next_waiting(struct omx_pull_scheduler *pulls)
{
	struct omx_pull *pull;

	spin_lock_bh(&pulls->lock);
	pull = list_first_entry_or_null(&pulls->waiting, struct omx_pull,
					in_schedule);
	if (pull)
		list_del_init(&pull->in_schedule);
	spin_unlock_bh(&pulls->lock);
	return pull;
}

/* ---- asking ---- */

static void add_request(struct omx_pull *pull,
			const struct omx_pull_request *request,
			struct sk_buff_head *out)
{
	struct omx_wire_pull *body;
	struct sk_buff *skb;

	skb = omx_channel_packet(pull->ch, OMX_WIRE_PULL, 0, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return;		/* as good as lost: the timer asks again */
	body = omx_packet_body(skb);
	body->offset = cpu_to_be64(request->offset);
	body->length = cpu_to_be32(request->length);
	body->message = cpu_to_be32(pull->message);
	body->pull = cpu_to_be32(pull->id);
	body->wanted = cpu_to_be32(request->wanted);
	body->frame_length = cpu_to_be16(pull->window.frame_length);
	trace_omx_pull_ask(pull->ch, body);
	__skb_queue_tail(out, skb);
}

/*
 * Is there memory for the next block?  With overlapped pinning one bets on it
 * that the pages come before the frames.
 */
static bool has_pages(struct omx_pull *pull)
{
	u16 bit = 1 << pull->window.next_block % OMX_PULL_BLOCKS;
	u64 start, end;

	omx_pull_next_block(pull, &start, &end);
	pull->bets &= ~bit;
	if (likely(!omx_region_look(&pull->ahead, start, end - start)))
		return true;
	omx_pull_want_pages(pull);
	if (pull->region->mode != OMX_OVERLAP)
		return false;
	pull->bets |= bit;
	return true;
}

void omx_pull_ask(struct omx_pull *pull, u32 now, struct sk_buff_head *out)
{
	struct omx_pull_request request;

	lockdep_assert_held(&pull->lock);
	while (omx_pull_window_wants(&pull->window) && has_pages(pull) && may_ask(pull)) {
		omx_pull_window_ask(&pull->window, now, &request);
		give_back(pull, OMX_BLOCK_FRAMES - hweight32(request.wanted));
		add_request(pull, &request, out);
	}
}

void omx_pull_ask_again(struct omx_pull *pull, const struct omx_pull_request *request,
		      struct sk_buff_head *out)
{
	omx_count_add(pull->ep->iface, PULL_FRAMES_AGAIN,
		      hweight32(request->wanted));
	add_request(pull, request, out);
}

static u32 gap_patience(const struct omx_pull *pull)
{
	return max_t(u32, PATIENCE_MIN_US, 2 * READ_ONCE(pull->ch->pull_rtt));
}

static u32 timeout_us(const struct omx_pull *pull)
{
	u32 us = max_t(u32, OMX_PULL_TIMEOUT_MIN_US, 4 * READ_ONCE(pull->ch->pull_rtt));

	return min_t(u32, us << min_t(u8, pull->backoff, 6), TIMEOUT_MAX_US);
}

static u32 frame_length(const struct omx_pull *pull)
{
	return round_down(omx_channel_mtu(pull->ch) - OMX_REPLY_HEADER, 8);
}

/*
 * The path's MTU became smaller: the sender refuses what was asked for.  An
 * administrator does that, so what has arrived is not worth keeping.
 */
static void start_over(struct omx_pull *pull)
{
	omx_count(pull->ep->iface, PULL_STARTED_OVER);
	give_back(pull, pull->window.outstanding - pull->released);
	pull->released = 0;
	pull->dropped = 0;
	omx_copies_wait(&pull->copies);		/* the same bytes come again */
	pull->bets = 0;
	omx_pull_window_init(&pull->window, pull->length, frame_length(pull));
}

static void xmit(struct omx_pull *pull, struct sk_buff_head *out)
{
	omx_channel_xmit(pull->ch, out);
}

/* ---- the end ---- */

static void tell_sender(struct omx_pull *pull, u8 status, u64 length)
{
	struct omx_wire_notify *body = omx_packet_body(pull->notify);

	if (status == OMX_STATUS_OK && length < pull->msg_length)
		status = OMX_STATUS_TRUNCATED;
	body->status = status;
	body->xfer_length = cpu_to_be64(length);
	omx_channel_send_one(pull->ch, pull->notify);
}

void omx_pull_put(struct omx_pull *pull)
{
	if (!refcount_dec_and_test(&pull->ref))
		return;
	omx_region_cursor_end(&pull->cursor);
	omx_region_cursor_end(&pull->ahead);
	if (pull->region)
		omx_region_put(pull->region);
	omx_channel_put(pull->ch);
	kfree_rcu(pull, rcu);
}

/* Gives back what the pull took of its interface and its channel. */
static void leave(struct omx_pull *pull)
{
	struct omx_pull_scheduler *pulls = &pull->ep->iface->pulls;

	timer_delete(&pull->timer);
	omx_pull_drop_parked(pull);
	give_back(pull, pull->window.outstanding - pull->released);
	spin_lock_bh(&pulls->lock);
	list_del_init(&pull->in_schedule);
	spin_unlock_bh(&pulls->lock);
	spin_lock_bh(&pull->ch->lock);
	list_del_init(&pull->in_channel);
	spin_unlock_bh(&pull->ch->lock);
	omx_table_remove(&pull->ep->pulls, pull->id);
}

/* Lets the first of the waiting ask that still can.  True: try another. */
static bool let_one_ask(struct omx_pull_scheduler *pulls)
{
	struct sk_buff_head out;
	struct omx_pull *pull;
	bool gone;

	rcu_read_lock();	/* it may end meanwhile */
	pull = next_waiting(pulls);
	gone = pull;
	if (pull) {
		__skb_queue_head_init(&out);
		spin_lock_bh(&pull->lock);
		if (pull->state == OMX_PULL_ACTIVE) {
			gone = false;
			omx_pull_ask(pull, omx_pull_now_us(), &out);
		}
		spin_unlock_bh(&pull->lock);
		xmit(pull, &out);
	}
	rcu_read_unlock();
	return gone;
}

static bool others_wait(const struct omx_iface *iface)
{
	return !list_empty_careful(&iface->pulls.waiting);
}

/* Frames arrived or a pull ended. */
static void let_others_ask(struct omx_iface *iface)
{
	struct omx_pull_scheduler *pulls = &iface->pulls;

	while (others_wait(iface) &&
	       atomic_read(&pulls->outstanding) <= IFACE_BYTES_MAX / 2 &&
	       let_one_ask(pulls))
		;
}

/* Called once, by who set DONE, without any lock. */
void omx_pull_conclude(struct omx_pull *pull, u8 status)
{
	struct omx_event *event = &pull->note->event;
	struct omx_endpoint *ep = pull->ep;

	if (unlikely(!list_empty(&pull->copies.list)))
		omx_copies_abandon(&pull->copies);
	leave(pull);
	event->channel = pull->ch->id;
	event->status = status;
	event->length = status == OMX_STATUS_OK ? pull->length : 0;
	trace_omx_pull_done(pull->ch, pull->message, status, event->length);
	tell_sender(pull, status, event->length);
	omx_endpoint_post(ep, pull->note);
	let_others_ask(ep->iface);
	omx_pull_put(pull);
}

/* Ends a pull from outside unless it ends by itself right now. */
void omx_pull_end(struct omx_pull *pull, u8 status)
{
	bool mine;

	spin_lock_bh(&pull->lock);
	mine = pull->state == OMX_PULL_ACTIVE || pull->state == OMX_PULL_LOCAL;
	if (mine)
		pull->state = OMX_PULL_DONE;
	spin_unlock_bh(&pull->lock);
	if (mine)
		omx_pull_conclude(pull, status);
}

/* ---- the timer ---- */

static void ask_for_late(struct omx_pull *pull, struct sk_buff_head *out)
{
	struct omx_pull_request request;
	u32 patience = timeout_us(pull);
	u32 now = omx_pull_now_us();
	int i;

	if (time_before(jiffies, pull->progress + usecs_to_jiffies(patience)))
		return;
	for (i = 0; i < OMX_PULL_BLOCKS; i++) {
		if (!omx_pull_window_late(&pull->window, now, patience, &request))
			break;
		omx_count(pull->ep->iface, PULL_TIMEOUT);
		if (request.held)
			omx_count(pull->ep->iface, FAULT_TIMEOUT);
		omx_pull_ask_again(pull, &request, out);
	}
	if (i && pull->backoff < 16)
		pull->backoff++;
}

static void timer_fired(struct timer_list *timer)
{
	struct omx_pull *pull = omx_timer_container(pull, timer, timer);
	struct sk_buff_head out;
	bool lost = false;

	__skb_queue_head_init(&out);
	spin_lock_bh(&pull->lock);
	if (pull->state != OMX_PULL_ACTIVE || omx_endpoint_is_dead(pull->ep)) {
		spin_unlock_bh(&pull->lock);
		return;
	}
	/* Waiting for our own pages is nobody's silence. */
	if (pull->paging && (!pull->window.outstanding || pull->dropped ||
			     !skb_queue_empty(&pull->parked)))
		pull->progress = jiffies;
	if (time_after(jiffies, pull->progress + pull->timeout)) {
		pull->state = OMX_PULL_DONE;
		lost = true;
	} else {
		if (frame_length(pull) < pull->window.frame_length)
			start_over(pull);
		ask_for_late(pull, &out);
		if (pull->backoff >= 2)
			omx_pull_release_share(pull);
		omx_pull_ask(pull, omx_pull_now_us(), &out);	/* its turn may have been missed */
		mod_timer(&pull->timer, jiffies +
			  usecs_to_jiffies(timeout_us(pull)));
	}
	spin_unlock_bh(&pull->lock);
	if (lost) {
		omx_pull_conclude(pull, OMX_STATUS_UNREACHABLE);
		return;
	}
	xmit(pull, &out);
	let_others_ask(pull->ep->iface);
}

/* ---- the ioctl ---- */

static struct sk_buff *make_notify(struct omx_pull *pull)
{
	struct omx_wire_notify *body;
	struct sk_buff *skb;

	skb = omx_channel_packet(pull->ch, OMX_WIRE_NOTIFY, 0, GFP_KERNEL);
	if (!skb)
		return NULL;
	body = omx_packet_body(skb);
	body->message = cpu_to_be32(pull->message);
	return skb;
}

static struct omx_pull *pull_alloc(struct omx_endpoint *ep, struct omx_channel *ch,
				   const struct omx_ioc_pull *ioc)
{
	struct omx_pull *pull = kzalloc(sizeof(*pull), GFP_KERNEL_ACCOUNT);

	if (!pull)
		return NULL;
	pull->ep = ep;
	pull->ch = ch;
	pull->message = ioc->remote_message;
	pull->length = ioc->length;
	pull->msg_length = ioc->msg_length;
	pull->timeout = ioc->timeout_ms ?
		msecs_to_jiffies(min_t(u32, ioc->timeout_ms, INT_MAX)) : ep->timeout;
	INIT_LIST_HEAD(&pull->in_channel);
	INIT_LIST_HEAD(&pull->in_schedule);
	spin_lock_init(&pull->lock);
	refcount_set(&pull->ref, 1);
	__skb_queue_head_init(&pull->parked);
	INIT_WORK(&pull->page_in, omx_pull_page_in);
	omx_copies_init(&pull->copies, ep->iface);
	INIT_WORK(&pull->settle, omx_pull_settle);
	timer_setup(&pull->timer, timer_fired, 0);
	pull->note = omx_note_alloc(OMX_EVENT_PULL_DONE, ioc->cookie);
	pull->notify = make_notify(pull);
	if (!pull->note || !pull->notify) {
		kfree(pull->note);
		kfree_skb(pull->notify);
		kfree(pull);
		return NULL;
	}
	return pull;
}

static int take_region(struct omx_endpoint *ep, struct omx_pull *pull,
		       const struct omx_ioc_pull *ioc)
{
	struct omx_region *region;

	if (!pull->length)
		return 0;
	region = omx_region_of_message(ep, ioc->region, ioc->address, pull->length,
				       OMX_REGION_WRITE);
	if (IS_ERR(region))
		return PTR_ERR(region);
	pull->region = region;
	omx_region_cursor_init(&pull->cursor, region, OMX_REGION_WRITE);
	omx_region_cursor_init(&pull->ahead, region, OMX_REGION_WRITE);
	return 0;
}

static int enlist(struct omx_pull *pull)
{
	struct omx_channel *ch = pull->ch;
	int error = 0;

	spin_lock_bh(&ch->lock);
	if (ch->dead) {
		error = -ENOTCONN;
	} else {
		omx_channel_wake_up(ch);
		list_add_tail(&pull->in_channel, &ch->pulls);
	}
	spin_unlock_bh(&ch->lock);
	return error;
}

void omx_pull_end_if_missed(struct omx_pull *pull)
{
	struct omx_channel *ch = pull->ch;
	u8 dead = 0;

	spin_lock_bh(&ch->lock);
	if (ch->dead || list_empty(&pull->in_channel))
		dead = ch->dead ?: OMX_STATUS_ABORTED;
	spin_unlock_bh(&ch->lock);
	if (dead)
		omx_pull_end(pull, dead);
}

static void pull_from_peer(struct omx_pull *pull)
{
	struct sk_buff_head out;

	__skb_queue_head_init(&out);
	if (pull->region->mode != OMX_OVERLAP)
		omx_region_prepare_more(pull->region, pull->length, OMX_REGION_WRITE);
	omx_pull_window_init(&pull->window, pull->length, frame_length(pull));
	pull->copies.wanted = omx_copy_pays(pull->length);
	rcu_read_lock();
	local_bh_disable();
	spin_lock(&pull->lock);
	pull->state = OMX_PULL_ACTIVE;
	pull->progress = jiffies;
	omx_pull_ask(pull, omx_pull_now_us(), &out);
	mod_timer(&pull->timer, jiffies + usecs_to_jiffies(timeout_us(pull)));
	spin_unlock(&pull->lock);
	xmit(pull, &out);
	omx_pull_end_if_missed(pull);
	local_bh_enable();
	rcu_read_unlock();
}

/* status: what to tell the sender if nothing is to be fetched. */
static int start(struct omx_endpoint *ep, struct omx_pull *pull, u8 status)
{
	bool remote = pull->length && !pull->ch->local;
	int error, prepared = 0;

	/* What is local is copied, which faults as copies do. */
	if (remote)
		prepared = omx_region_prepare(pull->region, pull->length,
					      OMX_REGION_WRITE);
	if (prepared == -ENOMEM)
		return prepared;	/* there may be enough later */
	error = omx_table_add(&ep->pulls, pull, &pull->id, GFP_KERNEL_ACCOUNT);
	if (error)
		return error == -ENOSPC ? -EBUSY : error;
	trace_omx_pull_start(pull->ch, pull->message, pull->id, pull->length, pull->region);
	error = enlist(pull);
	if (error) {
		omx_table_remove(&ep->pulls, pull->id);
		return error;
	}
	/* From here on the note tells how it ends. */
	if (prepared || !pull->length) {
		pull->state = OMX_PULL_DONE;
		omx_pull_conclude(pull, prepared ? OMX_STATUS_FAULT : status);
	} else if (remote) {
		pull_from_peer(pull);
	} else {
		omx_pull_locally(pull);
	}
	return 0;
}

long omx_pull(struct omx_endpoint *ep, void __user *arg)
{
	struct omx_ioc_pull ioc;
	struct omx_channel *ch;
	struct omx_pull *pull;
	long error;

	if (copy_from_user(&ioc, arg, sizeof(ioc)))
		return -EFAULT;
	if (ioc.length > ioc.msg_length || ioc.reserved ||
	    ioc.status >= OMX_STATUSES || (ioc.length && ioc.status))
		return -EINVAL;
	ch = omx_channel_get(ep, ioc.channel);
	if (!ch)
		return -ENOENT;
	if (!omx_endpoint_takes_pulls(ep) || !omx_channel_has_space(ch, 1)) {
		omx_channel_put(ch);
		return omx_endpoint_takes_pulls(ep) ? -EAGAIN : -EBUSY;
	}
	pull = pull_alloc(ep, ch, &ioc);
	if (!pull) {
		omx_channel_put(ch);
		return -ENOMEM;
	}
	/* The transfer may run right here, in softirq: no helper is needed. */
	atomic_inc(&ep->attending);
	trace_omx_pull_begin(ch, ioc.remote_message, ioc.length);
	error = take_region(ep, pull, &ioc);
	if (!error)
		error = start(ep, pull, ioc.status);
	omx_endpoint_leave(ep);
	if (error) {
		kfree(pull->note);
		kfree_skb(pull->notify);
		omx_pull_put(pull);
	}
	return error;
}

/* ---- ending many ---- */

void omx_pulls_fail(struct omx_channel *ch, u8 status)
{
	struct omx_pull *pull;

	rcu_read_lock();
	do {
		spin_lock_bh(&ch->lock);
		pull = list_first_entry_or_null(&ch->pulls, struct omx_pull,
						in_channel);
		if (pull)
			list_del_init(&pull->in_channel);
		spin_unlock_bh(&ch->lock);
		if (pull)
			omx_pull_end(pull, status);
	} while (pull);
	rcu_read_unlock();
}

void omx_pulls_destroy(struct omx_endpoint *ep)
{
	struct omx_pull *pull;
	u32 slot = 0;

	rcu_read_lock();
	while ((pull = omx_table_next(&ep->pulls, &slot)))
		omx_pull_end(pull, OMX_STATUS_CLOSED);
	rcu_read_unlock();
	/* A timer that was running when its pull ended is over after this. */
	synchronize_rcu();
}

void omx_pull_refused(struct omx_channel *ch, u32 id, u8 status)
{
	struct omx_pull *pull = omx_table_find(&ch->ep->pulls, id);

	if (pull && pull->id == id && pull->ch == ch)
		omx_pull_end(pull, status);
	else
		omx_count(ch->ep->iface, DROP_NACK);
}

/* ---- replies ---- */

static u32 reply_id(const struct sk_buff *skb)
{
	const struct omx_wire_pull_reply *body = omx_packet_body(skb);

	return be32_to_cpu(body->pull);
}

static u64 reply_offset(const struct sk_buff *skb)
{
	const struct omx_wire_pull_reply *body = omx_packet_body(skb);

	return be64_to_cpu(body->offset);
}

static struct omx_pull *pull_of(struct omx_endpoint *ep, const struct sk_buff *skb,
				u32 id)
{
	const struct omx_wire_head *head = omx_packet_head(skb);
	struct omx_pull *pull = omx_table_find(&ep->pulls, id);

	if (!pull || pull->id != id ||
	    pull->ch->mac != omx_mac_read(eth_hdr(skb)->h_source) ||
	    pull->ch->peer_session != be32_to_cpu(head->src_session) ||
	    pull->ch->peer_endpoint != be16_to_cpu(head->src_endpoint))
		return NULL;
	return pull;
}

static void note_rtt(struct omx_channel *ch, u32 rtt)
{
	u32 smooth = READ_ONCE(ch->pull_rtt);
	u32 shortest = READ_ONCE(ch->pull_rtt_min);

	/* Channels have several pulls, but a lost update is only a lost sample. */
	WRITE_ONCE(ch->pull_rtt, smooth ? smooth + ((s32)(rtt - smooth)) / 8 : rtt);
	if (!shortest || rtt < shortest)
		WRITE_ONCE(ch->pull_rtt_min, rtt);
}

static void give_back_arrived(struct omx_pull *pull, u32 frames)
{
	u32 released = 0;

	if (unlikely(pull->released)) {
		released = min(pull->released, frames);
		pull->released -= released;
	}
	give_back(pull, frames - released);
}

static noinline void ask_for_gap(struct omx_pull *pull, u64 block, struct sk_buff_head *out)
{
	struct omx_pull_request request;

	if (!omx_pull_window_gap(&pull->window, block, omx_pull_now_us(),
				 gap_patience(pull), &request))
		return;
	omx_count(pull->ep->iface, PULL_GAP);
	omx_pull_ask_again(pull, &request, out);
}

/* New frames of a block are in place: learn from it and ask for more. */
static void advance(struct omx_pull *pull, u64 offset, u64 block, u32 frames,
		    struct sk_buff_head *out)
{
	if (omx_pull_window_samples(&pull->window, block))
		note_rtt(pull->ch, omx_pull_window_rtt(&pull->window, block, omx_pull_now_us()));
	omx_pull_window_take(&pull->window, offset, block, frames);
	if (unlikely(pull->bets) && pull->bets & 1 << block % OMX_PULL_BLOCKS && !pull->late)
		omx_count_add(pull->ep->iface, REPLY_OVERLAPPED, frames);
	give_back_arrived(pull, frames);
	pull->progress = jiffies;
	pull->backoff = 0;
	if (pull->window.measured_frames >= OMX_BLOCK_FRAMES)
		omx_pull_window_adapt(&pull->window, omx_pull_now_us(),
				      READ_ONCE(pull->ch->pull_rtt_min));
	if (omx_pull_window_wants(&pull->window))
		omx_pull_ask(pull, omx_pull_now_us(), out);
	if (block > pull->window.first_block)
		ask_for_gap(pull, block, out);
}

/* What an engine is to copy with; NULL: nothing. */
static struct omx_copies *copies_of(struct omx_pull *pull)
{
	if (likely(!pull->copies.wanted))
		return NULL;
	omx_copies_settle(&pull->copies, &pull->cursor);	/* lets frames go */
	return &pull->copies;
}

/*
 * Takes in the frame there, and new ones behind it at once where no engine
 * copies.  Returns how many bytes to go on behind, 0: its page is absent.
 */
static u32 take_frames(struct omx_pull *pull, u64 offset, struct sk_buff *skb,
		       int skb_offset, struct sk_buff_head *out)
{
	struct omx_iface *iface = pull->ep->iface;
	struct omx_copies *copies = copies_of(pull);
	u32 left = skb->len - skb_offset;
	u32 length = min(left, pull->window.frame_length);
	u32 frames = 1, bytes = length;
	u64 block;
	int error;

	switch (omx_pull_window_judge(&pull->window, offset, length, &block)) {
	case OMX_PULL_MISFIT:
		omx_count(iface, DROP_PULL_FRAME);
		return length;
	case OMX_PULL_DUPLICATE:
		omx_count(iface, DROP_PULL_DUPLICATE);
		return length;
	case OMX_PULL_NEW:
		break;
	}
	if (left > length && !copies)
		frames = omx_pull_window_run(&pull->window, offset, left, block, &bytes);
	error = omx_region_fill(&pull->cursor, offset, skb, skb_offset, bytes, copies);
	if (error == -EAGAIN) {
		/* Those that ended before the page are in place. */
		frames = (u32)(pull->cursor.offset - offset) / pull->window.frame_length;
		if (!frames)
			return 0;
		bytes = frames * pull->window.frame_length;
		error = 0;
	}
	if (!error)
		advance(pull, offset, block, frames, out);
	return bytes;
}

/*
 * Takes the frames of a reply in, of which a software device may hand us
 * several at once.  Consumes skb.
 */
void omx_pull_take_reply(struct omx_pull *pull, struct sk_buff *skb,
		       struct sk_buff_head *out)
{
	const struct omx_wire_pull_reply *body = omx_packet_body(skb);
	u64 offset = be64_to_cpu(body->offset) - OMX_REPLY_HEADER;
	u32 at = omx_parked_of(skb)->at;

	lockdep_assert_held(&pull->lock);
	if (pull->state != OMX_PULL_ACTIVE) {
		omx_count(pull->ep->iface, DROP_PULL_HANDLE);
		at = skb->len;
	}
	while (at < skb->len) {
		u32 taken = take_frames(pull, offset + at, skb, at, out);

		if (!taken) {
			omx_parked_of(skb)->at = at;
			if (omx_pull_park(pull, offset + at, skb))
				return;
			break;
		}
		at += taken;
	}
	napi_consume_skb(skb, 1);	/* its head goes to the next reply */
}

void omx_pull_unlock_and_go_on(struct omx_pull *pull, struct sk_buff_head *out)
	__releases(&pull->lock)
{
	bool complete = pull->state == OMX_PULL_ACTIVE &&
			omx_pull_window_done(&pull->window);

	if (complete && unlikely(!list_empty(&pull->copies.list)) &&
	    !omx_pull_poll_copies(pull)) {
		omx_pull_want_copies(pull);
		complete = false;
	}
	if (complete)
		pull->state = OMX_PULL_DONE;
	spin_unlock(&pull->lock);
	if (!skb_queue_empty(out))
		xmit(pull, out);
	if (complete)
		omx_pull_conclude(pull, OMX_STATUS_OK);
}

void omx_pull_reply_pkt(struct omx_iface *iface, struct omx_endpoint *ep,
			struct sk_buff *skb)
{
	struct omx_pull *pull = pull_of(ep, skb, reply_id(skb));
	struct sk_buff_head out;

	if (!pull) {
		omx_count(iface, DROP_PULL_HANDLE);
		kfree_skb(skb);
		return;
	}
	__skb_queue_head_init(&out);
	WRITE_ONCE(pull->ch->heard, jiffies);
	omx_parked_of(skb)->at = OMX_REPLY_HEADER;
	spin_lock(&pull->lock);
	trace_omx_reply_arrive(pull->ch, pull->message, reply_offset(skb),
			       skb->len - OMX_REPLY_HEADER);
	omx_pull_take_reply(pull, skb, &out);
	omx_pull_unlock_and_go_on(pull, &out);
	if (others_wait(iface))
		let_others_ask(iface);
}

/* The sender has to page in, which it answers for: no need to ask again. */
void omx_pull_hold_pkt(struct omx_iface *iface, struct omx_endpoint *ep,
		       struct sk_buff *skb)
{
	const struct omx_wire_hold *body = omx_packet_body(skb);
	struct omx_pull *pull = pull_of(ep, skb, be32_to_cpu(body->pull));
	struct omx_pull_request request;
	struct sk_buff_head out;
	u64 block;

	__skb_queue_head_init(&out);
	if (!pull) {
		omx_count(iface, DROP_HOLD);
		kfree_skb(skb);
		return;
	}
	WRITE_ONCE(pull->ch->heard, jiffies);
	trace_omx_hold_received(pull->ch, pull->message, be64_to_cpu(body->offset), body->flags);
	spin_lock(&pull->lock);
	if (pull->state == OMX_PULL_ACTIVE &&
	    omx_pull_window_find(&pull->window, be64_to_cpu(body->offset), &block)) {
		pull->progress = jiffies;
		if (body->flags & OMX_HOLD_ASK) {
			omx_pull_window_again(&pull->window, block, omx_pull_now_us(), &request);
			omx_pull_ask_again(pull, &request, &out);
		} else {
			omx_pull_window_hold(&pull->window, block, omx_pull_now_us());
			omx_pull_release_share(pull);
		}
	}
	spin_unlock(&pull->lock);
	xmit(pull, &out);
	consume_skb(skb);
	if (others_wait(iface))
		let_others_ask(iface);
}
