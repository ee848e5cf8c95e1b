// SPDX-License-Identifier: GPL-2.0
/*
 * The arithmetic of shares of users.  channel/turn.c calls it with the board's
 * incoming.lock held; unit tests compile it in user space.
 */
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/minmax.h>

#include "channel/sequence.h"
#include "incoming/receivers.h"

void omx_receivers_init(struct omx_receivers *receivers)
{
	INIT_LIST_HEAD(&receivers->list);
	receivers->count = 0;
	receivers->epoch = 0;
}

void omx_receiver_init(struct omx_receiver *receiver)
{
	INIT_LIST_HEAD(&receiver->link);
	omx_senders_init(&receiver->senders);
}

void omx_receivers_forget(struct omx_receivers *receivers, struct omx_receiver *receiver)
{
	if (list_empty(&receiver->link))
		return;
	list_del_init(&receiver->link);
	receivers->count--;
}

/* ---- counting ---- */

static bool receiver_takes_part(struct omx_receiver *receiver, u32 epoch)
{
	return omx_senders_number(&receiver->senders, epoch) ||
	       omx_senders_take_turns(&receiver->senders);
}

/* Once in an epoch. */
static void receivers_enter_epoch(struct omx_receivers *receivers, u32 epoch)
{
	struct omx_receiver *receiver, *next;

	if (receivers->epoch == epoch)
		return;
	receivers->epoch = epoch;
	list_for_each_entry_safe(receiver, next, &receivers->list, link)
		if (!receiver_takes_part(receiver, epoch))
			omx_receivers_forget(receivers, receiver);
}

void omx_receivers_count(struct omx_receivers *receivers, struct omx_receiver *receiver,
			 u32 epoch)
{
	receivers_enter_epoch(receivers, epoch);
	omx_senders_count(&receiver->senders, epoch);
	if (!list_empty(&receiver->link))
		return;
	list_add_tail(&receiver->link, &receivers->list);
	receivers->count++;
}

bool omx_receivers_are_crowded(struct omx_receivers *receivers, u32 epoch)
{
	struct omx_receiver *only;

	receivers_enter_epoch(receivers, epoch);
	if (receivers->count != 1)
		return receivers->count;
	only = list_first_entry(&receivers->list, struct omx_receiver, link);
	return omx_senders_number(&only->senders, epoch) > 1 ||
	       omx_senders_take_turns(&only->senders);
}

/* ---- shares ---- */

/* Among so many, one that takes no part yet included. */
static u32 receivers_number(const struct omx_receivers *receivers,
			    const struct omx_receiver *receiver)
{
	return receivers->count + list_empty(&receiver->link);
}

static u32 receivers_share(u32 number, u32 packets)
{
	return max(packets / number, 1u);
}

/* A sender that is its user's only one has all that its user has. */
static u32 receivers_limit(u32 window, u32 number, u32 share)
{
	return number > 1 ? min(window, share) : window;
}

u32 omx_receivers_first_window(struct omx_receivers *receivers, struct omx_receiver *receiver,
			       u32 packets, u32 epoch)
{
	u32 number, share;

	receivers_enter_epoch(receivers, epoch);
	number = receivers_number(receivers, receiver);
	share = receivers_share(number, packets);
	return receivers_limit(omx_senders_first_window(&receiver->senders, share, epoch),
			       number, share);
}

u32 omx_receivers_window(struct omx_receivers *receivers, struct omx_receiver *receiver,
			 struct omx_sender *sender, u32 received, u32 packets, u32 epoch,
			 u32 now)
{
	u32 number, share;

	receivers_enter_epoch(receivers, epoch);
	number = receivers_number(receivers, receiver);
	share = receivers_share(number, packets);
	return receivers_limit(omx_senders_window(&receiver->senders, sender, received, share,
						  epoch, now),
			       number, share);
}

/* ---- turns ---- */

bool omx_receivers_take_turns(const struct omx_receivers *receivers)
{
	struct omx_receiver *receiver;

	list_for_each_entry(receiver, &receivers->list, link)
		if (omx_senders_take_turns(&receiver->senders))
			return true;
	return false;
}

bool omx_receivers_are_due(const struct omx_receivers *receivers, u32 packets)
{
	struct omx_receiver *receiver;

	list_for_each_entry(receiver, &receivers->list, link)
		if (omx_senders_is_due(&receiver->senders,
				       receivers_share(receivers->count, packets)))
			return true;
	return false;
}

struct omx_sender *omx_receivers_next(struct omx_receivers *receivers, u32 packets, u32 now)
{
	struct omx_receiver *receiver;
	struct omx_sender *sender;

	list_for_each_entry(receiver, &receivers->list, link) {
		sender = omx_senders_next(&receiver->senders,
					  receivers_share(receivers->count, packets), now);
		if (sender)
			return sender;
	}
	return NULL;
}

u32 omx_receivers_expire(struct omx_receivers *receivers, u32 shortest, u32 now)
{
	struct omx_receiver *receiver;
	u32 expired = 0;

	list_for_each_entry(receiver, &receivers->list, link)
		expired += omx_senders_expire(&receiver->senders, shortest, now);
	return expired;
}
