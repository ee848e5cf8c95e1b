/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A message that this host pulls.  This header is shared by the files that do
 * the work and by nobody else:
 *
 *   pull.c           states, and every way a pull ends
 *   pull_start.c     starts a pull, for a program or for a put of a peer
 *   schedule.c       whose turn it is among the pulls of a board
 *   request.c        requests blocks of frames from the sender
 *   pull_timer.c     requests again what was lost, and gives up on silence
 *   response.c       receives frames
 *   push.c           frames that nobody has requested, at both ends
 *   delivery.c       measures the path by the blocks that arrive
 *   pull_page_in.c   brings pages that are absent, and parks frames meanwhile
 *   pull_copies.c       waits for DMA engines that copy the last frames
 *   local.c          copies from a sender on this host instead of requesting
 */
#ifndef OMX_PULL_PRIVATE_H
#define OMX_PULL_PRIVATE_H

#include <linux/list.h>
#include <linux/math64.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>
#include <linux/timekeeping.h>
#include <linux/timer.h>

#include "engine/copies.h"
#include "endpoint/endpoint.h"
#include "memory/cursor.h"
#include "memory/region.h"
#include "memory/region_page_in.h"
#include "net/board.h"
#include "omx_wire.h"
#include "pager/pager.h"
#include "pull/pull.h"
#include "pull/pull_window.h"

struct omx_completion;
struct omx_rndv;
struct omx_window;

/* The transitions are a table at the top of pull.c. */
enum omx_pull_state {
	OMX_PULL_STARTING,	/* only who starts it may end it */
	OMX_PULL_REQUESTING,	/* frames come from a peer */
	OMX_PULL_COPYING,	/* local.c copies from a sender on this host */
	OMX_PULL_DONE,		/* whoever made it DONE concludes it */
};

/*
 * The part of a pull that waits for pages of the receiver: pull_page_in.c owns
 * it, other files call that file's functions.  Under pull->lock.
 */
struct omx_pull_paging {
	struct omx_pager_work work;
	bool running;		/* the work is queued or runs, or its caller is about to */
	bool resuming;		/* the frames being received were parked */
	bool early;		/* the first block was requested before its pages came */
	u16 dropped;		/* bit n: request frames of block n (modulo) again */
	u32 parked_bytes;
	struct sk_buff_head parked;	/* frames ahead of their pages; own lock unused */
	u64 pinned;		/* with overlapped pinning: up to here, once */
	u64 offset;		/* pages have been brought up to here */
};

static_assert(OMX_PULL_BLOCKS <= 8 * sizeof_field(struct omx_pull_paging, dropped));

/*
 * A transfer between two processes of this host, while its pull is COPYING.
 * Only the work uses it, once it has been queued.
 */
struct omx_local_copy {
	struct omx_pager_work work;
	struct omx_rndv *source;	/* referenced */
	struct omx_cursor from;
	u64 offset;			/* copied up to here */
	bool lacks_source;		/* the absent page is the sender's, not the receiver's */
};

/* What was on its way when a block was requested: its arrival measures the path. */
struct omx_pull_mark {
	u32 delivered;			/* omx_pull_schedule_delivered() */
	bool was_quiet;			/* nothing else: the round trip is the path's own */
};

/*
 * References: one while the pull is in progress, which the concluder gives up,
 * and one of each work while that is queued or runs.
 */
struct omx_pull {
	u32 id;
	u32 message;			/* the sender's number of it */
	refcount_t ref;
	struct rcu_head rcu;
	struct omx_account *user;	/* charged for it */
	struct omx_endpoint *ep;
	struct omx_channel *ch;		/* referenced */
	struct omx_region *region;	/* referenced; NULL: nothing to fetch */
	struct omx_window *put_window;	/* a put of a peer goes there; referenced until the end */
	bool by_driver;			/* not started by the program, which may not be running */
	struct omx_completion *completion;	/* NULL: a put of which no program is told */
	struct sk_buff *notify;		/* made beforehand: it must not fail */
	u64 start;			/* in the region */
	u64 length;
	u64 msg_length;
	unsigned long timeout;		/* jiffies */

	struct list_head in_channel;	/* ch->pulls, under ch->lock */
	struct list_head in_schedule;	/* under board->pulls.lock */

	spinlock_t lock;		/* everything below */
	enum omx_pull_state state;
	struct omx_pull_window window;
	struct omx_cursor cursor;	/* where frames go */
	struct omx_cursor ahead;		/* where frames are requested */
	unsigned long progress;		/* jiffies; only while frames are outstanding */
	u32 yielded;			/* outstanding bytes whose share others have */
	u8 backoff;
	bool has_turn;			/* schedule.c lets it request now */
	u32 pushed_bytes;		/* of the first frames, which were pushed ... */
	u32 pushed_left;		/* ... and those of these frames that are not received */
	struct omx_pull_mark marks[OMX_PULL_BLOCKS];
	struct timer_list timer;

