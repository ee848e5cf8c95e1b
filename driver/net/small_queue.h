/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The small queue of a board: how much of what its endpoints send may wait in the
 * queues of the device, and whose turn it is to send more.
 *
 * Without a limit, one program fills a slow device's queue with megabytes, behind
 * which every other frame of the host waits.  As with TCP small queues (TSQ), frames
 * are charged to a struct sock until the device has sent them; what exceeds the limit
 * is not made yet, and a destructor resumes it.  There is one limit for the board, not
 * one for each endpoint: everything beyond it waits here, where users have turns
 * (turns.h).  So a user with many endpoints has no larger share than one with a
 * single channel, whatever the order in which the device's qdisc serves its flows.
 *
 * Charged are sequenced packets and pull responses.  Acks, requests and the like are
 * short, and let peers make progress: they are sent at once.  A frame that a board
 * sends to itself uses no device.
 *
 * The queue exists while endpoints are open on the board, and longer as long as
 * frames are charged to it; either keeps the module loaded.
 */
#ifndef OMX_SMALL_QUEUE_H
#define OMX_SMALL_QUEUE_H

#include <linux/cache.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/rcupdate.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "incoming/receivers.h"
#include "net/user_turns.h"

struct omx_account;
struct omx_board;
struct omx_channel;
struct omx_endpoint;
struct sock;

struct omx_small_queue {
	/*
	 * So much is charged that nobody may send but those whose turn it is.  Always
	 * set while somebody waits.
	 */
	bool is_full;
	u32 limit;		/* bytes of memory: what the device sends in some time; hint */
	u32 cap;		/* ... and what its queue takes, having refused more; hint */
	u32 look_at;		/* bytes charged when the limit is looked at again; hint */
	struct sock *probe;	/* whom a frame is charged to that measures the device */
	struct omx_board *board;

	spinlock_t lock ____cacheline_aligned_in_smp;
	struct omx_user_turns turns;	/* under lock, and so is setting is_full */

	struct llist_node to_run;
	unsigned long flags;	/* OMX_QUEUE_*; atomic */

	unsigned int endpoints;		/* all under the mutex in small_queue.c */
	struct list_head users;
};

/* Bits of omx_small_queue.flags */
#define OMX_QUEUE_SCHEDULED	0	/* in a list of those to run */
#define OMX_QUEUE_PROBING	1	/* a probe is under way */

/* What one user's endpoints on a board share. */
struct omx_board_user {
	struct omx_small_queue *queue;
	struct omx_account *account;
	struct list_head in_queue;	/* this and the next under the mutex */
	unsigned int endpoints;
	u32 number;			/* no other user of the board has it */
	struct rcu_head rcu;

	struct omx_user_turn turn;		/* everything below: queue->lock */
	struct list_head channels;	/* that wait: struct omx_queueing */
	struct sk_buff_head requests;	/* of pullers, that wait; own lock unused */
	bool request_is_next;		/* channels and requests alternate */

	struct omx_user_turn pull_turn;	/* both: board->pulls.lock */
	struct list_head pulls;		/* that wait */

	struct omx_receiver receiver;	/* board->incoming.lock */
};

/* A channel's. */
struct omx_queueing {
	struct list_head waiting;	/* user->channels, under queue->lock */
	s32 credit;			/* not 0: it is its turn; under ch->lock */
};

static inline void omx_queueing_init(struct omx_queueing *queueing)
{
	INIT_LIST_HEAD(&queueing->waiting);
	queueing->credit = 0;
}

/* ---- process context ---- */
int omx_small_queues_init(void);
void omx_small_queues_exit(void);	/* no endpoint is open, no frame is charged */
/* -ENOMEM.  Sets ep->board_user. */
int omx_small_queue_join(struct omx_board *board, struct omx_endpoint *ep);
/* No frame and no ioctl uses the endpoint any more: its channels wait no longer. */
void omx_small_queue_stop(struct omx_endpoint *ep);
/* A grace period later. */
void omx_small_queue_leave(struct omx_endpoint *ep);

/* ---- BH off ---- */
/* Charges a frame that is about to be sent. */
void omx_small_queue_charge(struct omx_small_queue *queue, struct sk_buff *skb);
/* The device, or its queue, has refused a frame that was charged. */
void omx_small_queue_refused(struct omx_small_queue *queue);
/* How many bytes of memory it takes before others have to wait. */
u32 omx_small_queue_spare(struct omx_small_queue *queue);
/* How many bytes it takes before it is capped. */
u32 omx_small_queue_room(struct omx_small_queue *queue);
/* Is even whose turn it is to send no more for now? */
bool omx_small_queue_is_capped(struct omx_small_queue *queue);
/* ch->lock held.  False: the channel waits for its turn; omx_channel_turn() is called. */
bool omx_small_queue_asks(struct omx_channel *ch);
/* The channel is dead.  ch->lock held. */
void omx_small_queue_forget(struct omx_channel *ch);
/* Keeps a request until its turn, when omx_pull_request_turn() is called.  Consumes skb. */
void omx_small_queue_defer(struct omx_board_user *user, struct sk_buff *skb);

/* May a frame be sent without waiting?  NULL: of a board to itself. */
static inline bool omx_small_queue_admits(const struct omx_small_queue *queue)
{
	return !queue || likely(!READ_ONCE(queue->is_full));
}

/* Do frames wait in it, perhaps for as long as all that may wait takes? */
static inline bool omx_small_queue_delays(const struct omx_small_queue *queue)
{
	return !omx_small_queue_admits(queue) && READ_ONCE(queue->limit) <= READ_ONCE(queue->cap);
}

#endif
