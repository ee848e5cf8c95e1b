/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of a channel share and no other file uses.  Where nothing else
 * is said, ch->lock is held, and packets to send after it is released are put on
 * `out`.  `now` is omx_channel_now_us(): the clock is read once for all packets
 * of a call.
 *
 * Functions that run for each frame and are short are inline.
 */
#ifndef OMX_CHANNEL_PRIVATE_H
#define OMX_CHANNEL_PRIVATE_H

#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/skbuff.h>
#include <linux/timer.h>

#include "channel/channel.h"
#include "channel/timer.h"
#include "endpoint/endpoint.h"
#include "onesided/access_queue.h"

struct omx_flow;

/* An old response may still arrive once; after so many the peer has really forgotten us. */
#define OMX_FORGOTTEN	2

/* What a packet's skb->cb says while the channel keeps it. */
struct omx_packet_cb {
	bool charged;		/* see omx_channel_charge_ahead() */
	u32 delivered;		/* of a bundle: bytes of messages that have been delivered */
};

static inline struct omx_packet_cb *omx_packet_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct omx_packet_cb) > sizeof(skb->cb));
	return (struct omx_packet_cb *)skb->cb;
}

static inline u64 omx_channel_now_us(void)
{
	return ktime_to_us(ktime_get());
}

/* ---- channel.c ---- */
/* Is this the flow of a channel that has ended?  Lock not held. */
bool omx_channel_has_ended(struct omx_endpoint *ep, const struct omx_flow *flow);
/* The last flow of this peer whose channel has ended; 0: none.  Lock not held. */
u16 omx_channel_ended_flow(struct omx_endpoint *ep, const struct omx_flow *peer);
/* The channel ends, and packets of its flow are not to be received again. */
void omx_channel_remember_flow(struct omx_channel *ch);

/*
 * After packets were delivered or acks received, under the same lock: accesses may have
 * come, or be able to go on.  The caller passes the first one, or NULL, to
 * omx_channel_perform() after it has released the lock.  RCU read lock held, until then.
 * `now` may be 0.
 */
static inline struct sk_buff *omx_channel_next_access(struct omx_channel *ch, u64 now,
						      struct sk_buff_head *out)
{
	lockdep_assert_held(&ch->lock);
	if (likely(skb_queue_empty(&ch->access_queue.packets)))
		return NULL;
	return omx_access_queue_begin(ch, now, out);
}

/* BH off. */
static inline void omx_channel_perform(struct omx_channel *ch, struct sk_buff *access)
{
	if (unlikely(access))
		omx_access_queue_run(ch, access);
}

/* ---- send.c ---- */
/*
 * Queues packets of a channel that is not dead, and sends what the window admits.
 * Consumes the list.  Returns the number that its last packet has, or will have.
 */
u32 omx_channel_queue(struct omx_channel *ch, struct sk_buff_head *packets,
		      struct sk_buff_head *out);
/* Sends lost packets again and pending ones, as many as the windows admit. */
void omx_channel_send_ready(struct omx_channel *ch, u64 now, struct sk_buff_head *out);
void omx_channel_resend(struct omx_channel *ch, u32 seq, u64 now, struct sk_buff_head *out);
/* The same for a channel that has waited for the window of its path. */
void omx_channel_take_turn(struct omx_channel *ch, struct sk_buff_head *out);
/* omx_channel_xmit() without giving others their turn.  Lock not held. */
void omx_channel_hand_over(struct omx_channel *ch, struct sk_buff_head *out);
/* What waits for further messages leaves.  Lock not held. */
void omx_channel_uncork(struct omx_channel *ch);
/* Tells the program that it may send again, if it was refused and now may. */
void omx_channel_send_resume(struct omx_channel *ch);

/* ---- send_window.c ---- */
/* window: see omx_window_of(). */
u64 omx_channel_receive_new_ack(struct omx_channel *ch, u16 flow, u32 ack, u16 window,
				struct sk_buff_head *freed);
/*
 * Puts acknowledged packets on `freed`.  Returns the time if it says something new,
 * or 0.  Then the caller calls omx_channel_go_on().
 */
static inline u64 omx_channel_receive_ack(struct omx_channel *ch, u16 flow, u32 ack, u16 window,
					  struct sk_buff_head *freed)
{
	/* The later frames of a message repeat the ack of the first one. */
	if (flow != ch->tx.flow || ack != ch->tx.acked || ack + window != ch->tx.limit ||
	    ch->tx.closed || ch->tx.waits)
		return omx_channel_receive_new_ack(ch, flow, ack, window, freed);
	return 0;
}

