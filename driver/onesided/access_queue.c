// SPDX-License-Identifier: GPL-2.0
/*
 * The queue of a channel's accesses, and who runs it.
 *
 * The channel appends packets with its lock held and runs the queue after that:
 * mostly in softirq, as frames arrive.  Whoever finds that nobody runs it performs
 * accesses without the lock, which keeps them in order.  If the first one needs
 * pages, or if there are many, work of the pager goes on in process context.
 *
 * An access that waits for anything else goes on when the queue is run again: with
 * the next ack if the channel is full of responses, when the program kicks if its
 * ring is full.
 */
#include <linux/sched.h>

#include "channel/channel.h"
#include "channel/private.h"
#include "channel/receive_window.h"
#include "channel/send.h"
#include "channel/timer.h"
#include "compat.h"
#include "endpoint/budget.h"
#include "endpoint/endpoint.h"
#include "memory/extent.h"
#include "memory/region.h"
#include "memory/region_page_in.h"
#include "memory/space.h"
#include "net/board.h"
#include "onesided/access_queue.h"
#include "onesided/perform.h"
#include "onesided/put_ack.h"
#include "pager/pager.h"

/* Accesses that are performed with BH off before others have their turn. */
#define AT_ONCE		64

/* ---- packets come and go ---- */

bool omx_receive_access(struct omx_channel *ch, struct sk_buff *skb)
{
	struct omx_access_queue *queue = &ch->access_queue;
	struct omx_budget *budget = &ch->ep->budget;
	u32 queued = skb_queue_len(&queue->packets);

	lockdep_assert_held(&ch->lock);
	BUILD_BUG_ON(sizeof(struct omx_access_cb) > sizeof(skb->cb));
	/* One always may wait, so that every channel makes progress. */
	if (queued >= OMX_WINDOW ||
	    (queued && !omx_budget_has_room(budget, OMX_ACCOUNT_RECEIVE)))
		return false;
	memset(skb->cb, 0, sizeof(struct omx_access_cb));
	omx_access_cb(skb)->seq = ch->rx.next;
	omx_budget_charge(budget, skb->truesize);
	__skb_queue_tail(&queue->packets, skb);
	return true;
}

u32 omx_access_queue_reached(const struct omx_channel *ch)
{
	struct sk_buff *first = skb_peek(&ch->access_queue.packets);

	lockdep_assert_held(&ch->lock);
	return (first ? omx_access_cb(first)->seq : ch->rx.next) - 1;
}

/* Whoever runs the queue calls this, or nobody runs it. */
static void queue_drop_unfinished(struct omx_channel *ch)
{
	struct omx_access_queue *queue = &ch->access_queue;
	const struct sk_buff *first = skb_peek(&queue->packets);

	lockdep_assert_held(&ch->lock);
	/* What the peer sent before comes first. */
	if (first && !omx_access_cb(first)->seq)
		return;
	omx_active_abandon(ch);
	queue->unfinished = false;
	queue->begun_anew = false;
}

/*
 * With the number 0 they hold back the new ones: what has been performed is -1.  The rest of
 * a put that they have begun will never come.
 */
void omx_access_queue_restart(struct omx_channel *ch)
{
	struct omx_access_queue *queue = &ch->access_queue;
	struct sk_buff *skb;

	lockdep_assert_held(&ch->lock);
	skb_queue_walk(&queue->packets, skb)
		omx_access_cb(skb)->seq = 0;
	omx_performed_restart(&queue->performed);
	queue->begun_anew = true;
	if (!queue->running)
		queue_drop_unfinished(ch);
}

void omx_access_queue_drop(struct omx_channel *ch, struct sk_buff_head *packets)
{
	struct omx_access_queue *queue = &ch->access_queue;
	unsigned long charged = 0;
	struct sk_buff *skb;

	lockdep_assert_held(&ch->lock);
	WRITE_ONCE(queue->stopped, true);
	omx_performed_stop(&queue->performed, omx_access_queue_reached(ch));
	/* Else whoever runs it does. */
	if (!queue->running || queue->waits)
		omx_active_abandon(ch);
	skb_queue_walk(&queue->packets, skb)
		charged += skb->truesize;
	omx_budget_uncharge(&ch->ep->budget, charged);
	skb_queue_splice_tail_init(&queue->packets, packets);
}

