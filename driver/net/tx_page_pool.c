// SPDX-License-Identifier: GPL-2.0
/*
 * The page pool of outgoing frames: pages that are used again, for each CPU.
 *
 * frame.c builds frames longer than a few hundred bytes on them, all packets of a long eager
 * message, and the headers of pull responses, whatever their length; gso.c the headers of
 * their frames.  All
 * do so in any context with BH off.  A page is free again when the network has released
 * the skb, or all skbs that have pieces of it.
 *
 * Pages are used in turn, because the network releases them in turn, too.  Some stay
 * away for long: a conditional put waits for its key, a packet for its ack, a program
 * that watches the device for its turn.  Those are skipped, and given up in the end.
 */
#include <linux/gfp.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/sizes.h>

#include "compat.h"
#include "net/tx_page_pool.h"

#define POOL_PAGES		128	/* per CPU and size, */
#define POOL_BYTES		SZ_2M	/* ... and no more than this */
#define POOL_SIZES		3
/* Few are away for so many rounds only because so many frames are under way. */
#define SKIPS_MAX		3

/*
 * Four pages for a jumbo frame, up to eight for several frames or one longer than that.  Pieces
 * are of single ones.
 */
static const unsigned int orders[POOL_SIZES] = { 0, 2, 3 };

/*
 * Enough for headers alone, with room in front for those that others add, and for a frame
 * of 1500 bytes.
 */
static const unsigned int piece_sizes[] = {
	roundup_pow_of_two(SKB_DATA_ALIGN(192) + SKB_DATA_ALIGN(sizeof(struct skb_shared_info))),
	SZ_2K,
};

/*
 * The pool has one reference to each of its pages, and the skb built on it has
 * another: a page is free when only the pool's is left.  BH off.
 */
struct tx_page_pool {
	struct page *page[POOL_PAGES];
	u8 skips[POOL_PAGES];	/* how often it was its turn and it was not free */
	unsigned int count;
	unsigned int next;	/* the page whose turn it is */
};

struct tx_pieces {
	struct page *page;	/* a reference for each piece that is left */
	unsigned int left;
};

struct tx_page_pools {
	local_lock_t lock;
	struct tx_page_pool of_size[POOL_SIZES];
	struct tx_pieces pieces[ARRAY_SIZE(piece_sizes)];
};

static DEFINE_PER_CPU(struct tx_page_pools, tx_page_pools) = {
	.lock = INIT_LOCAL_LOCK(lock),
};

/* Nobody waits for memory that has to be in one piece. */
static gfp_t without_waiting(gfp_t gfp)
{
	return (gfp & ~__GFP_DIRECT_RECLAIM) | __GFP_NOWARN;
}

static struct page *new_page(unsigned int order, gfp_t gfp)
{
	return alloc_pages(without_waiting(gfp) | __GFP_COMP | __GFP_NOMEMALLOC, order);
}

/* The page whose turn it is after this one. */
static unsigned int tx_page_pool_after(const struct tx_page_pool *pool, unsigned int i)
{
	return i + 1 < pool->count ? i + 1 : 0;
}

/* Puts a new page into the pool if it has room, or gives up the page whose turn it is. */
static void tx_page_pool_add(struct tx_page_pool *pool, struct page *page)
{
	unsigned int most = min_t(unsigned int, POOL_PAGES, POOL_BYTES / page_size(page));
	unsigned int i = pool->next;

	if (pool->count < most) {
		/* In front of the oldest, which stays the next one to be checked. */
		pool->skips[pool->count] = pool->skips[i];
		pool->page[pool->count++] = pool->page[i];
	} else if (++pool->skips[i] < SKIPS_MAX) {
		goto next;
	} else {
		put_page(pool->page[i]);	/* whoever has it frees it */
	}
	get_page(page);
	pool->page[i] = page;
	pool->skips[i] = 0;
next:
	pool->next = tx_page_pool_after(pool, i);
}

static noinline struct page *tx_page_pool_grow(struct tx_page_pool *pool, unsigned int order,
					       gfp_t gfp)
{
	struct page *page = new_page(order, gfp);

	if (page)
		tx_page_pool_add(pool, page);
	return page;
}

/* Returns a page with a reference for the caller.  Inline, because it runs for each frame. */
static __always_inline struct page *tx_page_pool_get(struct tx_page_pool *pool,
						     unsigned int order, gfp_t gfp)
{
	struct page *page = pool->page[pool->next];	/* NULL: there is none yet */

	if (unlikely(!page || page_ref_count(page) != 1))
		return tx_page_pool_grow(pool, order, gfp);
	pool->next = tx_page_pool_after(pool, pool->next);
	page_ref_inc(page);
	return page;
}

