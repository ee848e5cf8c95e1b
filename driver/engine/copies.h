/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bytes of long messages on their way by an engine (engine.h): from frames into
 * pages, or out of pages into frames.  The processor copies what the engine does not
 * take.  Pulls call this under their lock, as does the copy into a region (memory/);
 * so does whoever works on a request that is responded to (pull/respond_copies.c).
 *
 * The memory must not change before copies have landed: an invalidation waits
 * for that, and so does whoever ends a pull early.  A message, or a frame, is complete
 * when all its copies have been reported, too.
 */
#ifndef OMX_COPIES_H
#define OMX_COPIES_H

#include <linux/list.h>
#include <linux/types.h>

#include "engine/device_engine.h"
#include "engine/engine.h"

struct omx_board;
struct omx_cursor;
struct omx_region;
struct omx_space;
struct sk_buff;

/* Of one pull, under its lock, or of one request that is responded to. */
struct omx_copies {
#ifdef OMX_DMA
	bool out;			/* of pages, into frames */
	struct omx_engine *engine;	/* NULL: the processor copies */
	struct omx_board *board;	/* counters */
	struct list_head list;		/* not known to be right yet, in order */
	unsigned int tries;		/* what is being started ended so often with a fault */
#endif
};

#ifdef OMX_DMA

static inline void omx_copies_init(struct omx_copies *copies, struct omx_board *board)
{
	copies->board = board;
	INIT_LIST_HEAD(&copies->list);
}

/* A message of this length goes to the region: which engine is to copy it? */
void omx_copies_decide(struct omx_copies *copies, const struct omx_region *region, u64 length);
/* Frames are to be filled out of the region: by which engine? */
void omx_copies_decide_out(struct omx_copies *copies, const struct omx_region *region);

static inline bool omx_copies_wanted(const struct omx_copies *copies)
{
	return unlikely(copies->engine);
}

static inline bool omx_copies_is_empty(const struct omx_copies *copies)
{
	return likely(list_empty(&copies->list));
}

/* Does the engine bring absent pages by itself?  NULL: there is none. */
static inline bool omx_copies_page_in(const struct omx_copies *copies,
				      const struct omx_space *space)
{
	return unlikely(copies && copies->engine == &omx_device_engine) &&
	       omx_device_engine_pages_in(space);
}

/* ---- BH off ---- */
/*
 * Has the engine copy between the frame and where the cursor stands, under the
 * extent's lock.  Returns how many of the length bytes it took, 0: none.
 */
u32 omx_copies_start(struct omx_copies *copies, const struct omx_cursor *cursor,
			 struct sk_buff *skb, int skb_offset, u32 length);
/*
 * The same without looking for a page, for an engine that pages in by itself: up to the
 * end of a segment.
 */
u32 omx_copies_start_by_address(struct omx_copies *copies, struct omx_cursor *cursor,
				struct sk_buff *skb, int skb_offset, u32 length);
/*
 * Releases the copies that are done, and copies again what went wrong, except
 * where the page is absent by now.  True: none is left.
 */
bool omx_copies_settle(struct omx_copies *copies, struct omx_cursor *cursor);
/*
 * The same for copies out of pages, but goes on behind a copy whose page is absent: that
 * is given up, and its frame returned, for identification only.  NULL: nothing more is
 * done.
 */
struct sk_buff *omx_copies_settle_out(struct omx_copies *copies, struct omx_cursor *cursor);
/* Has the work queued when the first copy has landed.  False: it is done already. */
bool omx_copies_await(struct omx_copies *copies, struct work_struct *work);
/* Is one left because of its page?  Then which bytes of the region it is. */
bool omx_copies_lack_page(struct omx_copies *copies, u64 *offset, u64 *length);
/* All have landed when it returns. */
static inline void omx_copies_wait(struct omx_copies *copies)
{
	if (!omx_copies_is_empty(copies))
		omx_engine_wait_for(copies->engine, &copies->list);
}

/* The message has failed: nothing is written any more when it returns. */
void omx_copies_abandon(struct omx_copies *copies);

#else

static inline void omx_copies_init(struct omx_copies *copies, struct omx_board *board)
{
}

static inline void omx_copies_decide(struct omx_copies *copies,
				     const struct omx_region *region, u64 length)
{
}

static inline bool omx_copies_wanted(const struct omx_copies *copies)
{
	return false;
}

static inline bool omx_copies_is_empty(const struct omx_copies *copies)
{
	return true;
}

static inline bool omx_copies_page_in(const struct omx_copies *copies,
				      const struct omx_space *space)
{
	return false;
}

static inline u32 omx_copies_start(struct omx_copies *copies,
				       const struct omx_cursor *cursor,
				       struct sk_buff *skb, int skb_offset, u32 length)
{
	return 0;
}

static inline u32 omx_copies_start_by_address(struct omx_copies *copies,
					      struct omx_cursor *cursor,
					      struct sk_buff *skb, int skb_offset, u32 length)
{
	return 0;
}

static inline bool omx_copies_settle(struct omx_copies *copies,
					 struct omx_cursor *cursor)
{
	return true;
}

static inline void omx_copies_wait(struct omx_copies *copies) { }
static inline void omx_copies_abandon(struct omx_copies *copies) { }

#endif
#endif
