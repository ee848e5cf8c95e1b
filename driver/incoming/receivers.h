/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Users who receive.  What may be on its way to a board is divided among the users whose
 * endpoints it is for, and what a user gets among its senders (senders.h).  So neither
 * the number of a user's channels nor what their peers say of themselves changes what is
 * left for others.  Plain data: the caller holds a lock (incoming.h).
 *
 * A user takes part while any of its senders is current.
 */
#ifndef OMX_RECEIVERS_H
#define OMX_RECEIVERS_H

#include <linux/list.h>
#include <linux/types.h>

#include "incoming/senders.h"

/* A board's. */
struct omx_receivers {
	struct list_head list;	/* those that take part */
	u32 count;
	u32 epoch;		/* in which they were looked through */
};

/* What all endpoints of a user on a board share. */
struct omx_receiver {
	struct list_head link;	/* empty: it takes no part */
	struct omx_senders senders;
};

void omx_receivers_init(struct omx_receivers *receivers);
void omx_receiver_init(struct omx_receiver *receiver);
/* The user has no sender any more. */
void omx_receivers_forget(struct omx_receivers *receivers, struct omx_receiver *receiver);

/* A sender to this user is current. */
void omx_receivers_count(struct omx_receivers *receivers, struct omx_receiver *receiver,
			 u32 epoch);
/* Are there several current senders, whomever they send to? */
bool omx_receivers_are_crowded(struct omx_receivers *receivers, u32 epoch);
/* As the functions of senders.h; packets: how many may be on their way to the board. */
u32 omx_receivers_first_window(struct omx_receivers *receivers, struct omx_receiver *receiver,
			       u32 packets, u32 epoch);
u32 omx_receivers_window(struct omx_receivers *receivers, struct omx_receiver *receiver,
			 struct omx_sender *sender, u32 received, u32 packets, u32 epoch,
			 u32 now);
bool omx_receivers_take_turns(const struct omx_receivers *receivers);
bool omx_receivers_are_due(const struct omx_receivers *receivers, u32 packets);
struct omx_sender *omx_receivers_next(struct omx_receivers *receivers, u32 packets, u32 now);
u32 omx_receivers_expire(struct omx_receivers *receivers, u32 shortest, u32 now);

#endif
