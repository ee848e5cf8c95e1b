/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A message that has arrived, and what happens to it when it is known which receive
 * matches (posted.h, unexpected.h): delivery (deliver.c), pulling (pull.c) or the
 * unexpected handler (handler.c).
 *
 * Called by progress.c for messages and by receive.c and unexpected.c for
 * receives.  Must hold the endpoint's lock.
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
	const void *data;	/* payload of a tiny or small message, in the ring */
	uint32_t medium;	/* number of a medium message, to FETCH it; else 0 */
	bool fetch_soon;	/* ... for which the driver has little memory */
	bool rendezvous;	/* large or synchronous: only announced */
	uint32_t remote_message;	/* rendezvous: number at the sender, to PULL it */
};

/* BAD_MATCH_MASK: no message could ever match. */
static inline omx_return_t omx__match_check(uint64_t match_info, uint64_t match_mask)
{
	return likely(!(match_info & ~match_mask)) ? OMX_SUCCESS : OMX_BAD_MATCH_MASK;
}

/* Delivers a message to a receive that the caller has removed from its queue. */
void omx__deliver(struct omx__request *req, struct partner *partner,
		  const struct arrival *arrival);

/* The same for a message that the sender keeps until it is pulled. */
void omx__pull_start(struct omx__request *req, struct partner *partner,
		     const struct arrival *arrival);

/* Retry one receive, or all, for which resources were short. */
void omx__pull_again(struct omx__request *req);
void omx__deliver_retry(struct omx__endpoint *ep);

/* Receives a message without its data, so that the sender's request ends. */
void omx__pull_discard(struct omx__endpoint *ep, struct partner *partner,
		       const struct arrival *arrival);

/*
 * Calls the unexpected handler with a message; the lock is dropped while it
 * runs.  True: the message must be discarded.
 */
bool omx__handler_consumes(struct omx__endpoint *ep, struct partner *partner,
			   const struct arrival *arrival);

/* Fetches a medium message into a buffer, at most its length.  0 or -errno. */
int omx__fetch(struct omx__endpoint *ep, uint32_t message, const struct omx_buffer *buffer);
void omx__fetch_discard(struct omx__endpoint *ep, uint32_t message);

#endif
