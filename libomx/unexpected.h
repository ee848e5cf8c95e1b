/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Messages that no receive has asked for yet.
 *
 * Their payload is copied into memory, up to the endpoint's limit.  Beyond it
 * (or when memory is short) a message is *parked*: it keeps its slots of the
 * ring, so that the driver runs out of them and holds the senders back.
 * Matching sees no difference, and events behind a parked message are still
 * handled.
 *
 * The driver leaves the last 1/16 of the ring to events other than messages.
 * When they have used up half of that, the oldest parked messages are taken
 * out although it is over the limit: one slot for each answer to a request of
 * the program's own, so that no answer ever waits behind unwanted messages.
 * Must hold the endpoint's lock.
 */
#ifndef OMX_UNEXPECTED_H
#define OMX_UNEXPECTED_H

#include "match.h"
#include "omx.h"

struct message {
	struct list node;		/* ep->unexpected, ep->held, or free */
	struct list context_node;	/* unexpected messages of its context id */
	struct list parked_node;	/* ep->parked, if parked */
	struct partner *partner;
	struct arrival arrival;
	void *memory;			/* payload of our own, if it is not tiny */
	uint64_t charge;		/* bytes counted against the limit */
	bool parked;
	omx_return_t lost;		/* held: why it cannot be received any more */
	uint32_t position;		/* parked: of its entry in the ring */
	unsigned char tiny[OMX_TINY_MAX];
};

/* Queues the message whose entry is at the ring's head.  False: out of memory. */
bool omx__unexpected_add(struct omx__endpoint *ep, struct partner *partner,
			 const struct arrival *arrival);

/* The first that matches; any context id.  NULL: there is none. */
struct message *omx__unexpected_find(struct omx__endpoint *ep, uint64_t match_info,
				     uint64_t match_mask);

/* Takes a message out of the queue for `req`, which is in no queue itself. */
void omx__unexpected_deliver(struct message *message, struct omx__request *req);

/* No receive finds it any more: it is the program's, by this handle. */
omx_message_t omx__unexpected_hold(struct omx__endpoint *ep, struct message *message);
/* NULL: nothing held has this handle. */
struct message *omx__unexpected_held(struct omx__endpoint *ep, omx_message_t handle);

/* Forgets the rendezvous of a partner that cannot be pulled any more. */
void omx__unexpected_purge(struct omx__endpoint *ep, struct partner *partner,
			   omx_return_t reason);

/* Gives the ring's slots back up to its head, or to the first parked message. */
void omx__unexpected_release_ring(struct omx__endpoint *ep);

void omx__unexpected_free_all(struct omx__endpoint *ep);

#endif