/*
 * Nobody sees the entries behind that of a put whose rest is missing, whatever else is
 * queued: the channel's timer sees to it that this ends.
 */
static void queue_note_unfinished(struct omx_channel *ch, bool pauses)
{
	struct omx_access_queue *queue = &ch->access_queue;
	bool unfinished = pauses && !queue->stopped && queue->active.entry;

	lockdep_assert_held(&ch->lock);
	if (unfinished)
		omx_channel_wake_up(ch);
	queue->unfinished = unfinished;
	if (unfinished)
		omx_channel_watch(ch);
}

/* The rest of an access that has an entry comes through, because others wait for it. */
static struct sk_buff *queue_peek(const struct omx_channel *ch)
{
	struct sk_buff *skb = skb_peek(&ch->access_queue.packets);

	if (!skb || omx_channel_may_respond(ch) || omx_active_goes_on(ch, skb))
		return skb;
	return NULL;
}

/*
 * The first access, referenced.  NULL: whoever runs the queue stops, because nothing
 * can be performed now.
 */
static struct sk_buff *queue_first(struct omx_channel *ch, struct sk_buff_head *out)
{
	struct omx_access_queue *queue = &ch->access_queue;
	struct sk_buff *skb = NULL;

	lockdep_assert_held(&ch->lock);
	queue->again = false;
	queue->waits = false;
	if (unlikely(queue->begun_anew))
		queue_drop_unfinished(ch);
	if (queue->stopped)
		omx_active_abandon(ch);
	else
		skb = queue_peek(ch);
	if (skb) {
		skb_get(skb);
	} else {
		queue->running = false;
		omx_put_ack_done(ch, out);
	}
	if (static_branch_unlikely(&omx_active_windows))
		queue_note_unfinished(ch, !skb);
	return skb;
}

static void queue_note_end(struct omx_channel *ch, const struct sk_buff *skb)
{
	const struct omx_access_cb *cb = omx_access_cb(skb);
	struct omx_access_queue *queue = &ch->access_queue;

	lockdep_assert_held(&ch->lock);
	if (cb->ack) {
		const struct omx_wire_put *body = omx_packet_body(skb);

		queue->ack = max(queue->ack, cb->ack);
		queue->acks.put = be32_to_cpu(body->access);
	}
	/* The response has been given to the channel, perhaps with others behind it. */
	if (unlikely(cb->refused))
		omx_performed_hold(&queue->performed, cb->seq, omx_channel_last_seq(ch));
}

/* The first access has been performed.  True: the window may be opened again. */
static bool queue_remove(struct omx_channel *ch, struct sk_buff *skb)
{
	struct omx_access_queue *queue = &ch->access_queue;
	u32 left;

	lockdep_assert_held(&ch->lock);
	if (queue->stopped)
		return false;
	queue_note_end(ch, skb);
	__skb_unlink(skb, &queue->packets);
	omx_budget_uncharge(&ch->ep->budget, skb->truesize);
	refcount_dec(&skb->users);	/* the caller has another reference */
	left = skb_queue_len(&queue->packets);
	/* Not after each: it sends an ack. */
	return ch->window_closed && (!left || left == OMX_WINDOW / 2);
}

/* ---- running ---- */

/*
 * Whoever runs the queue has a reference on the channel, for what it begins.  The
 * channel is not freed before the queue is stopped.
 */
static bool queue_begin(struct omx_channel *ch)
{
	struct omx_access_queue *queue = &ch->access_queue;

	lockdep_assert_held(&ch->lock);
	if (queue->running || queue->stopped) {
		queue->again = true;
		return false;
	}
	queue->running = true;
	omx_channel_ref(ch);
	return true;
}

static struct sk_buff *queue_look(struct omx_channel *ch, struct sk_buff_head *out)
{
	struct sk_buff *skb;

	spin_lock(&ch->lock);
	skb = queue_first(ch, out);
	spin_unlock(&ch->lock);
	return skb;
}

