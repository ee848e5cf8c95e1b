/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The page pool of outgoing frames.  The allocator clears a page first
 * (init_on_alloc), which costs more than filling a jumbo frame, so pages are used
 * again.
 */
#ifndef OMX_TX_PAGE_POOL_H
#define OMX_TX_PAGE_POOL_H

#include <linux/skbuff.h>

/*
 * An empty linear skb with room for `size` bytes, headroom included.  BH off: it
 * does not wait for memory, even if gfp allows that.
 */
struct sk_buff *omx_page_pool_skb(unsigned int size, gfp_t gfp);
/* Of a page of the pool that has so many bytes, or else of the largest one. */
unsigned int omx_page_pool_page_size(unsigned int length);
/*
 * Adds pages for so many bytes, as fragments.  BH off, and gfp as above.  False: there is not
 * enough memory; what has been added goes with the skb.
 */
bool omx_page_pool_attach(struct sk_buff *skb, unsigned int length, gfp_t gfp);

void omx_page_pools_exit(void);

#endif
