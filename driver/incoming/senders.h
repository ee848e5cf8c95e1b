/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who sends packets to a board, and how many each of them may send.  Plain data: the
 * caller holds a lock (incoming.h).
 *
 * A sender is current if it had packets waiting for its window, or sent as many as call
 * for an ack, in this epoch or the last one.  Current senders share what may be on its
 * way to the board; one alone gets a full window.  If there are so many that a share is
 * less than a packet, those with packets waiting take turns: a turn is
 * OMX_TURN_PACKETS packets, as many turns are open as fit, and the others wait in the
 * order in which they came.
 *
 * Packets of turns arrive in about the order in which these were opened.  So if many that
 * were opened later have ended, what opened a turn is lost, or what was sent in it: then
 * it ends as well, without a look at the clock.
 */
#ifndef OMX_SENDERS_H
#define OMX_SENDERS_H

#include <linux/list.h>
#include <linux/types.h>

#define OMX_TURN_PACKETS	4

enum omx_turn {
	OMX_TURN_NONE,
	OMX_TURN_WAITING,	/* the window is closed; an ack will open it */
	OMX_TURN_OPEN,		/* `last` has not arrived yet */
};

struct omx_sender {
	struct list_head link;	/* in one of the lists of struct omx_senders */
	enum omx_turn turn;
	bool is_new;		/* an open turn: `last` is not set yet */
	u32 last;		/* packet of an open turn */
	u32 since;		/* tick: when the turn was opened */
	u32 number;		/* of the turn */
	u32 phase;		/* when it gets a packet more than others; 0: not drawn yet */
	/* These are the channel's, under its own lock: */
	bool more;		/* it has packets waiting */
	u32 more_seq;		/* the packet that said so, or that it has not */
	u32 epoch;		/* in which it was counted last */
};

struct omx_senders {
	u32 epoch;
	u32 now, before;	/* senders in this epoch, and in the one before */
	u32 new_now, new_before;	/* peers that connected */
	struct list_head waiting;
	struct list_head open;	/* the oldest first */
	u32 waiting_count, open_count;
	u32 phases;		/* that were drawn */
	u32 opened;		/* turns so far */
	u32 overtaken;		/* turns that were ended because of that, not reported yet */
	u32 duration;		/* ticks that a turn takes, smoothed, times 8 */
};

void omx_senders_init(struct omx_senders *senders);
void omx_sender_init(struct omx_sender *sender);

/* A sender is current. */
void omx_senders_count(struct omx_senders *senders, u32 epoch);
u32 omx_senders_number(struct omx_senders *senders, u32 epoch);
/* The first window of a peer that connects now. */
u32 omx_senders_first_window(struct omx_senders *senders, u32 packets, u32 epoch);
/*
 * The window of a sender of which everything up to `received` has arrived.
 * packets: how many may be on their way to the board.
 */
u32 omx_senders_window(struct omx_senders *senders, struct omx_sender *sender, u32 received,
		       u32 packets, u32 epoch, u32 now);
/* It waits no more, and has no turn. */
void omx_senders_leave(struct omx_senders *senders, struct omx_sender *sender, u32 now);
/* Is there a sender that waits, and room for its turn? */
bool omx_senders_is_due(const struct omx_senders *senders, u32 packets);
/* Opens the turn of the one that waits longest; the caller tells it.  NULL: none is due. */
struct omx_sender *omx_senders_next(struct omx_senders *senders, u32 packets, u32 now);
/*
 * Ends turns that take longer than `shortest` and than others.  Returns how many have ended
 * without their packets, for whatever reason.
 */
u32 omx_senders_expire(struct omx_senders *senders, u32 shortest, u32 now);

static inline bool omx_senders_take_turns(const struct omx_senders *senders)
{
	return senders->waiting_count || senders->open_count;
}

#endif