/* The first access has been performed.  Returns the next one, as queue_first() does. */
static struct sk_buff *queue_next(struct omx_channel *ch, struct sk_buff *skb,
				  struct sk_buff_head *out)
{
	struct sk_buff *next = NULL;
	bool reopen;

	spin_lock(&ch->lock);
	reopen = queue_remove(ch, skb);
	if (likely(!reopen))
		next = queue_first(ch, out);
	spin_unlock(&ch->lock);
	consume_skb(skb);
	if (next)
		ch->access_queue.now = 0;	/* it may take long */
	if (likely(!reopen))
		return next;
	omx_channel_receive_resume(ch);
	return queue_look(ch, out);
}

/* The ring had no room.  NULL: stop, nobody has made room since. */
static struct sk_buff *queue_retry(struct omx_channel *ch, struct sk_buff_head *out)
{
	struct omx_access_queue *queue = &ch->access_queue;
	struct sk_buff *skb = NULL;

	spin_lock(&ch->lock);
	if (queue->again) {
		skb = queue_first(ch, out);
	} else {
		queue->running = false;
		if (queue->stopped)
			omx_active_abandon(ch);
	}
	spin_unlock(&ch->lock);
	return skb;
}

/* The next access waits: the initiator learns of those that are done. */
static void queue_pause(struct omx_channel *ch, struct sk_buff_head *out)
{
	spin_lock(&ch->lock);
	omx_put_ack_done(ch, out);
	spin_unlock(&ch->lock);
}

/*
 * The same, until process context goes on with queue_look().  A page may never come, and the
 * channel may end meanwhile: others wait for what is behind the entry of an unfinished put.
 */
static void queue_leave_to_process(struct omx_channel *ch, struct sk_buff_head *out)
{
	struct omx_access_queue *queue = &ch->access_queue;

	spin_lock(&ch->lock);
	omx_put_ack_done(ch, out);
	queue->waits = true;
	if (queue->stopped)
		omx_active_abandon(ch);
	spin_unlock(&ch->lock);
}

/*
 * Begins with the first access, which queue_first() has returned.  True: whoever runs the
 * queue has to go on in process context.
 */
static bool queue_perform_some(struct omx_channel *ch, struct sk_buff *skb,
			       struct sk_buff_head *out)
{
	unsigned int n;

	for (n = 0; skb && n < AT_ONCE; n++) {
		int error = omx_access_perform(ch, skb);

		if (likely(!error)) {
			skb = queue_next(ch, skb, out);
			continue;
		}
		consume_skb(skb);
		if (error == -EAGAIN) {
			queue_leave_to_process(ch, out);
			return true;
		}
		queue_pause(ch, out);
		skb = queue_retry(ch, out);
	}
	if (likely(!skb))
		return false;
	consume_skb(skb);
	queue_leave_to_process(ch, out);
	return true;
}

/*
 * Whoever calls this runs the queue.  True: it has to go on in process context; else
 * it does not run the queue any more.
 */
static bool queue_run_some(struct omx_channel *ch)
{
	struct sk_buff_head out;
	bool more;

	__skb_queue_head_init(&out);
	ch->access_queue.now = 0;
	more = queue_perform_some(ch, queue_look(ch, &out), &out);
	omx_channel_xmit(ch, &out);
	return more;
}

/* ---- in process context ---- */

static void queue_end_wait(struct omx_access_queue *queue)
{
	if (queue->wait.region)
		omx_region_put(queue->wait.region);
	queue->wait = (struct omx_access_wait){};
}

/* May sleep for ever for pages of the program; nothing of the endpoint is used. */
static void queue_wait(struct omx_access_queue *queue)
{
	const struct omx_access_wait *wait = &queue->wait;
	int error = 0;

	if (READ_ONCE(queue->stopped))
		error = -ECANCELED;
	else if (wait->region)
		error = omx_region_page_in(wait->region, wait->offset, wait->length,
					   wait->access);
	else if (wait->tick)
		schedule_timeout_uninterruptible(1);
	queue->failed_wait = error ? omx_page_in_status(error) : OMX_STATUS_OK;
	queue_end_wait(queue);
}