	struct omx_pull_paging paging;
	struct omx_local_copy local;

	struct omx_copies copies;	/* of whoever concludes the pull once it is DONE */
#ifdef OMX_DMA
	bool settling;			/* settle is queued or runs */
	struct omx_pager_work settle;
#endif
};

/* In the control block of a frame that is being received or is parked. */
struct omx_parked {
	u32 at;			/* the bytes behind this offset are not in place yet */
};

static inline struct omx_parked *omx_parked_of(struct sk_buff *skb)
{
	return (struct omx_parked *)skb->cb;
}

static inline u32 omx_pull_now_us(void)
{
	return div_u64(ktime_get_mono_fast_ns(), NSEC_PER_USEC);
}

/* The next block to request.  False: all have been requested. */
static inline bool omx_pull_next_block(const struct omx_pull *pull, u64 *start, u64 *end)
{
	u64 length = omx_pull_window_block_length(&pull->window);

	*start = pull->window.next_block * length;
	*end = min(*start + length, pull->length);
	return *start < pull->length;
}

/* ---- pull.c ---- */
/* pull->lock held. */
void omx_pull_move(struct omx_pull *pull, enum omx_pull_state state);
/* Once, by whoever made it DONE; no lock held. */
void omx_pull_conclude(struct omx_pull *pull, u8 status);
/* Ends a pull that is STARTING; no lock held. */
void omx_pull_conclude_start(struct omx_pull *pull, u8 status);
/* Ends a pull unless it ends by itself right now; no lock held. */
void omx_pull_end(struct omx_pull *pull, u8 status);
/*
 * Ends a pull whose channel failed while it was STARTING, because
 * omx_pulls_fail() could not do that.  RCU read lock held.
 */
void omx_pull_end_if_missed(struct omx_pull *pull);
void omx_pull_put(struct omx_pull *pull);
/* What the program is charged for a pull. */
unsigned long omx_pull_charge(const struct omx_pull *pull);

/* ---- schedule.c ---- */
/* Sets how many frames it may have outstanding, and request at once.  pull->lock held. */
void omx_pull_schedule_window(struct omx_pull *pull);
/* Does it wait for its turn already?  Nothing is requested before.  pull->lock held. */
static inline bool omx_pull_schedule_waits(const struct omx_pull *pull)
{
	return !pull->has_turn && !list_empty_careful(&pull->in_schedule);
}

/* Takes the right to request so many frames, or queues the pull for it.  pull->lock held. */
bool omx_pull_schedule_may_request(struct omx_pull *pull, u32 frames);
/*
 * Gives the pull's share to others while it waits for a silent sender or for
 * pages.  pull->lock held.
 */
void omx_pull_schedule_yield(struct omx_pull *pull);
/*
 * The same, but for what a sender uses of the board's link that has not sent in `us` what
 * was requested.
 */
void omx_pull_schedule_yield_slow(struct omx_pull *pull, u32 us);
/* Ends the wait for a turn, if it waits.  The pull has ended, or pull->lock held. */
void omx_pull_schedule_dequeue(struct omx_pull *pull);
void omx_pull_schedule_waiting(struct omx_board *board);

static inline u32 omx_pull_outstanding_bytes(const struct omx_pull *pull)
{
	return pull->window.outstanding * pull->window.frame_length;
}

/*
 * Requested bytes have arrived.  pull->lock held, or DONE by its concluder.
 * The caller calls omx_pull_schedule_next() afterwards, or the last pull that waits may
 * never have its turn.  Fully ordered; pairs with the barrier in schedule.c.
 */
static inline void omx_pull_schedule_return(struct omx_pull *pull, u32 bytes)
{
	atomic_sub_return(bytes, &pull->ep->board->pulls.outstanding);
}

/* The same for those that have not, and whose share others get. */
static inline void omx_pull_schedule_give_up(struct omx_pull *pull, u32 bytes)
{
	atomic_sub(bytes, &pull->ep->board->pulls.requested);
	omx_pull_schedule_return(pull, bytes);
}

/* Bytes arrive whose share was given up, or which had none. */
static inline void omx_pull_schedule_add_delivered(struct omx_pull *pull, u32 bytes)
{
	atomic_add(bytes, &pull->ep->board->pulls.requested);
}

/* Bytes that have arrived; wraps. */
static inline u32 omx_pull_schedule_delivered(const struct omx_pull_scheduler *pulls)
{
	return atomic_read(&pulls->requested) - atomic_read(&pulls->outstanding);
}

