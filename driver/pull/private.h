/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A message that is pulled, for the files that do it: pull.c from its begin to
 * its end, request.c asks for its frames, response.c takes them in, pull_page_in.c
 * when pages are absent, pull_dma.c when a DMA engine copies, local.c when
 * the sender is on this host.
 */
#ifndef OMX_PULL_PRIVATE_H
#define OMX_PULL_PRIVATE_H

#include <linux/list.h>
#include <linux/math64.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>
#include <linux/timekeeping.h>
#include <linux/timer.h>

#include "dma/dma_copies.h"
#include "endpoint/endpoint.h"
#include "memory/region.h"
#include "net/board.h"
#include "omx_wire.h"
#include "pager/pager.h"
#include "pull/pull.h"
#include "pull/pull_window.h"

struct omx_completion;
struct omx_rndv;

/*
 * References: one while it is in progress, given up by who concludes it, and
 * one of each of its works while that is queued or runs, which page_in also
 * does without being queued.
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
	struct omx_completion *completion;
	struct sk_buff *notify;		/* made beforehand: it must not fail */
	u64 length;
	u64 msg_length;
	unsigned long timeout;		/* jiffies */

	struct list_head in_channel;	/* ch->pulls, under ch->lock */
	struct list_head in_schedule;	/* under board->pulls.lock */

	spinlock_t lock;		/* everything below */
	enum {
		OMX_PULL_STARTING,	/* the ioctl still has it to itself */
		OMX_PULL_ACTIVE,
		OMX_PULL_LOCAL,		/* page_in copies it from a sender on this host */
		OMX_PULL_DONE,		/* whoever sets it concludes */
	} state;
	struct omx_pull_window window;
	struct omx_region_cursor cursor;	/* where frames go */
	struct omx_region_cursor ahead;		/* where we ask */
	unsigned long progress;		/* jiffies */
	u32 yielded;			/* outstanding frames whose share others have */
	u8 backoff;
	struct timer_list timer;

	bool paging;			/* page_in is queued, runs, or is about to */
	bool late;			/* frames that are taken now were parked */
	u16 dropped;			/* bit n: frames of block n (modulo) are to be asked for again */
	bool bet;			/* the first block was asked for without its pages */
	u32 parked_bytes;
	u64 pinned;			/* with overlapped pinning: once, up to here */
	u64 paged;			/* page_in has been up to here */
	struct sk_buff_head parked;	/* frames that beat their pages; its own lock is unused */
	struct omx_pager_work page_in;

	bool settling;			/* settle is queued or runs */
	struct omx_dma_copies copies;	/* of whoever concludes it once it is DONE */
	struct omx_pager_work settle;

	/* LOCAL, of page_in alone; `ahead` is in the source then */
	struct omx_rndv *source;	/* referenced */
	bool lacks_source;		/* else pages to write to */
};

static_assert(OMX_PULL_BLOCKS <= 8 * sizeof_field(struct omx_pull, dropped));

/* A parked frame, or several: the bytes behind `at` wait. */
struct omx_parked {
	u32 at;
};

static inline struct omx_parked *omx_parked_of(struct sk_buff *skb)
{
	return (struct omx_parked *)skb->cb;
}

static inline u32 omx_pull_now_us(void)
{
	return div_u64(ktime_get_mono_fast_ns(), NSEC_PER_USEC);
}

/* The next block that would be asked for.  False: there is none. */
static inline bool omx_pull_next_block(const struct omx_pull *pull, u64 *start, u64 *end)
{
	u64 length = (u64)pull->window.frame_length * OMX_BLOCK_FRAMES;

	*start = pull->window.next_block * length;
	*end = min(*start + length, pull->length);
	return *start < pull->length;
}

/* ---- request.c, under pull->lock, ACTIVE ---- */
/* STARTING: makes it ACTIVE. */
void omx_pull_begin(struct omx_pull *pull, struct sk_buff_head *out);
/* Asks for what the window, the interface and the memory allow. */
void omx_pull_request_more(struct omx_pull *pull, u32 now, struct sk_buff_head *out);
void omx_pull_request_again(struct omx_pull *pull, const struct omx_pull_request *request,
			    struct sk_buff_head *out);
/* Who has to wait does not keep others from asking theirs. */
void omx_pull_schedule_yield(struct omx_pull *pull);

/* Frames that were asked for are not on their way any more.  Or DONE, by who concludes it. */
static inline void omx_pull_schedule_return(struct omx_pull *pull, u32 frames)
{
	atomic_sub(frames * pull->window.frame_length,
		   &pull->ep->board->pulls.outstanding);
}

/* ---- request.c, without any lock ---- */
void omx_pull_timer(struct timer_list *timer);
void omx_pull_schedule_waiting(struct omx_pull_scheduler *pulls);

/* Frames arrived or a pull ended: is it another's turn? */
static inline void omx_pull_schedule_next(struct omx_board *board)
{
	if (!list_empty_careful(&board->pulls.waiting))
		omx_pull_schedule_waiting(&board->pulls);
}

/* ---- response.c, under pull->lock, ACTIVE ---- */
/* Consumes skb, or parks it. */
void omx_pull_receive_response(struct omx_pull *pull, struct sk_buff *skb,
			       struct sk_buff_head *out);
/* Sends what has been made, and concludes the pull if it is complete. */
void omx_pull_unlock_and_continue(struct omx_pull *pull, struct sk_buff_head *out)
	__releases(&pull->lock);

/* ---- pull.c, without any lock ---- */
/* Called once, by who set DONE. */
void omx_pull_conclude(struct omx_pull *pull, u8 status);
/* Ends a pull from outside unless it ends by itself right now. */
void omx_pull_end(struct omx_pull *pull, u8 status);
/* Who failed the channel's pulls while it was STARTING has missed it.  RCU read lock held. */
void omx_pull_end_if_missed(struct omx_pull *pull);
void omx_pull_put(struct omx_pull *pull);

/* ---- pull_page_in.c, under pull->lock ---- */
/* Queues its page-in work. */
void omx_pull_want_pages(struct omx_pull *pull);
/* ... or instead of that the caller is about to do it. */
void omx_pull_will_page_in(struct omx_pull *pull);
/*
 * Puts what is left of a frame aside until its page comes.  False: there is
 * too much of it already, or the same waits; it is to be dropped.
 */
bool omx_pull_park(struct omx_pull *pull, u64 offset, struct sk_buff *skb);

/* ---- pull_page_in.c, without any lock ---- */
/* It is DONE: gives back what it keeps. */
void omx_pull_drop_parked(struct omx_pull *pull);

/* ---- pull_dma.c, under pull->lock, when the last frame is there ---- */
/* Waits a moment for the engine.  True: all is copied. */
bool omx_pull_poll_dma(struct omx_pull *pull);
/* Queues the work that waits longer. */
void omx_pull_want_dma(struct omx_pull *pull);

/* ---- pull_page_in.c, pull_dma.c, local.c, process context ---- */
void omx_pull_page_in(struct omx_pager_work *work);
void omx_pull_settle(struct omx_pager_work *work);
/*
 * Process to process, one copy: done when it returns, or later if it is long or
 * if pages of the sender are absent, since the sender may never have them.
 */
void omx_pull_from_local(struct omx_pull *pull);

#endif