static void queue_go_on(struct omx_pager_work *work)
{
	struct omx_access_queue *queue = container_of(work, struct omx_access_queue, work);
	struct omx_channel *ch = container_of(queue, struct omx_channel, access_queue);
	bool more;

	do {
		queue_wait(queue);
		/* The endpoint stays while queue_first() finds the queue not stopped. */
		rcu_read_lock();
		local_bh_disable();
		more = queue_run_some(ch);
		local_bh_enable();
		rcu_read_unlock();
		cond_resched();
	} while (more);
	omx_channel_put(ch);
}

void omx_access_queue_init(struct omx_access_queue *queue)
{
	__skb_queue_head_init(&queue->packets);
	omx_pager_work_init(&queue->work, queue_go_on);
}

void omx_access_queue_destroy(struct omx_access_queue *queue)
{
	if (queue->extent)
		omx_extent_put(queue->extent);
}

/* The work has the reference on the channel then, and runs the queue. */
static void queue_leave(struct omx_channel *ch, bool more)
{
	if (more)
		omx_pager_queue(ch->ep->space->pager, &ch->access_queue.work);
	else
		omx_channel_put(ch);
}

struct sk_buff *omx_access_queue_begin(struct omx_channel *ch, u64 now,
				       struct sk_buff_head *out)
{
	struct sk_buff *skb;

	if (!queue_begin(ch))
		return NULL;
	ch->access_queue.now = now;
	skb = queue_first(ch, out);
	if (!skb)
		omx_channel_put(ch);
	return skb;
}

void omx_access_queue_run(struct omx_channel *ch, struct sk_buff *skb)
{
	struct sk_buff_head out;
	bool more;

	__skb_queue_head_init(&out);
	more = queue_perform_some(ch, skb, &out);
	if (!skb_queue_empty(&out))
		omx_channel_xmit(ch, &out);
	queue_leave(ch, more);
}

bool omx_access_queue_enter(struct omx_channel *ch)
{
	bool begins;

	if (!skb_queue_empty_lockless(&ch->access_queue.packets))
		return false;
	spin_lock(&ch->lock);
	begins = queue_begin(ch);
	spin_unlock(&ch->lock);
	return begins;
}

void omx_access_queue_leave(struct omx_channel *ch)
{
	queue_leave(ch, queue_run_some(ch));
}

/* ---- the endpoint ---- */

static void queue_resume(struct omx_channel *ch)
{
	struct sk_buff_head out;
	struct sk_buff *access;

	if (skb_queue_empty_lockless(&ch->access_queue.packets))
		return;
	__skb_queue_head_init(&out);
	local_bh_disable();
	spin_lock(&ch->lock);
	access = omx_channel_next_access(ch, 0, &out);
	spin_unlock(&ch->lock);
	omx_channel_xmit(ch, &out);
	omx_channel_perform(ch, access);
	local_bh_enable();
}

void omx_access_queues_resume(struct omx_endpoint *ep)
{
	struct omx_channel *ch;
	u32 slot = 0;

	rcu_read_lock();
	while ((ch = omx_table_next(&ep->channels, &slot)))
		queue_resume(ch);
	rcu_read_unlock();
}

/* Returns whether somebody runs the queue. */
static bool queue_stop(struct omx_channel *ch)
{
	struct sk_buff_head packets;
	bool running;

	__skb_queue_head_init(&packets);
	spin_lock_bh(&ch->lock);
	omx_access_queue_drop(ch, &packets);
	running = ch->access_queue.running;
	spin_unlock_bh(&ch->lock);
	__skb_queue_purge(&packets);
	return running;
}

void omx_access_queues_stop(struct omx_endpoint *ep)
{
	struct omx_channel *ch;
	bool running = false;
	u32 slot = 0;

	while ((ch = omx_table_next(&ep->channels, &slot)))
		running |= queue_stop(ch);
	/*
	 * Whoever runs one has not looked at `stopped` yet, or is in a read-side section, at
	 * whose end it may send an ack: the caller waits for another grace period before it
	 * frees anything.
	 */
	if (running)
		synchronize_rcu();
}
