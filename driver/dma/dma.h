/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A DMA engine that copies from memory to memory, if the parameter copy_offload
 * says so and there is a channel to be had.
 *
 * A copy has a number and holds its page and its frame.  It has
 *	landed		when the engine writes no more; the page is given back
 *	been reported	when the engine has said whether the bytes are right;
 *			those that are not the processor copies again
 * Copies land in the order of their numbers.
 */
#ifndef OMX_ENGINE_H
#define OMX_ENGINE_H

#include <linux/list.h>
#include <linux/types.h>

struct page;
struct sk_buff;

struct omx_dma_job {
	struct sk_buff *skb;
	int skb_offset;
	u32 length;
	struct page *page;
	u64 offset;			/* in the region */
};

struct omx_dma_copy {
	struct list_head node;		/* of who has asked for it */
	struct list_head in_flight;	/* until it has landed */
	struct omx_dma_job job;	/* both are referenced, the page until it has landed */
	u64 number;
	s32 cookie;
	dma_addr_t from, to;
	bool failed;
	bool landed;
	bool reported;			/* the engine knows it no more */
};

/* ---- process context ---- */
void omx_dma_init(void);
/* No copy is asked for any more. */
void omx_dma_exit(void);

/* ---- any context ---- */
bool omx_dma_is_open(void);
/* This one has landed when it returns, unless the engine is broken; spins. */
void omx_dma_wait(u64 number);
/* It has not answered for too long: stops it, and never asks it again. */
void omx_dma_give_up(void);

/* ---- BH off ---- */
/*
 * Has it copy a job's bytes, which lie there together, to to_offset in its
 * page, and adds that to the list.  Returns its number, 0: it takes none.
 */
u64 omx_dma_start(const struct omx_dma_job *job, struct page *from, u32 from_offset,
		  u32 to_offset, struct list_head *list);
/* Is the end of this one known? */
bool omx_dma_is_done(const struct omx_dma_copy *copy);
/* It is done, and its list wants it no more. */
void omx_dma_release(struct omx_dma_copy *copy);
/* Likewise all of the list, done or not, which is empty then. */
void omx_dma_release_all(struct list_head *list);

#endif
