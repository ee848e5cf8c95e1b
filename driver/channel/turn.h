/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The share that the peer of a channel has of what may be on its way to the board, and
 * whose turn it is if there are too many senders (incoming/receivers.h).
 *
 * What runs for each packet is inline, and looks at nothing that other channels write
 * more than once in an epoch.
 */
#ifndef OMX_TURN_H
#define OMX_TURN_H

#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/log2.h>

#include "channel/channel.h"
#include "endpoint/endpoint.h"
#include "incoming/incoming.h"
#include "net/board.h"

/*
 * Packets that call for an ack at once if others wait behind them; fewer are acked by the timer
 * or by data.
 */
#define OMX_ACK_EVERY	16
/* ... if none waits: a response may be about to carry it. */
#define OMX_ACK_LATE	32
/* ... and if that is likely: a sender without one has a quarter of its window left. */
#define OMX_ACK_LATEST	48

struct timer_list;

/* 8 to 10 ms: longer than a round of many senders, on a link of 1 Gb/s. */
static inline u32 omx_sender_epoch(void)
{
	const unsigned long now = jiffies;

	return now >> (HZ >= 128 ? ilog2(HZ / 64) : 0);
}

/* ---- softirq, or BH off; ch->lock held ---- */
void omx_channel_enter_epoch(struct omx_channel *ch, u32 epoch);
/* The peer is a current sender. */
static inline void omx_channel_count_sender(struct omx_channel *ch)
{
	u32 epoch = omx_sender_epoch();

	lockdep_assert_held(&ch->lock);
	if (ch->sender.epoch != epoch)
		omx_channel_enter_epoch(ch, epoch);
}

void omx_channel_change_more(struct omx_channel *ch, bool more, u32 seq);
/* Packet `seq` says whether more packets of the peer wait behind it. */
static inline void omx_channel_note_more(struct omx_channel *ch, bool more, u32 seq)
{
	if (more != ch->sender.more)
		omx_channel_change_more(ch, more, seq);
	if (more)
		omx_channel_count_sender(ch);
}

u32 omx_channel_crowded_share(struct omx_channel *ch);
/* The window of the peer, as far as the board is concerned. */
static inline u32 omx_channel_share(struct omx_channel *ch)
{
	if (unlikely(READ_ONCE(ch->ep->board->incoming.is_crowded)))
		return omx_channel_crowded_share(ch);
	ch->ack_every = OMX_ACK_EVERY;
	ch->ack_late = OMX_ACK_LATE;
	ch->sender_waits = false;
	return OMX_WINDOW;
}

/* The channel has ended, or begins a new flow: it neither waits nor has a turn. */
void omx_channel_leave_turns(struct omx_channel *ch);

/* ---- softirq, or BH off ---- */
/* How many packets a peer that connects may send before it has an ack. */
u32 omx_channel_first_window(struct omx_endpoint *ep);

/* ---- softirq, RCU read lock held, no ch->lock held ---- */
void omx_channels_take_due_turns(struct omx_board *board);
/* Turns may have ended: tells the next senders. */
static inline void omx_channels_take_turns(struct omx_board *board)
{
	if (unlikely(READ_ONCE(board->incoming.turns_due)))
		omx_channels_take_due_turns(board);
}

void omx_channels_turn_timer(struct timer_list *timer);

#endif
