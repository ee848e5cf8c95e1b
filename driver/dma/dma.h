/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A DMA engine that copies from memory to memory, through the kernel's dmaengine.
 * It is used if the parameter copy_offload says so and a channel is available.
 * dma_copies.c starts copies for pulls, in softirq; invalidation waits for them,
 * in process context.  Kernels without dmaengine build without (OMX_DMA=n).
 *
 * A copy has a number and holds references on its page and its frame.  It has
 *	landed		when the engine writes no more; the page is given back
 *	been reported	when the engine has said whether the bytes are right;
 *			the processor copies again those that are not
 * Copies land in the order of their numbers.
 */
#ifndef OMX_DMA_H
#define OMX_DMA_H

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
	struct list_head node;		/* in the list of its pull */
	struct list_head in_flight;	/* until it has landed */
	struct omx_dma_job job;		/* frame and page are referenced */
	u64 number;
	s32 cookie;
	dma_addr_t from, to;
	bool failed;
	bool landed;
	bool reported;			/* the engine does not know it any more */
};

#ifdef OMX_DMA

/* ---- process context ---- */
void omx_dma_init(void);
/* Nobody starts copies any more. */
void omx_dma_exit(void);

/* ---- any context ---- */
bool omx_dma_is_open(void);
/* This copy has landed when it returns, unless the engine is broken; spins. */
void omx_dma_wait(u64 number);
/* The engine has been silent for too long: stops it and never uses it again. */
void omx_dma_give_up(void);

/* ---- BH off ---- */
/*
 * Has the engine copy the bytes of a job, which are contiguous, to to_offset in
 * its page, and adds the copy to the list.  Returns its number, 0: no room.
 */
u64 omx_dma_start(const struct omx_dma_job *job, struct page *from, u32 from_offset,
		  u32 to_offset, struct list_head *list);
/* Has the copy landed, and has it been reported? */
bool omx_dma_is_done(const struct omx_dma_copy *copy);
/* The copy is done, and its pull does not need it any more. */
void omx_dma_release(struct omx_dma_copy *copy);
/* All copies of the list, done or not; the list is empty then. */
void omx_dma_release_all(struct list_head *list);

#else

static inline void omx_dma_init(void) { }
static inline void omx_dma_exit(void) { }
static inline void omx_dma_wait(u64 number) { }

#endif

#endif
