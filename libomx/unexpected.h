/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An unexpected message is one that no receive has matched yet.
 *
 * Unexpected messages leave the ring at once: short ones are copied into memory of
 * the library, and of a large message only the envelope is kept.  Medium ones, which
 * the driver has, stay there up to a limit, so that they are copied only once, into the
 * buffer of their receive.  All of them are copied into memory of the library when the
 * driver is short of memory.  So neither the ring nor the driver's memory fills with
 * messages that the program does not receive yet, and those that it does receive still
 * arrive.
 *
 * When all of them together exceed the endpoint's limit, the library tells the
 * driver, which makes the peers announce short messages as they announce large
 * ones: the data stays at the sender until it is pulled.  What each sender has
 * submitted to its driver before it knows of that (about 2 MiB) is still stored.
 * Senders may send data again when half of the limit is free.
 *
 * If there is no memory for a message of one frame, it stays in the ring, with
 * all events behind it, until there is some.  Longer messages stay in the driver,
 * which closes its windows when it has 16 MiB of them.
 *
 * Called by progress.c for messages, by receive.c and probe.c for what they look
 * for.  Must hold the endpoint's lock.
 */
#ifndef OMX_UNEXPECTED_H
#define OMX_UNEXPECTED_H

#include "match.h"
#include "omx.h"

struct message {
	union {
		struct list node;	/* ep->free_messages */
		struct match_item item;	/* ep->unexpected or ep->matched; begins with `node` */
	};
	struct match_queue *queue;	/* which one of them */
	struct partner *partner;
	struct arrival arrival;
	struct list in_kept;		/* medium, and the driver has it: ep->kept */
	void *memory;			/* copy of the payload, if it is not tiny */
	uint64_t charge;		/* bytes counted against the limit */
	omx_return_t lost;		/* why it cannot be received any more */
	unsigned char tiny[OMX_TINY_MAX];
	struct match_link links[MATCH_LINKS];	/* of item */
};

/* Queues the message whose event is at the ring's head.  False: out of memory. */
bool omx__unexpected_add(struct omx__endpoint *ep, struct partner *partner,
			 const struct arrival *arrival);

/* The first message that matches, of any context id.  NULL: there is none. */
struct message *omx__unexpected_find(struct omx__endpoint *ep, uint64_t match_info,
				     uint64_t match_mask);

/* Delivers a message to `req`, which is in no queue, and frees the message. */
void omx__unexpected_deliver(struct message *message, struct omx__request *req);

/* Removes a message from matching.  The program has it by the handle that is returned. */
omx_message_t omx__unexpected_match(struct omx__endpoint *ep, struct message *message);
/* The message with this handle; NULL: there is none. */
struct message *omx__unexpected_matched(struct omx__endpoint *ep, omx_message_t handle);

/* The driver lacks memory: fetches all that is left there.  False: there is none here either. */
bool omx__unexpected_fetch(struct omx__endpoint *ep);

/* A partner is lost: frees its announced messages, which cannot be pulled any more. */
void omx__unexpected_purge(struct omx__endpoint *ep, struct partner *partner,
			   omx_return_t reason);

void omx__unexpected_free_all(struct omx__endpoint *ep);

#endif
