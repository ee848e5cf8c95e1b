// SPDX-License-Identifier: GPL-2.0
/*
 * Whose turn it is to send: channels and requests of pullers that wait for the small
 * queue of their board, and the tasklet that resumes them.
 *
 * They are put into the queue in process context and softirq, with BH off.
 */
#include <linux/etherdevice.h>
#include <linux/interrupt.h>
#include <linux/percpu.h>
#include <net/sock.h>

#include "channel/channel.h"
#include "channel/send.h"
#include "endpoint/account.h"
#include "endpoint/endpoint.h"
#include "net/board.h"
#include "net/frame.h"
#include "net/small_queue.h"
#include "net/small_queue_private.h"
#include "pull/respond.h"

/* Turns before other softirqs have theirs. */
#define TURNS_AT_ONCE	64

/* More requests of pullers than these are dropped; they are sent again. */
#define REQUESTS_MAX	1024
/* Of one of them, so that others' requests are kept as well. */
#define REQUESTS_OF_ONE	256

/* ---- running ---- */

struct queues_to_run {
	struct llist_head queues;
	struct tasklet_struct tasklet;
};

static DEFINE_PER_CPU(struct queues_to_run, queues_to_run);

void omx_small_queue_schedule(struct omx_small_queue *queue)
{
	struct queues_to_run *here;

	if (test_and_set_bit(OMX_QUEUE_SCHEDULED, &queue->flags))
		return;
	/* The tasklet has a reference, unless nobody is left who could wait. */
	if (!refcount_inc_not_zero(&omx_queue_sk(queue)->sk_refcnt))
		return;
	here = get_cpu_ptr(&queues_to_run);
	llist_add(&queue->to_run, &here->queues);
	tasklet_schedule(&here->tasklet);
	put_cpu_ptr(&queues_to_run);
}

static bool user_waits(const struct omx_board_user *user)
{
	lockdep_assert_held(&user->queue->lock);
	return !list_empty(&user->channels) || !skb_queue_empty(&user->requests);
}

static struct omx_channel *user_pop_channel(struct omx_board_user *user)
{
	struct omx_channel *ch = list_first_entry_or_null(&user->channels, struct omx_channel,
							  queueing.waiting);

	lockdep_assert_held(&user->queue->lock);
	if (ch)
		list_del_init(&ch->queueing.waiting);
	return ch;
}

struct sk_buff *omx_small_queue_pop_request(struct omx_board_user *user)
{
	struct sk_buff *skb = __skb_dequeue(&user->requests);

	lockdep_assert_held(&user->queue->lock);
	if (skb)
		omx_account_uncharge(user->account, skb->truesize);
	return skb;
}

/* Channels and requests alternate.  Both are NULL if another processor has them. */
static void user_pop(struct omx_board_user *user, struct omx_channel **ch,
		     struct sk_buff **request)
{
	*ch = user->request_is_next ? NULL : user_pop_channel(user);
	*request = *ch ? NULL : omx_small_queue_pop_request(user);
	if (!*ch && !*request)
		*ch = user_pop_channel(user);
	user->request_is_next = *ch;
}

/* Whose turn it is.  NULL: nobody waits, or the queue is full. */
static struct omx_user_turn *queue_next_turn(struct omx_small_queue *queue)
{
	bool is_full = omx_queue_charged(queue) >= omx_queue_limit(queue);

	lockdep_assert_held(&queue->lock);
	if (omx_user_turns_are_empty(&queue->turns))
		WRITE_ONCE(queue->is_full, is_full);
	return is_full ? NULL : omx_user_turns_next(&queue->turns);
}

/* A part of somebody's turn.  False: nobody has one. */
static bool queue_run_one(struct omx_small_queue *queue)
{
	struct omx_board_user *user;
	struct sk_buff *request;
	struct omx_channel *ch;
	struct omx_user_turn *turn;
	s32 credit;
	u32 sent;

	spin_lock(&queue->lock);
	turn = queue_next_turn(queue);
	if (!turn) {
		spin_unlock(&queue->lock);
		return false;
	}
	user = container_of(turn, struct omx_board_user, turn);
	credit = queue->turns.bytes;
	user_pop(user, &ch, &request);
	spin_unlock(&queue->lock);

	if (ch)
		sent = omx_channel_turn(ch, credit);
	else
		sent = request ? omx_pull_request_turn(queue->board, request, credit) : 0;

	spin_lock(&queue->lock);
	omx_user_turn_take(&queue->turns, turn, sent);
	if (!user_waits(user))
		omx_user_turn_end(turn);
	spin_unlock(&queue->lock);
	return true;
}

static void queue_run(struct omx_small_queue *queue)
{
	unsigned int turns;
	bool more = true;

	if (omx_queue_is_low(queue))
		omx_small_queue_raise_cap(queue);
	for (turns = 0; more && turns < TURNS_AT_ONCE; turns++) {
		rcu_read_lock();	/* the user's endpoints, and the user, stay */
		more = queue_run_one(queue);
		rcu_read_unlock();
	}
	if (more)
		omx_small_queue_schedule(queue);
}

