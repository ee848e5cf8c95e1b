/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What acks say of puts, besides that their packets have arrived: that they have been
 * performed, which saves a response to each.  An ack says it at once, or waits for a
 * packet that goes to the peer in any case.
 *
 * Plain data, no locks, no packets: the channel holds its lock around every call, the
 * unit tests need none.
 */
#ifndef OMX_PERFORMED_H
#define OMX_PERFORMED_H

#include <linux/types.h>

/*
 * Up to which packet of the peer we say that accesses have been performed.  A put that
 * has failed, and what follows it, is not said to be performed before the peer has the
 * response that says so.
 */
struct omx_performed {
	bool held;		/* no more than `at` is said ... */
	bool stopped;		/* ... for ever, or ... */
	u32 at;
	u32 until;		/* ... until the peer has acknowledged this packet of ours */
};

/*
 * `reached` is the packet up to which all accesses have ended, `acked` the last packet of
 * ours that the peer has received.  Returns what may be said.
 */
u32 omx_performed_report(struct omx_performed *performed, u32 reached, u32 acked);
/* The access of packet `seq` has failed; the response to it is no later than `until`. */
void omx_performed_hold(struct omx_performed *performed, u32 seq, u32 until);
/* What has not ended will not be performed: it is never said any more that it was. */
void omx_performed_stop(struct omx_performed *performed, u32 reached);
/* The peer numbers its packets anew, and knows nothing of those that wait. */
void omx_performed_restart(struct omx_performed *performed);

#define OMX_PERFORMED_ALL	1	/* of what the frame acknowledges */
/* The field `performed` of a frame that acknowledges `ack`. */
u8 omx_performed_encode(u32 ack, u32 performed);
/* False: nothing is said. */
bool omx_performed_decode(u8 field, u32 ack, u32 *performed);

/*
 * When acks of puts are sent.  If packets of ours follow such acks soon, time after time,
 * the two programs take turns: then the ack waits for the next packet.
 *
 * A timer finds the ack that waits in vain.  It costs as much as half of a put, so it looks
 * less and less often while turns are taken: an ack may be late by an eighth of the time for
 * which the timer has looked in vain, once, because turns end with that.
 */
#define OMX_PUT_ACK_TURN_US	50	/* how long it waits; what "soon" means */
#define OMX_PUT_ACK_TURNS	3	/* in a row, before one waits */
#define OMX_PUT_ACK_STREAM_US	20	/* how long it waits for that of a later put */
#define OMX_PUT_ACK_LOOK_MAX_US	400	/* the longest time between two looks of the timer */

struct omx_put_acks {
	u64 due;		/* us: when one that waits is to be sent; 0: none waits */
	u64 sent;		/* us: when one was sent that no packet has followed; or 0 */
	u64 look_at;		/* us: when the timer looks; 0: it does not run */
	u16 look_after;		/* us: how long it sleeps while turns are taken */
	u8 turns;		/* how many were followed soon, OMX_PUT_ACK_TURNS at most */
	bool carried;		/* packets have brought acks since the timer last looked */
	u32 put;		/* the last put of which nothing but ACKs may have told; 0: none */
};

static inline bool omx_put_acks_take_turns(const struct omx_put_acks *acks)
{
	return acks->turns >= OMX_PUT_ACK_TURNS;
}

/* One may wait for so many us.  True: the timer is to be started, and to look after that. */
bool omx_put_acks_wait(struct omx_put_acks *acks, u64 now, u32 us);
/*
 * The timer looks.  Returns after how many us it is to look again; 0: it need not.  *late:
 * an ack has waited in vain, and is to be sent.
 */
u32 omx_put_acks_look(struct omx_put_acks *acks, u64 now, bool *late);
/* An ack is sent at once, in a frame of its own. */
void omx_put_acks_sent(struct omx_put_acks *acks, u64 now);
/* A packet follows one that was sent. */
void omx_put_acks_followed(struct omx_put_acks *acks, u64 now);

/* A packet of ours leaves, and brings an ack. */
static inline void omx_put_acks_carried(struct omx_put_acks *acks, u64 now)
{
	/* Not by packets that nothing waited for, or the timer would never stop. */
	acks->carried |= acks->due != 0;
	acks->due = 0;
	acks->put = 0;
	if (acks->sent)
		omx_put_acks_followed(acks, now);
}

#endif