/* What an ACK says besides.  Returns the time. */
u64 omx_channel_receive_report(struct omx_channel *ch, const struct omx_wire_ack *ack);
/* Sends what the acks let go: lost packets first. */
void omx_channel_go_on(struct omx_channel *ch, u64 now, struct sk_buff_head *out);

/* ---- receive.c ---- */
/* Delivers packets, as many as are in order and fit. */
void omx_channel_receive_ready(struct omx_channel *ch);

/* ---- receive_window.c ---- */
/* The window that the next ack advertises. */
u32 omx_channel_window(struct omx_channel *ch);
void omx_channel_close_window(struct omx_channel *ch);
void omx_channel_send_ack(struct omx_channel *ch, u8 flags, struct sk_buff_head *out);
/*
 * A packet is kept out of order.  False: its host, our user or our control group
 * has used up its share of the memory.
 */
bool omx_channel_charge_ahead(struct omx_channel *ch, struct sk_buff *skb);
/* The packet that is next in order has no room: it is kept whatever has been used up. */
void omx_channel_charge_next(struct omx_channel *ch, struct sk_buff *skb);
void omx_channel_uncharge_ahead(struct omx_channel *ch, struct sk_buff *skb);
/* The packet is not kept out of order any more, if it was. */
static inline void omx_channel_uncharge(struct omx_channel *ch, struct sk_buff *skb)
{
	lockdep_assert_held(&ch->lock);
	if (omx_packet_cb(skb)->charged)
		omx_channel_uncharge_ahead(ch, skb);
}

/* ---- recovery.c ---- */
void omx_channel_recovery_init(struct omx_channel *ch);
/* The channel is being freed.  Process context, lock not held. */
void omx_channel_recovery_cancel(struct omx_channel *ch);
/* Looks for lost packets in `us`, or earlier. */
void omx_channel_look_after(struct omx_channel *ch, u32 us);
/* The first packet leaves, and others may follow: from now on the peer owes us acks. */
void omx_channel_expect_acks(struct omx_channel *ch, u64 now);
/* A packet that leaves requests an ack. */
void omx_channel_expect_ack_soon(struct omx_channel *ch, u64 now);
/* Looks for lost packets. */
void omx_channel_find_lost(struct omx_channel *ch, u64 now);
/* Sends up to `frames` lost packets again.  Returns how many. */
u32 omx_channel_resend_lost(struct omx_channel *ch, u32 frames, u64 now,
			    struct sk_buff_head *out);
/* Our own device has refused frames of the channel.  Lock not held. */
void omx_channel_refused(struct omx_channel *ch);
/* The peer has to respond: packets are in flight, or wait for the window of the path. */
static inline bool omx_channel_expects_acks(const struct omx_channel *ch)
{
	return omx_tx_in_flight(&ch->tx) || !list_empty_careful(&ch->in_path);
}

/*
 * Nothing gets through, though others to the same host may get through: the flow is cut off,
 * or its packets are too long for the path.  Then its packets do not count as in flight on
 * the path, and until there is progress the first one alone is sent again.
 */
static inline bool omx_channel_is_stalled(const struct omx_channel *ch)
{
	return ch->probing.silent || omx_rack_is_vain(&ch->rack);
}

/* ---- timer.c ---- */
void omx_channel_timer_fired(struct timer_list *timer);	/* lock not held */
/* Starts the timer or moves it earlier; only its handler moves it later. */
static inline void omx_channel_arm(struct omx_channel *ch, unsigned long when)
{
	lockdep_assert_held(&ch->lock);
	if (ch->dead || omx_endpoint_is_dead(ch->ep))
		return;
	/* Not mod_timer(): another channel may move it without our lock. */
	if (!timer_pending(&ch->timer) || time_before(when, ch->timer.expires))
		timer_reduce(&ch->timer, when);
}

/* OMX_STATUS_*: why the channel fails; 0: it does not. */
u8 omx_channel_peer_is_lost(const struct omx_channel *ch);
/*
 * After packets were received: the timer is started once for a message that is
 * incomplete, and goes on by itself as long as the peer owes us something.
 */
static inline void omx_channel_watch_owed(struct omx_channel *ch, bool was_owed)
{
	if (!was_owed && omx_channel_is_owed(ch))
		omx_channel_watch(ch);
}

#endif
