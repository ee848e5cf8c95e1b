/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A request is a send, receive, connect or access of the program.  It moves from a
 * free list of the endpoint through one queue per state to the queue of completed
 * requests, and back to the free list.
 *
 * Every file that sends, receives, connects or accesses windows uses it.  Must
 * hold the endpoint's lock.
 */
#ifndef OMX_REQUEST_H
#define OMX_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "buffer.h"
#include "match_queue.h"
#include "open-mx.h"

struct partner;
struct region;

#define CACHE_LINE	64

enum request_type {
	REQUEST_SEND,
	REQUEST_RECV,
	REQUEST_CONNECT,
	REQUEST_PUT,		/* this and what follows are accesses */
	REQUEST_GET,
	REQUEST_ATOMIC,
	REQUEST_POST_KEY,
	REQUEST_FLUSH,		/* asks whether entries in logs have been consumed */
};

/*
 *   state            `node` is in
 *   FREE             ep->free_requests
 *   POSTED           ep->posted
 *   QUEUED           partner->queued: a send or access waits for room or earlier ones;
 *                    ep->refused: an access waits for room in its log
 *   RETRY            ep->retry: a receive has matched but lacks resources
 *   ACTIVE           partner->active, or ep->connecting: the driver has it
 *   DONE             ep->done; internal requests: no list
 */
enum request_state {
	REQUEST_FREE,
	REQUEST_POSTED,
	REQUEST_QUEUED,
	REQUEST_RETRY,
	REQUEST_ACTIVE,
	REQUEST_DONE,
};

/* What an access does to which window of the peer. */
struct access {
	struct omx_key key;
	uint64_t offset;
	uint64_t immediate;	/* PUT with OMX_ACCESS_EVENT */
	uint64_t operand;	/* ATOMIC, and the next three */
	uint64_t compare;
	uint8_t operation;
	uint8_t size;
	uint8_t flags;		/* PUT: OMX_ACCESS_* */
	uint64_t tag;		/* of a conditional access, or of a key */
	uint32_t timeout_ms;	/* of a conditional access */
	uint8_t pause_ms;	/* after it was refused, because its log was full */
	bool repeated;		/* has been posted again since, and is not answered */
	uint64_t again;		/* in ep->refused: when it is posted again (ns) */
};

/* Can the target refuse it, so that it has to be posted again? */
static inline bool omx__access_may_return(const struct access *access)
{
	return access->key.secret[2] & OMX_KEY_ACTIVE;
}

/*
 * Ordered by use: a receive is matched by the first cache line, and a short message needs
 * two more, for its buffer and its status.
 */
struct omx__request {
	union {
		struct list node;
		struct match_item item;	/* POSTED, DONE; begins with `node` */
	};
	struct omx__endpoint *ep;
	struct partner *partner;

	uint8_t type;
	uint8_t state;
	bool zombie;		/* the program does not wait for its end */
	bool internal;		/* of a blocking call: the program never sees it */
	bool rendezvous;	/* the message is pulled */
	bool conditional;	/* an access that waits for a key of the peer: see when.c */
	bool bound;		/* it has more to undo: see request_unbind() */
	uint8_t memory;		/* enum omx_memory */
	uint32_t index;		/* in the endpoint's table */
	uint32_t generation;	/* incremented when freed: cookies of before are stale */

	uint64_t match_mask;	/* POSTED: matches item.match_info */

	struct buffer buffer;
	uint64_t deadline;	/* ns; 0: none */
	uint32_t region;	/* its number in the driver; 0: none; see region.h */
	uint32_t remote_message;	/* number of the message to pull or fetch */
	struct region *kept;	/* the region, if it outlives the request; else NULL */

	omx_status_t status;	/* context, addr, match_info as soon as known */

	struct list timer_node;	/* ep->timers, if deadline is not 0 */
	struct access access;	/* PUT and what follows */
	struct match_link links[MATCH_LINKS];	/* POSTED, DONE: of item */
	uint64_t number;	/* POSTED: see posted.c */
	uint32_t posted_in;	/* POSTED: which index */
} __attribute__((aligned(CACHE_LINE)));

/* NULL: out of memory. */
struct omx__request *omx__request_alloc(struct omx__endpoint *ep, enum request_type type,
					void *context);
void omx__request_free(struct omx__request *req);
void omx__requests_free_all(struct omx__endpoint *ep);

/* Is this a request of the endpoint that the program may refer to? */
static inline bool omx__request_valid(const struct omx__endpoint *ep,
				      const struct omx__request *req)
{
	return req && req->ep == ep && req->state != REQUEST_FREE && !req->zombie;
}

static inline bool omx__request_is_access(const struct omx__request *req)
{
	return req->type >= REQUEST_PUT;
}

/* May the program reuse the buffer of this send or put? */
static inline bool omx__request_buffered(const struct omx__request *req)
{
	return req->state == REQUEST_DONE ||
	       (req->type == REQUEST_PUT && req->state == REQUEST_ACTIVE && !req->rendezvous &&
		!omx__access_may_return(&req->access));
}

/* What the driver returns in events about the request. */
static inline uint64_t omx__request_cookie(const struct omx__request *req)
{
	return (uint64_t)req->generation << 32 | req->index;
}

/* The active request with this cookie; NULL: it has ended already. */
struct omx__request *omx__request_by_cookie(struct omx__endpoint *ep, uint64_t cookie);

/*
 * Ends a request that is in no queue: it is queued as done, or freed if the
 * program does not wait for it.  The caller has set the lengths in its status.
 */
void omx__request_done(struct omx__request *req, omx_return_t code);

/* Removes a request from its queue, withdraws its memory from the driver, and ends it. */
void omx__request_abort(struct omx__request *req, omx_return_t code);

/* Aborts a request, which nobody tests any more, and frees it. */
void omx__request_drop(struct omx__request *req);

/* Aborts every request in a queue. */
void omx__requests_abort(struct list *requests, omx_return_t code);

/* Copies the status of a completed request for the program and frees the request. */
void omx__request_take(struct omx__request *req, omx_status_t *status);

#endif