/* The same for a piece of a page. */
static __always_inline void *tx_pieces_get(struct tx_pieces *pieces, unsigned int size,
					   struct tx_page_pool *pool, gfp_t gfp)
{
	if (!pieces->left) {
		pieces->page = tx_page_pool_get(pool, 0, gfp);
		if (!pieces->page)
			return NULL;
		pieces->left = PAGE_SIZE / size;
		page_ref_add(pieces->page, pieces->left - 1);
	}
	return page_address(pieces->page) + --pieces->left * size;
}

static void tx_pieces_free(struct tx_pieces *pieces)
{
	while (pieces->left) {
		pieces->left--;
		put_page(pieces->page);
	}
}

/* Returns *size bytes, which are at least as many as before, or NULL. */
static void *tx_page_pools_get(struct tx_page_pools *pools, unsigned int *size, gfp_t gfp)
{
	struct page *page;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(piece_sizes); i++) {
		if (*size > piece_sizes[i])
			continue;
		*size = piece_sizes[i];
		return tx_pieces_get(&pools->pieces[i], piece_sizes[i], &pools->of_size[0], gfp);
	}
	for (i = 0; *size > PAGE_SIZE << orders[i]; i++)
		;
	*size = PAGE_SIZE << orders[i];
	page = tx_page_pool_get(&pools->of_size[i], orders[i], gfp);
	return page ? page_address(page) : NULL;
}

struct sk_buff *omx_page_pool_skb(unsigned int size, gfp_t gfp)
{
	unsigned int total = SKB_DATA_ALIGN(size) +
			     SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	struct sk_buff *skb;
	void *data;

	if (total > PAGE_SIZE << orders[POOL_SIZES - 1])
		return alloc_skb(size, without_waiting(gfp));

	omx_local_lock_nested_bh(&tx_page_pools.lock);
	data = tx_page_pools_get(this_cpu_ptr(&tx_page_pools), &total, gfp);
	omx_local_unlock_nested_bh(&tx_page_pools.lock);
	/* The head comes from the cache that napi_consume_skb() fills. */
	skb = data ? napi_build_skb(data, total) : NULL;
	if (data && !skb)
		skb_free_frag(data);
	return skb;
}

unsigned int omx_page_pool_page_size(unsigned int length)
{
	unsigned int i = 0;

	while (i < POOL_SIZES - 1 && length > PAGE_SIZE << orders[i])
		i++;
	return PAGE_SIZE << orders[i];
}

/* One that `length` bytes fill, or a single page: at most a page is in vain. */
static struct page *tx_page_pools_get_filled(struct tx_page_pools *pools, unsigned int length,
					     gfp_t gfp)
{
	struct page *page = NULL;
	unsigned int i;

	for (i = POOL_SIZES; i-- && !page;)
		if (!i || length >= PAGE_SIZE << orders[i])
			page = tx_page_pool_get(&pools->of_size[i], orders[i], gfp);
	return page;
}

static bool tx_page_pools_attach(struct tx_page_pools *pools, struct sk_buff *skb,
				 unsigned int length, gfp_t gfp)
{
	while (length) {
		struct page *page = tx_page_pools_get_filled(pools, length, gfp);
		unsigned int used;

		if (!page)
			return false;
		used = min_t(unsigned int, length, page_size(page));
		skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, page, 0, used, page_size(page));
		length -= used;
	}
	return true;
}

bool omx_page_pool_attach(struct sk_buff *skb, unsigned int length, gfp_t gfp)
{
	bool enough;

	omx_local_lock_nested_bh(&tx_page_pools.lock);
	enough = tx_page_pools_attach(this_cpu_ptr(&tx_page_pools), skb, length, gfp);
	omx_local_unlock_nested_bh(&tx_page_pools.lock);
	return enough;
}

void omx_page_pools_exit(void)
{
	unsigned int cpu, i, j;

	for_each_possible_cpu(cpu) {
		struct tx_page_pools *pools = per_cpu_ptr(&tx_page_pools, cpu);

		for (i = 0; i < ARRAY_SIZE(piece_sizes); i++)
			tx_pieces_free(&pools->pieces[i]);
		for (i = 0; i < POOL_SIZES; i++) {
			struct tx_page_pool *pool = &pools->of_size[i];

			for (j = 0; j < pool->count; j++)
				put_page(pool->page[j]);
			pool->count = 0;
		}
	}
}
