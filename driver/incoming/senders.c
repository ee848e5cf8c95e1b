// SPDX-License-Identifier: GPL-2.0
/*
 * The arithmetic of shares and turns.  channel/turn.c calls it with the board's
 * incoming.lock held; unit tests compile it in user space.
 */
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "channel/sequence.h"
#include "incoming/senders.h"

/* A turn that so many later ones have overtaken is lost. */
#define OVERTAKEN_BY	48
/* One that takes so many times as long as usual is, too ... */
#define EXPIRES_AFTER	4
/*
 * ... but at most so many times as long as turns last at least: peers that end theirs
 * later each time would make all turns as long as they like.
 */
#define EXPIRES_MOST	8

#define GOLDEN_RATIO	0x9e3779b9u	/* of 2^32 */

void omx_senders_init(struct omx_senders *senders)
{
	memset(senders, 0, sizeof(*senders));
	INIT_LIST_HEAD(&senders->waiting);
	INIT_LIST_HEAD(&senders->open);
}

void omx_sender_init(struct omx_sender *sender)
{
	memset(sender, 0, sizeof(*sender));
	INIT_LIST_HEAD(&sender->link);
	sender->epoch = ~0u;
}

/* ---- counting ---- */

static void senders_enter_epoch(struct omx_senders *senders, u32 epoch)
{
	if (senders->epoch == epoch)
		return;
	senders->before = senders->epoch + 1 == epoch ? senders->now : 0;
	senders->new_before = senders->epoch + 1 == epoch ? senders->new_now : 0;
	senders->now = 0;
	senders->new_now = 0;
	senders->epoch = epoch;
}

void omx_senders_count(struct omx_senders *senders, u32 epoch)
{
	senders_enter_epoch(senders, epoch);
	senders->now++;
}

u32 omx_senders_number(struct omx_senders *senders, u32 epoch)
{
	senders_enter_epoch(senders, epoch);
	/* Those that wait long are in no epoch. */
	return max(senders->now, senders->before) + senders->waiting_count;
}

u32 omx_senders_first_window(struct omx_senders *senders, u32 packets, u32 epoch)
{
	u32 number = omx_senders_number(senders, epoch);

	/* Those that send already are not slowed by others that may do so. */
	senders->new_now++;
	number += max(senders->new_now, senders->new_before);
	return number <= 1 ? OMX_WINDOW : clamp_t(u32, packets / number, 1, OMX_WINDOW);
}

/* ---- turns ---- */

static u32 senders_room(u32 packets)
{
	return max_t(u32, packets / OMX_TURN_PACKETS, 1);
}

static void senders_wait(struct omx_senders *senders, struct omx_sender *sender)
{
	sender->turn = OMX_TURN_WAITING;
	list_add_tail(&sender->link, &senders->waiting);
	senders->waiting_count++;
}

static void senders_open(struct omx_senders *senders, struct omx_sender *sender, u32 now)
{
	sender->turn = OMX_TURN_OPEN;
	sender->is_new = true;
	sender->since = now;
	sender->number = senders->opened++;
	list_add_tail(&sender->link, &senders->open);
	senders->open_count++;
}

static void senders_remove(struct omx_senders *senders, struct omx_sender *sender)
{
	if (sender->turn == OMX_TURN_NONE)
		return;
	list_del_init(&sender->link);
	if (sender->turn == OMX_TURN_OPEN)
		senders->open_count--;
	else
		senders->waiting_count--;
	sender->turn = OMX_TURN_NONE;
}

static struct omx_sender *senders_oldest(struct omx_senders *senders)
{
	return list_first_entry(&senders->open, struct omx_sender, link);
}

/* A turn has ended that was opened so much later than these. */
static void senders_overtake(struct omx_senders *senders, u32 number)
{
	while (senders->open_count &&
	       (s32)(number - senders_oldest(senders)->number) > OVERTAKEN_BY) {
		senders_remove(senders, senders_oldest(senders));
		senders->overtaken++;
	}
}

void omx_senders_leave(struct omx_senders *senders, struct omx_sender *sender, u32 now)
{
	bool has_ended = sender->turn == OMX_TURN_OPEN;

	senders_remove(senders, sender);
	if (!has_ended)
		return;
	senders->duration -= senders->duration / 8;
	senders->duration += now - sender->since;
	senders_overtake(senders, sender->number);
}

bool omx_senders_is_due(const struct omx_senders *senders, u32 packets)
{
	return senders->waiting_count && senders->open_count < senders_room(packets);
}

struct omx_sender *omx_senders_next(struct omx_senders *senders, u32 packets, u32 now)
{
	struct omx_sender *sender;

	if (!omx_senders_is_due(senders, packets))
		return NULL;
	sender = list_first_entry(&senders->waiting, struct omx_sender, link);
	senders_remove(senders, sender);
	senders_open(senders, sender, now);
	return sender;
}

u32 omx_senders_expire(struct omx_senders *senders, u32 shortest, u32 now)
{
	u32 age = clamp_t(u32, EXPIRES_AFTER * (senders->duration / 8), shortest,
			  EXPIRES_MOST * shortest);
	u32 n = senders->overtaken;

	while (senders->open_count && now - senders_oldest(senders)->since >= age) {
		senders_remove(senders, senders_oldest(senders));
		n++;
	}
	senders->overtaken = 0;
	return n;
}

static u32 senders_turn(struct omx_senders *senders, struct omx_sender *sender, u32 received,
			u32 packets, u32 now)
{
	if (sender->turn == OMX_TURN_OPEN && !sender->is_new &&
	    (s32)(sender->last - received) <= 0)
		omx_senders_leave(senders, sender, now);
	if (sender->turn == OMX_TURN_NONE) {
		if (!senders->waiting_count && senders->open_count < senders_room(packets))
			senders_open(senders, sender, now);
		else
			senders_wait(senders, sender);
	}
	if (sender->turn == OMX_TURN_WAITING)
		return 0;
	if (sender->is_new)
		sender->last = received + OMX_TURN_PACKETS;
	sender->is_new = false;
	return min_t(u32, sender->last - received, OMX_TURN_PACKETS);
}

/*
 * Shares are hardly ever whole packets.  The packets that are left go to some of the
 * senders, and with each ack to others: multiples of the golden ratio are spread evenly, over
 * senders with consecutive phases as well as over the packets of one of them.
 */
static u32 senders_share(struct omx_senders *senders, struct omx_sender *sender, u32 received,
			 u32 packets, u32 number)
{
	u32 place, rest = packets % number;

	if (!sender->phase)
		sender->phase = ++senders->phases;
	place = (received + sender->phase) * GOLDEN_RATIO;
	return clamp_t(u32, packets / number + ((u64)place * number >> 32 < rest), 1, OMX_WINDOW);
}

u32 omx_senders_window(struct omx_senders *senders, struct omx_sender *sender, u32 received,
		       u32 packets, u32 epoch, u32 now)
{
	u32 number = omx_senders_number(senders, epoch);

	if (number > packets && sender->more)
		return senders_turn(senders, sender, received, packets, now);
	omx_senders_leave(senders, sender, now);
	if (number <= 1)
		return OMX_WINDOW;
	return senders_share(senders, sender, received, packets, number);
}
