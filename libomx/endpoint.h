/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The endpoint and its lock.
 *
 * Locking: endpoint->lock guards everything in an endpoint.  It is dropped
 * while a thread sleeps in the driver (wait.c, helper.c) and while the
 * unexpected handler runs (handler.c): what was looked up before has to be
 * looked up again.  The lock of the table of endpoints (table.c) comes
 * before it.  Endpoint structures are reused but never freed, so that a
 * closed endpoint given to a call is recognized instead of followed.
 *
 * Lost wake-ups: a thread about to sleep has read kwakeups, then khead, then
 * found nothing to do, all with the lock held.  Events move khead; everything
 * else that may end another thread's sleep sets ep->wake, and whoever leaves
 * the endpoint calls OMX_IOC_WAKEUP.
 */
#ifndef OMX_ENDPOINT_H
#define OMX_ENDPOINT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "list.h"
#include "lock.h"
#include "open-mx.h"
#include "partner.h"
#include "request.h"
#include "ring.h"

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

enum endpoint_state {
	ENDPOINT_CLOSED,
	ENDPOINT_OPEN,
	ENDPOINT_CLOSING,
	ENDPOINT_FORKED,	/* it belongs to our parent */
};

/* Why no progress is made; any bit. */
#define PAUSED_BY_PROGRAM	0x1	/* omx_disable_progression */
#define PAUSED_BY_HANDLER	0x2	/* the unexpected handler runs */

/* The queues of one context id. */
struct context {
	struct list posted;		/* receives */
	struct list unexpected;		/* messages */
	struct list done;		/* requests; only if there are several context ids */
};

#define REQUESTS_PER_SLAB	64

struct omx__endpoint {
	/* These outlive the endpoint; what follows starts as zero each time. */
	struct lock lock;		/* "changed": users or hold became less, or state */
	uint32_t id;			/* slot and incarnation; part of addresses */

	uint8_t state;
	uint8_t paused;
	uint8_t memory;			/* enum omx_memory of what is posted from now on */
	bool consuming;			/* events are being handled, the lock was not dropped */
	bool wake;			/* sleepers must look again */
	bool stalled;			/* something has to be tried again, without an event */
	uint64_t short_since;		/* eager sends lack memory; 0: they do not */
	uint64_t short_last;		/* ... and met that last; see isend.c */
	omx_return_t failed;		/* the board is gone */
	int fd;
	struct ring ring;

	/* sleepers, see wait.c */
	uint32_t sleepers;
	uint32_t any_sleepers;		/* those that any request can wake */
	uint32_t users;			/* threads inside that have dropped the lock */
	uint32_t wakeups;		/* omx_wakeup calls */

	/* matching, see match.c and unexpected.c */
	struct context *contexts;
	uint32_t context_mask;		/* number of context ids - 1 */
	uint32_t context_shift;
	struct list unexpected;		/* messages of all context ids */
	struct list matched;		/* messages given out by omx_improbe */
	struct list free_messages;
	uint32_t free_message_count;
	uint64_t unexpected_bytes;
	uint64_t unexpected_max;
	omx_unexp_handler_t handler;
	void *handler_context;
	bool shown;			/* the handler has seen the message at the ring's head */
	pthread_t handler_thread;	/* HOLD_HANDLER: whose */

	/* requests */
	struct list free_requests;
	struct list done;
	struct list connecting;
	struct list retry;
	struct list timers;
	struct omx__request **request_slabs;
	uint32_t request_count;

	/* see region.h */
	uint32_t regions;		/* how many requests have one that is not the program's */
	struct regcache *regcache;	/* NULL: nothing was ever kept */
	struct region **declared;	/* by the program; by the slot in their handles */
	uint32_t declared_room;

	/* partners */
	struct partner **channels;	/* by the low bits of the channel's number */
	uint32_t channel_room;
	struct partner **partners;	/* by the index in addresses */
	uint32_t partner_room;
	uint32_t partner_generation;
	struct partner *self;
	struct list dead_partners;
	uint32_t dead_partner_count;

	/* identity and settings */
	uint64_t mac;
	uint32_t board;
	uint32_t endpoint;
	uint32_t key;
	uint32_t timeout_ms;
	uint64_t rndv_threshold;
	uint64_t local_rndv_threshold;
	omx_error_handler_t error_handler;

	/* see helper.c */
	pthread_t helper;
	bool helper_running;
	bool helper_settled;		/* it runs, or is not to */

	/* see pager.c */
	struct pager *pager;		/* NULL: no threads page in for us */
	bool pager_settled;		/* they do, or are not to */
};

static inline struct context *omx__context_of(const struct omx__endpoint *ep, uint64_t match_info)
{
	return &ep->contexts[(match_info >> ep->context_shift) & ep->context_mask];
}

/* NULL: the channel is new. */
static inline struct partner *omx__partner_of(const struct omx__endpoint *ep, uint32_t channel)
{
	uint32_t slot = channel & (CHANNEL_SLOTS - 1);
	struct partner *partner = NULL;

	if (likely(slot < ep->channel_room))
		partner = ep->channels[slot];
	while (partner && unlikely(partner->channel != channel))
		partner = partner->next;
	return partner;
}

/* Does the mask name one context id? */
static inline bool omx__context_named(const struct omx__endpoint *ep, uint64_t match_mask)
{
	return ((match_mask >> ep->context_shift) & ep->context_mask) == ep->context_mask;
}

/* Ends every request; the endpoint is good for nothing but closing. */
void omx__endpoint_fail(struct omx__endpoint *ep, omx_return_t code);

/* BAD_ENDPOINT, NOT_SUPPORTED_IN_HANDLER.  Must not hold the lock. */
omx_return_t omx__endpoint_close(struct omx__endpoint *ep);

void omx__endpoint_wake(struct omx__endpoint *ep);

/*
 * Every public function with an endpoint works between these two.
 * BAD_ENDPOINT: not open, the lock is not held.
 */
static inline omx_return_t omx__enter(struct omx__endpoint *ep)
{
	if (unlikely(!ep))
		return OMX_BAD_ENDPOINT;
	omx__lock(&ep->lock);
	if (likely(ep->state == ENDPOINT_OPEN))
		return OMX_SUCCESS;
	omx__unlock(&ep->lock);
	return OMX_BAD_ENDPOINT;
}

static inline void omx__leave(struct omx__endpoint *ep)
{
	if (unlikely(ep->wake))
		omx__endpoint_wake(ep);
	omx__unlock(&ep->lock);
}

/* Something has to be tried again before long although no event will say so. */
static inline void omx__stall(struct omx__endpoint *ep)
{
	ep->stalled = true;
	if (ep->sleepers && !ep->consuming)
		ep->wake = true;
}

static inline bool omx__in_handler(const struct omx__endpoint *ep)
{
	return (ep->paused & PAUSED_BY_HANDLER) && pthread_equal(ep->handler_thread, pthread_self());
}

#endif
