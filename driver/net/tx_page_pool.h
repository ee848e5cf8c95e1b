/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory for outgoing frames that comes back.  A page from the allocator is
 * cleared first (init_on_alloc), which for a jumbo frame costs more than
 * filling it; chunks go round instead, per CPU.
 */
#ifndef OMX_CHUNK_H
#define OMX_CHUNK_H

#include <linux/skbuff.h>

/*
 * An empty linear skb with room for `size` bytes, headroom included.
 * BH off: whatever gfp says, it does not wait for memory.
 */
struct sk_buff *omx_page_pool_skb(unsigned int size, gfp_t gfp);

void omx_page_pools_exit(void);

#endif
