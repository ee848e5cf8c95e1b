/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bytes of frames on their way into pages by a DMA engine (dma.h), of
 * messages that are long enough.  Otherwise the processor copies (region.c).
 *
 * Memory may change once copies have landed: an invalidation waits for that,
 * and so does who ends a pull early.  A message is complete when all have been
 * reported, too.
 */
#ifndef OMX_COPY_H
#define OMX_COPY_H

#include <linux/list.h>
#include <linux/types.h>

#include "dma/dma.h"

struct omx_board;
struct omx_region_cursor;
struct sk_buff;

/* Of one pull, under its lock. */
struct omx_dma_copies {
	bool wanted;
	struct omx_board *board;	/* counters */
	struct list_head list;		/* not known to be right yet, in order */
	u64 last;			/* number of the last one ever */
};

static inline void omx_dma_copies_init(struct omx_dma_copies *copies, struct omx_board *board)
{
	copies->board = board;
	INIT_LIST_HEAD(&copies->list);
}

/* Is an engine to copy a message of this length? */
bool omx_dma_pays(u64 length);

/* ---- BH off ---- */
/*
 * Has the engine copy from the frame to where the cursor stands, under the
 * extent's lock.  Returns how many of the length bytes it took, 0: none.
 */
u32 omx_dma_copies_start(struct omx_dma_copies *copies, const struct omx_region_cursor *cursor,
			 struct sk_buff *skb, int skb_offset, u32 length);
/*
 * Takes back what is done and copies again what went wrong, but for what has
 * lost its page meanwhile.  True: none is left.
 */
bool omx_dma_copies_settle(struct omx_dma_copies *copies, struct omx_region_cursor *cursor);
/* Is one left because of its page?  Then which bytes of the region it is. */
bool omx_dma_copies_lack_page(struct omx_dma_copies *copies, u64 *offset, u64 *length);
/* All have landed when it returns. */
static inline void omx_dma_copies_wait(const struct omx_dma_copies *copies)
{
	if (!list_empty(&copies->list))
		omx_dma_wait(copies->last);
}

/* The message has failed: nothing is written any more, and nobody asks. */
void omx_dma_copies_abandon(struct omx_dma_copies *copies);

#endif
