/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the small queue share and no other file uses.
 */
#ifndef OMX_SMALL_QUEUE_PRIVATE_H
#define OMX_SMALL_QUEUE_PRIVATE_H

#include <net/inet_sock.h>

#include "net/small_queue.h"

/*
 * An inet_sock, because IPv6 takes whatever skb->sk is for one, and follows its pinet6 if
 * that is not NULL.
 */
struct omx_queue_sock {
	struct inet_sock inet;	/* first: sk_alloc() makes it */
	struct omx_small_queue queue;
};

static inline struct sock *omx_queue_sk(struct omx_small_queue *queue)
{
	return &container_of(queue, struct omx_queue_sock, queue)->inet.sk;
}

static inline long omx_queue_charged(struct omx_small_queue *queue)
{
	return sk_wmem_alloc_get(omx_queue_sk(queue));
}

static inline u32 omx_queue_limit(const struct omx_small_queue *queue)
{
	return min(READ_ONCE(queue->limit), READ_ONCE(queue->cap));
}

/* Those who wait are resumed when this much is left. */
static inline bool omx_queue_is_low(struct omx_small_queue *queue)
{
	return omx_queue_charged(queue) <= omx_queue_limit(queue) / 2;
}

/* ---- small_queue.c ---- */
/* Half of the limit has been sent, and somebody waits. */
void omx_small_queue_raise_cap(struct omx_small_queue *queue);

/* ---- small_queue_turns.c ---- */
/* Has the tasklet run it.  Any context. */
void omx_small_queue_schedule(struct omx_small_queue *queue);
/* The oldest request that waits, which does not wait any more, or NULL.  queue->lock held. */
struct sk_buff *omx_small_queue_pop_request(struct omx_board_user *user);

void omx_small_queue_turns_init(void);
void omx_small_queue_turns_exit(void);

#endif
