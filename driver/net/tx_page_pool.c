// SPDX-License-Identifier: GPL-2.0
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/percpu.h>

#include "compat.h"
#include "net/tx_page_pool.h"

#define POOL_PAGES		128	/* per CPU and size */
#define POOL_SIZES		2

/* What fits an ordinary frame, and what fits a jumbo frame. */
static const unsigned int orders[POOL_SIZES] = { 0, 2 };

/*
 * The pool holds one reference on each of its pages, the skb built on it
 * another: a page is free again when only ours is left.  BH off.
 */
struct tx_page_pool {
	struct page *page[POOL_PAGES];
	unsigned int count;
	unsigned int next;	/* the one that was taken longest ago */
};

struct tx_page_pools {
	local_lock_t lock;
	struct tx_page_pool of_size[POOL_SIZES];
};

static DEFINE_PER_CPU(struct tx_page_pools, tx_page_pools) = {
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
static struct page *tx_page_pool_get(struct tx_page_pool *tx_page_pool, unsigned int order, gfp_t gfp)
{
	struct page *page = tx_page_pool->count ? tx_page_pool->page[tx_page_pool->next] : NULL;

	if (page && page_ref_count(page) == 1) {
		tx_page_pool->next = (tx_page_pool->next + 1) % tx_page_pool->count;
		get_page(page);
		return page;
	}
	page = new_page(order, gfp);
	if (page && tx_page_pool->count < POOL_PAGES) {
		/* In front of the oldest: the next to be looked at stays so. */
		tx_page_pool->page[tx_page_pool->count++] = tx_page_pool->page[tx_page_pool->next];
		tx_page_pool->page[tx_page_pool->next] = page;
		tx_page_pool->next = (tx_page_pool->next + 1) % tx_page_pool->count;
		get_page(page);
	}
	return page;
}

struct sk_buff *omx_page_pool_skb(unsigned int size, gfp_t gfp)
{
	unsigned int total = SKB_DATA_ALIGN(size) +
			     SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	struct sk_buff *skb;
	struct page *page;
	unsigned int i;

	for (i = 0; i < POOL_SIZES && total > PAGE_SIZE << orders[i]; i++)
		;
	if (i == POOL_SIZES)
		return alloc_skb(size, without_waiting(gfp));

	omx_local_lock_nested_bh(&tx_page_pools.lock);
	page = tx_page_pool_get(this_cpu_ptr(&tx_page_pools.of_size[i]), orders[i], gfp);
	omx_local_unlock_nested_bh(&tx_page_pools.lock);
	/* Its head comes from the cache that napi_consume_skb() fills. */
	skb = page ? napi_build_skb(page_address(page), PAGE_SIZE << orders[i]) : NULL;
	if (page && !skb)
		put_page(page);
	return skb;
}

void omx_page_pools_exit(void)
{
	unsigned int cpu, i, j;

	for_each_possible_cpu(cpu) {
		for (i = 0; i < POOL_SIZES; i++) {
			struct tx_page_pool *tx_page_pool = per_cpu_ptr(&tx_page_pools.of_size[i], cpu);

			for (j = 0; j < tx_page_pool->count; j++)
				put_page(tx_page_pool->page[j]);
			tx_page_pool->count = 0;
		}
	}
}
