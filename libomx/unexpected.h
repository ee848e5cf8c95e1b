/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Messages that no receive has asked for yet.
 *
 * They leave the ring at once: eager data is copied into memory of the library,
 * of a large message only the envelope is kept.  So neither the ring nor the
 * driver's memory fills with what the program does not want, and the messages
 * that it does want still arrive.
 *
 * When all of them together exceed the endpoint's limit, the driver is told, and
 * tells the senders to announce also their short messages as they announce
 * large ones: the data stays with them until it is pulled.  What each sender had
 * handed to its driver before it heard of that (about 2 MiB) is stored all
 * the same.  The senders may send data again when half of the limit is free.
 *
 * If there is no memory for a message, what fits one frame stays in the ring,
 * with all events behind it, until there is some; longer ones stay with the
 * driver, which closes its windows beyond 16 MiB.
 * Must hold the endpoint's lock.
 */
#ifndef OMX_UNEXPECTED_H
#define OMX_UNEXPECTED_H

#include "match.h"
#include "omx.h"

struct message {
	struct list node;		/* ep->unexpected, ep->held, or free */
	struct list context_node;	/* unexpected messages of its context id */
	struct partner *partner;
	struct arrival arrival;
	void *memory;			/* payload of our own, if it is not tiny */
	uint64_t charge;		/* bytes counted against the limit */
	omx_return_t lost;		/* held: why it cannot be received any more */
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
omx_message_t omx__unexpected_match(struct omx__endpoint *ep, struct message *message);
/* NULL: nothing held has this handle. */
struct message *omx__unexpected_matched(struct omx__endpoint *ep, omx_message_t handle);

/* Forgets the rendezvous of a partner that cannot be pulled any more. */
void omx__unexpected_purge(struct omx__endpoint *ep, struct partner *partner,
			   omx_return_t reason);

void omx__unexpected_free_all(struct omx__endpoint *ep);

#endif
