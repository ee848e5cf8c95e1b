/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An endpoint is what a program opens on a board to send and receive.  This file
 * has its structure and the rules of its lock; every file of the library
 * includes it.
 *
 * Locking: endpoint->lock protects everything in an endpoint.  Public functions
 * acquire it with omx__enter() and release it with omx__leave(); in between it is
 * dropped while a thread sleeps in the driver (wait.c, helper.c), pages in
 * (prefetch.c) or runs the unexpected handler (handler.c).  After that, what was
 * looked up before must be looked up again.  The lock of the table of endpoints
 * (endpoint_table.c) is acquired before it.  Endpoint structures are reused but
 * never freed, so that a call with a closed endpoint is recognized instead of
 * reading freed memory.
 *
 * Lost wake-ups: a thread that is about to sleep has read kwakeups, then khead,
 * and then found nothing to do, all with the lock held.  Events change khead.
 * Everything else that may end another thread's sleep sets ep->wake, and the
 * thread that did so calls OMX_IOC_WAKEUP when it leaves the endpoint.
 */
#ifndef OMX_ENDPOINT_H
#define OMX_ENDPOINT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "list.h"
#include "lock.h"
#include "match_queue.h"
#include "open-mx.h"
#include "partner.h"
#include "posted.h"
#include "request.h"
#include "ring.h"
#include "yielding.h"

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

enum endpoint_state {
	ENDPOINT_CLOSED,
	ENDPOINT_OPEN,
	ENDPOINT_CLOSING,
	ENDPOINT_FORKED,	/* it belongs to the parent process */
};

/* Why no progress is made; any bit. */
#define PAUSED_BY_PROGRAM	0x1	/* omx_disable_progression */
#define PAUSED_BY_HANDLER	0x2	/* the unexpected handler runs */

#define REQUESTS_PER_SLAB	64

struct omx__endpoint {
	/* These outlive the endpoint; what follows starts as zero each time. */
	struct lock lock;		/* "changed": users, paused or state have */
	uint32_t id;			/* slot and generation; part of addresses */

	uint8_t state;
	uint8_t paused;
	uint8_t memory;			/* enum omx_memory for new requests */
	bool consuming;			/* events are handled, and the lock was not dropped */
	bool wake;			/* sleepers must check their conditions again */
	bool shares_processor;		/* who spins had better yield: see wait.c */
	struct yielding yielding;	/* do those that sleep yield first? */
	bool stalled;			/* retry something soon: no event will say when */
	uint64_t short_since;		/* when eager sends first lacked memory; 0: no shortage */
	uint64_t short_last;		/* ... and when they last did; see send.c */
	omx_return_t failed;		/* why the endpoint cannot be used: the board is gone */
	int fd;
	struct ring ring;

	/* sleepers, see wait.c */
	uint32_t sleepers;
	uint32_t any_sleepers;		/* those that wait for any request */
	uint32_t users;			/* threads in a call that have dropped the lock */
	uint32_t wakeups;		/* omx_wakeup calls */

	/* matching, see posted.h and unexpected.h */
	struct posted posted;		/* receives */
	uint32_t context_mask;		/* a receive's mask must have these bits, shifted */
	uint32_t context_shift;
	struct match_queue unexpected;	/* messages */
	struct match_queue matched;	/* messages returned by omx_improbe, by their addresses */
	struct list free_messages;
	struct message_slab *message_slabs;
	uint32_t message_slab_count;
	uint32_t messages;		/* in use: unexpected or matched */
	uint64_t unexpected_bytes;	/* of messages, wherever they are */
	struct list kept;		/* medium ones that the driver has */
	uint64_t kept_bytes;		/* ... of these */
	uint64_t unexpected_max;
	omx_unexp_handler_t handler;
	void *handler_context;
	bool shown;			/* the handler was called for the ring's first message */
	pthread_t handler_thread;	/* the one that runs it; PAUSED_BY_HANDLER */

	/* requests */
	struct list free_requests;
	struct match_queue done;
	struct list connecting;
	struct list retry;
	struct list timers;
	struct omx__request **request_slabs;
	uint32_t request_count;

	/* see region.h */
	uint32_t regions;		/* requests that have one which is not the program's */
	struct regcache *regcache;	/* NULL: nothing was cached yet */
	struct region **declared;	/* the program's, by the slot in their handles */
	uint32_t declared_room;

	/* one-sided accesses */
	struct window **windows;	/* ours, by the low bits of their numbers; see window.c */
	uint32_t window_room;
	uint32_t window_count;
	struct list put_events;		/* see put_event.c */
	uint32_t accesses;		/* of this endpoint to all peers, not ended */
	struct list refused;		/* accesses whose log is full; see refused.c */
	struct log **logs;		/* OMX_LOGS_MAX places; NULL: none yet */

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
	bool helper_settled;		/* it was started, or cannot be */

	/* see pager.c */
	struct pager *pager;		/* NULL: there are no pager threads */
	bool pager_settled;		/* they were started, or cannot be */
};

/* The partner of a channel; NULL: the channel is new. */
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

/* Does the mask cover the whole context id? */
static inline bool omx__context_named(const struct omx__endpoint *ep, uint64_t match_mask)
{
	return ((match_mask >> ep->context_shift) & ep->context_mask) == ep->context_mask;
}

/* Ends every request.  Afterwards the endpoint can only be closed. */
void omx__endpoint_fail(struct omx__endpoint *ep, omx_return_t code);

/* BAD_ENDPOINT, NOT_SUPPORTED_IN_HANDLER.  Must not hold the lock. */
omx_return_t omx__endpoint_close(struct omx__endpoint *ep);

/* Makes all sleeping threads check their conditions again. */
void omx__endpoint_wake(struct omx__endpoint *ep);

/*
 * Every public function with an endpoint works between these two.  On success
 * omx__enter() has acquired the lock.  BAD_ENDPOINT: the endpoint is not open.
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

/* Something must be tried again soon, and no event will say when. */
static inline void omx__stall(struct omx__endpoint *ep)
{
	ep->stalled = true;
	if (ep->sleepers && !ep->consuming)
		ep->wake = true;
}

static inline bool omx__in_handler(const struct omx__endpoint *ep)
{
	return (ep->paused & PAUSED_BY_HANDLER) &&
	       pthread_equal(ep->handler_thread, pthread_self());
}

#endif
