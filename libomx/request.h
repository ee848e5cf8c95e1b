/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Requests: from a free list of the endpoint, through one queue per state,
 * to the queue of those done, and back.  Must hold the endpoint's lock.
 */
#ifndef OMX_REQUEST_H
#define OMX_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "buffer.h"
#include "list.h"
#include "open-mx.h"

struct partner;
struct region;

enum request_type {
	REQUEST_SEND,
	REQUEST_RECV,
	REQUEST_CONNECT,
};

/*
 *   state            `node` is in
 *   FREE             ep->free_requests
 *   POSTED           posted receives of its context id
 *   QUEUED           partner->queued: a send waits for room or for its turn
 *   RETRY            ep->retry: a receive is not filled yet for lack of resources
 *   ACTIVE           partner->active, connects ep->connecting: the driver has it
 *   DONE             ep->done; internal requests: in no list
 */
enum request_state {
	REQUEST_FREE,
	REQUEST_POSTED,
	REQUEST_QUEUED,
	REQUEST_RETRY,
	REQUEST_ACTIVE,
	REQUEST_DONE,
};

struct omx__request {
	struct list node;
	struct list context_node;	/* DONE: done requests of its context id */
	struct list timer_node;		/* ep->timers, if deadline is not 0 */
	struct omx__endpoint *ep;
	struct partner *partner;

	uint8_t type;
	uint8_t state;
	bool zombie;		/* nobody waits for its end */
	bool internal;		/* of a blocking call: never seen by peek and the like */
	bool rendezvous;	/* the receiver pulls it */
	bool bound;		/* a deadline or a declared region may have to be given up */
	uint8_t memory;		/* enum omx_memory */
	uint32_t index;		/* in the endpoint's table */
	uint32_t generation;	/* counts its lives: tells late answers from its own */

	uint64_t match_info;	/* receive: what it asks for */
	uint64_t match_mask;
	struct buffer buffer;
	uint32_t region;	/* ours while the driver has it; 0: none; see region.h */
	uint32_t remote_message;	/* what is pulled or fetched */
	struct region *kept;	/* what `region` is of; NULL: of nothing that outlives it */
	uint64_t deadline;	/* ns; 0: none */

	omx_status_t status;	/* context, addr, match_info as soon as known */
};

/* NULL: out of memory. */
struct omx__request *omx__request_alloc(struct omx__endpoint *ep, enum request_type type,
					void *context);
void omx__request_free(struct omx__request *req);
void omx__requests_free_all(struct omx__endpoint *ep);

/* Is this a request that the program may ask about? */
static inline bool omx__request_valid(const struct omx__endpoint *ep,
				      const struct omx__request *req)
{
	return req && req->ep == ep && req->state != REQUEST_FREE && !req->zombie;
}

/* What the driver gives back in its answers. */
static inline uint64_t omx__request_cookie(const struct omx__request *req)
{
	return (uint64_t)req->generation << 32 | req->index;
}

/* NULL: it has ended meanwhile. */
struct omx__request *omx__request_by_cookie(struct omx__endpoint *ep, uint64_t cookie);

/*
 * Ends a request that is in no queue: it is queued as done, or freed if
 * nobody waits for it.  Lengths are in its status already.
 */
void omx__request_done(struct omx__request *req, omx_return_t code);

/* Takes it out of the queue of its state, takes its memory back, and ends it. */
void omx__request_abort(struct omx__request *req, omx_return_t code);

/* The same, and frees it. */
void omx__request_drop(struct omx__request *req);

/* Hands the end of a request to the program and frees it. */
void omx__request_take(struct omx__request *req, omx_status_t *status);

#endif
