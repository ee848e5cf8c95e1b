// SPDX-License-Identifier: GPL-2.0
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/percpu.h>

#include "compat.h"
#include "net/tx_page_pool.h"

#define CHUNKS		128	/* per CPU and size */
#define SIZES		2

/* What fits an ordinary frame, and what fits a jumbo frame. */
static const unsigned int orders[SIZES] = { 0, 2 };

/*
 * The pool holds one reference on each of its pages, the skb built on it
 * another: a page is free again when only ours is left.  BH off.
 */
struct pool {
	struct page *page[CHUNKS];
	unsigned int count;
	unsigned int next;	/* the one that was taken longest ago */
};

struct pools {
	local_lock_t lock;
	struct pool of_size[SIZES];
};

static DEFINE_PER_CPU(struct pools, pools) = {
	.lock = INIT_LOCAL_LOCK(lock),
};

/* For memory that has to be in one piece nobody waits. */
static gfp_t without_waiting(gfp_t gfp)
{
	return (gfp & ~__GFP_DIRECT_RECLAIM) | __GFP_NOWARN;
}

static struct page *new_page(unsigned int order, gfp_t gfp)
{
	return alloc_pages(without_waiting(gfp) | __GFP_COMP | __GFP_NOMEMALLOC, order);
}

/* Returns a page with a reference for the caller. */
static struct page *take(struct pool *pool, unsigned int order, gfp_t gfp)
{
	struct page *page = pool->count ? pool->page[pool->next] : NULL;

	if (page && page_ref_count(page) == 1) {
		pool->next = (pool->next + 1) % pool->count;
		get_page(page);
		return page;
	}
	page = new_page(order, gfp);
	if (page && pool->count < CHUNKS) {
		/* In front of the oldest: the next to be looked at stays so. */
		pool->page[pool->count++] = pool->page[pool->next];
		pool->page[pool->next] = page;
		pool->next = (pool->next + 1) % pool->count;
		get_page(page);
	}
	return page;
}

struct sk_buff *omx_chunk_skb(unsigned int size, gfp_t gfp)
{
	unsigned int total = SKB_DATA_ALIGN(size) +
			     SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	struct sk_buff *skb;
	struct page *page;
	unsigned int i;

	for (i = 0; i < SIZES && total > PAGE_SIZE << orders[i]; i++)
		;
	if (i == SIZES)
		return alloc_skb(size, without_waiting(gfp));

	omx_local_lock_nested_bh(&pools.lock);
	page = take(this_cpu_ptr(&pools.of_size[i]), orders[i], gfp);
	omx_local_unlock_nested_bh(&pools.lock);
	/* Its head comes from the cache that napi_consume_skb() fills. */
	skb = page ? napi_build_skb(page_address(page), PAGE_SIZE << orders[i]) : NULL;
	if (page && !skb)
		put_page(page);
	return skb;
}

void omx_chunks_exit(void)
{
	unsigned int cpu, i, j;

	for_each_possible_cpu(cpu) {
		for (i = 0; i < SIZES; i++) {
			struct pool *pool = per_cpu_ptr(&pools.of_size[i], cpu);

			for (j = 0; j < pool->count; j++)
				put_page(pool->page[j]);
			pool->count = 0;
		}
	}
}
