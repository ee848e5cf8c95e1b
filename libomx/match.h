/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Matching: which receive takes which message.  Must hold the endpoint's lock.
 */
#ifndef OMX_MATCH_H
#define OMX_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoint.h"

/* A message as announced by the driver. */
struct arrival {
	uint64_t match_info;
	uint64_t length;
	const void *data;	/* the payload of a short one */
	uint32_t medium;	/* what to FETCH; 0: data has it, or rendezvous */
	bool rendezvous;
	uint32_t remote_message;	/* rendezvous: what to PULL */
};

static inline bool omx__matches(uint64_t incoming, uint64_t match_info, uint64_t match_mask)
{
	return (incoming & match_mask) == match_info;
}

/* BAD_MATCH_MASK: nothing could ever match. */
static inline omx_return_t omx__match_check(uint64_t match_info, uint64_t match_mask)
{
	return likely(!(match_info & ~match_mask)) ? OMX_SUCCESS : OMX_BAD_MATCH_MASK;
}

/* The receive posted first that takes such a message; NULL: none does. */
static inline struct omx__request *omx__match_posted(struct omx__endpoint *ep,
						     uint64_t match_info)
{
	struct list *posted = &omx__context_of(ep, match_info)->posted;
	struct list *node;

	for (node = posted->next; node != posted; node = node->next) {
		struct omx__request *req = list_entry(node, struct omx__request, node);

		if (omx__matches(match_info, req->match_info, req->match_mask))
			return req;
	}
	return NULL;
}

/* Fills a receive, which is in no queue any more, with a message. */
void omx__deliver(struct omx__request *req, struct partner *partner,
		  const struct arrival *arrival);

/* deliver, for a message that the sender keeps until it is pulled (pull.c). */
void omx__pull_start(struct omx__request *req, struct partner *partner,
		     const struct arrival *arrival);

/* Tries once more to fill a receive for which resources were short. */
void omx__pull_again(struct omx__request *req);
void omx__deliver_retry(struct omx__endpoint *ep);

/* Tells the sender that its message is not wanted. */
void omx__pull_discard(struct omx__endpoint *ep, struct partner *partner,
		       const struct arrival *arrival);

/*
 * Shows a message to the unexpected handler, with the lock dropped.
 * True: it has dealt with it.
 */
bool omx__handler_consumes(struct omx__endpoint *ep, struct partner *partner,
			   const struct arrival *arrival);

/* FETCH into a buffer; at most its length.  0 or -errno. */
int omx__fetch(struct omx__endpoint *ep, uint32_t message, const struct omx_buffer *buffer);
void omx__fetch_discard(struct omx__endpoint *ep, uint32_t message);

#endif