/* Frames arrived or a pull ended: lets pulls that wait have their turn.  No lock held. */
static inline void omx_pull_schedule_next(struct omx_board *board)
{
	if (READ_ONCE(board->pulls.waiting))
		omx_pull_schedule_waiting(board);
}

/* ---- request.c, pull->lock held ---- */
/* Moves a pull from STARTING to REQUESTING. */
void omx_pull_begin(struct omx_pull *pull, struct sk_buff_head *out);
/* Requests what the window, the board and the memory allow. */
void omx_pull_request_more(struct omx_pull *pull, u32 now, struct sk_buff_head *out);
void omx_pull_request_again(struct omx_pull *pull, const struct omx_pull_request *request,
			    struct sk_buff_head *out);
/* What the path's MTU allows. */
u32 omx_pull_frame_length(struct omx_channel *ch);

/* ---- delivery.c, pull->lock held ---- */
/* So many frames are about to be requested, of the next block or the rest of the last one. */
void omx_pull_mark_request(struct omx_pull *pull, u32 frames);
/* The first frame of a block that was requested once has arrived. */
void omx_pull_sample_rtt(struct omx_pull *pull, u64 block, u32 now);
/* ... and its last one. */
void omx_pull_sample_rate(struct omx_pull *pull, u64 block, u32 now);
/* Several frames have arrived at once. */
void omx_pull_sample_burst(struct omx_pull *pull, u32 now);
/* All that was requested of a block has arrived, after one request for each part. */
void omx_pull_sample_time(struct omx_pull *pull, u64 block, u32 now);
/* Frames are requested again, because they were lost. */
void omx_pull_note_loss(struct omx_pull *pull);

/* ---- pull_timer.c ---- */
void omx_pull_timer(struct timer_list *timer);
/* Stops it if no frame is outstanding.  pull->lock held. */
void omx_pull_timer_start(struct omx_pull *pull);

/* ---- response.c, pull->lock held ---- */
/* A frame that has waited for the pull to begin.  Consumes skb, or parks it. */
void omx_pull_receive_held(struct omx_pull *pull, struct sk_buff *skb, struct sk_buff_head *out);
/* Consumes skb, or parks it. */
void omx_pull_receive_response(struct omx_pull *pull, struct sk_buff *skb,
			       struct sk_buff_head *out);
/* Sends what has been made, and concludes the pull if it is complete. */
void omx_pull_unlock_and_continue(struct omx_pull *pull, struct sk_buff_head *out)
	__releases(&pull->lock);

/* ---- pull_page_in.c, pull->lock held ---- */
void omx_pull_paging_init(struct omx_pull *pull);
/* The caller is about to call omx_pull_page_in(). */
void omx_pull_will_page_in(struct omx_pull *pull);
/*
 * Are the pages of the next block there?  If not, they are brought.  With
 * overlapped pinning the first block is requested all the same.
 */
bool omx_pull_next_block_has_pages(struct omx_pull *pull);
/* Silence is no loss: the pull waits for its own pages. */
bool omx_pull_waits_for_pages(const struct omx_pull *pull);
/* Nothing has been requested or received. */
void omx_pull_paging_restart(struct omx_pull *pull);
/*
 * Parks what is left of a frame until its page comes.  False: too much of it
 * is parked, or the same frame is; the caller drops it.
 */
bool omx_pull_park(struct omx_pull *pull, u64 offset, struct sk_buff *skb);

/* Mode overlap: did this frame of block 0 find its page pinned in time? */
static inline bool omx_pull_is_overlapped(const struct omx_pull *pull, u64 block)
{
	return unlikely(pull->paging.early) && !block && !pull->paging.resuming;
}

/* ---- pull_page_in.c, no lock held ---- */
/* The pull is DONE. */
void omx_pull_drop_parked(struct omx_pull *pull);
/* Process context. */
void omx_pull_page_in(struct omx_pager_work *work);

/* ---- pull_copies.c ---- */
#ifdef OMX_DMA
void omx_pull_copies_init(struct omx_pull *pull);
/*
 * Both with pull->lock held, when the last frame is there: waits a moment for
 * the engine (true: everything has been copied), or queues work that waits longer.
 */
bool omx_pull_poll_copies(struct omx_pull *pull);
void omx_pull_want_copies(struct omx_pull *pull);
#else
static inline void omx_pull_copies_init(struct omx_pull *pull) { }
static inline bool omx_pull_poll_copies(struct omx_pull *pull) { return true; }
static inline void omx_pull_want_copies(struct omx_pull *pull) { }
#endif

/* ---- local.c, process context, no lock held ---- */
/*
 * Copies once, from process to process.  The pull has ended when this returns,
 * or ends later if it is long or if pages of the sender are absent, since the
 * sender may never have them.
 */
void omx_pull_from_local(struct omx_pull *pull);

#endif
