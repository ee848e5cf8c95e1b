// SPDX-License-Identifier: GPL-2.0
/*
 * The packet pool: small sequenced packets that have been acknowledged are used again,
 * on the CPU that has received the ack.
 *
 * A channel keeps one such packet by itself, which is enough while there is one message
 * under way.  Of several, the others come from here (frame.c) and return to here
 * (channel/send_window.c).  Allocating a packet and its clone, clearing them as the kernel
 * is told to, and freeing them costs more than everything else in sending a byte.
 */
#include <linux/percpu.h>
#include <linux/skbuff.h>

#include "compat.h"
#include "net/packet_pool.h"

/* Per CPU: the window of one channel.  They take some 80 KiB. */
#define POOL_PACKETS	64

struct packet_pool {
	local_lock_t lock;
	unsigned int count;
	struct sk_buff *first;		/* linked by skb->next; the last one that was put */
};

static DEFINE_PER_CPU(struct packet_pool, packet_pools) = {
	.lock = INIT_LOCAL_LOCK(lock),
};

struct sk_buff *omx_packet_pool_get(void)
{
	struct packet_pool *pool;
	struct sk_buff *skb;

	local_bh_disable();
	omx_local_lock_nested_bh(&packet_pools.lock);
	pool = this_cpu_ptr(&packet_pools);
	skb = pool->first;
	if (skb) {
		pool->first = skb->next;
		pool->count--;
		skb_mark_not_on_list(skb);
	}
	omx_local_unlock_nested_bh(&packet_pools.lock);
	local_bh_enable();
	return skb;
}

bool omx_packet_pool_put(struct sk_buff *skb)
{
	struct packet_pool *pool;
	bool kept;

	omx_local_lock_nested_bh(&packet_pools.lock);
	pool = this_cpu_ptr(&packet_pools);
	kept = pool->count < POOL_PACKETS;
	if (kept) {
		skb->next = pool->first;
		pool->first = skb;
		pool->count++;
	}
	omx_local_unlock_nested_bh(&packet_pools.lock);
	return kept;
}

void omx_packet_pools_exit(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct packet_pool *pool = per_cpu_ptr(&packet_pools, cpu);

		kfree_skb_list(pool->first);
		pool->first = NULL;
		pool->count = 0;
	}
}