static void queues_run(struct tasklet_struct *tasklet)
{
	struct queues_to_run *here = container_of(tasklet, struct queues_to_run, tasklet);
	struct llist_node *node = llist_del_all(&here->queues);

	while (node) {
		struct omx_small_queue *queue = container_of(node, struct omx_small_queue, to_run);

		node = node->next;
		clear_bit_unlock(OMX_QUEUE_SCHEDULED, &queue->flags);
		/* Full barrier: whoever schedules it from here on has it run once more. */
		smp_mb__after_atomic();
		queue_run(queue);
		sock_put(omx_queue_sk(queue));
	}
}

/* ---- waiting ---- */

/* Before the lock is released the user has put something into a list of its own. */
static void queue_enlist(struct omx_small_queue *queue, struct omx_board_user *user)
{
	lockdep_assert_held(&queue->lock);
	omx_user_turn_begin(&queue->turns, &user->turn);
	WRITE_ONCE(queue->is_full, true);
	/* Pairs with queue_write_space(): the last frames may have been sent meanwhile. */
	smp_mb();
	if (omx_queue_is_low(queue))
		omx_small_queue_schedule(queue);
}

bool omx_small_queue_asks(struct omx_channel *ch)
{
	struct omx_board_user *user = ch->ep->board_user;

	lockdep_assert_held(&ch->lock);
	if (ch->queueing.credit > 0 && !omx_small_queue_is_capped(ch->queue))
		return true;
	/* After a grace period nobody enters the list. */
	if (ch->dead || omx_endpoint_is_dead(ch->ep))
		return false;
	spin_lock(&ch->queue->lock);
	if (list_empty(&ch->queueing.waiting)) {
		list_add_tail(&ch->queueing.waiting, &user->channels);
		omx_count(ch->ep->board, TX_WAITED);
	}
	queue_enlist(ch->queue, user);
	spin_unlock(&ch->queue->lock);
	return false;
}

static bool puller_is_same(const struct sk_buff *a, const struct sk_buff *b)
{
	const struct omx_wire_head *one = omx_packet_head(a), *other = omx_packet_head(b);

	return one->src_session == other->src_session &&
	       one->src_endpoint == other->src_endpoint &&
	       one->dst_endpoint == other->dst_endpoint &&
	       ether_addr_equal(eth_hdr(a)->h_source, eth_hdr(b)->h_source);
}

/* What waits already when the puller asks for it again, or NULL.  *count: how much of its does. */
static struct sk_buff *request_find(const struct sk_buff_head *requests, const struct sk_buff *skb,
				    u32 *count)
{
	struct sk_buff *known;

	*count = 0;
	skb_queue_walk(requests, known) {
		if (!puller_is_same(known, skb))
			continue;
		++*count;
		if (omx_request_is_same(known, skb))
			return known;
	}
	return NULL;
}

/* Frames that have been sent since the first request are sent again. */
static void request_ask_again(struct omx_board *board, struct sk_buff *known, struct sk_buff *skb)
{
	struct omx_request_state *wanted = omx_request_state(known);
	u32 again = omx_request_state(skb)->wanted;

	omx_count_add(board, PULL_FRAMES_WAITED, hweight32(wanted->wanted & again));
	wanted->wanted |= again;
}

void omx_small_queue_defer(struct omx_board_user *user, struct sk_buff *skb)
{
	struct omx_small_queue *queue = user->queue;
	struct sk_buff *known;
	bool full;
	u32 count;

	spin_lock(&queue->lock);
	known = request_find(&user->requests, skb, &count);
	if (known)
		request_ask_again(queue->board, known, skb);
	full = count >= REQUESTS_OF_ONE || skb_queue_len(&user->requests) >= REQUESTS_MAX;
	if (!known && !full) {
		omx_account_charge(user->account, skb->truesize);
		__skb_queue_tail(&user->requests, skb);
		queue_enlist(queue, user);
	}
	spin_unlock(&queue->lock);
	omx_count(queue->board, TX_WAITED);
	if (known)
		consume_skb(skb);
	else if (full)
		kfree_skb(skb);
}

static void queueing_forget(struct omx_channel *ch)
{
	struct omx_board_user *user = ch->ep->board_user;

	lockdep_assert_held(&user->queue->lock);
	if (list_empty(&ch->queueing.waiting))
		return;
	list_del_init(&ch->queueing.waiting);
	if (!user_waits(user))
		omx_user_turn_end(&user->turn);
}

void omx_small_queue_forget(struct omx_channel *ch)
{
	struct omx_small_queue *queue = ch->ep->board_user->queue;

	lockdep_assert_held(&ch->lock);
	spin_lock(&queue->lock);
	queueing_forget(ch);
	spin_unlock(&queue->lock);
}

void omx_small_queue_stop(struct omx_endpoint *ep)
{
	struct omx_small_queue *queue = ep->board_user->queue;
	struct omx_channel *ch;
	u32 slot = 0;

	rcu_read_lock();
	while ((ch = omx_table_next(&ep->channels, &slot))) {
		spin_lock_bh(&queue->lock);
		queueing_forget(ch);
		spin_unlock_bh(&queue->lock);
	}
	rcu_read_unlock();
}

/* ---- loading and unloading ---- */

void omx_small_queue_turns_init(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct queues_to_run *there = per_cpu_ptr(&queues_to_run, cpu);

		init_llist_head(&there->queues);
		tasklet_setup(&there->tasklet, queues_run);
	}
}

/* The last queue has gone, perhaps a moment ago and by its tasklet. */
void omx_small_queue_turns_exit(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		tasklet_kill(&per_cpu_ptr(&queues_to_run, cpu)->tasklet);
}
