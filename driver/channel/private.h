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

/* What a packet's skb->cb says while the channel keeps it. */
struct omx_packet_cb {
	u64 sent;		/* us */
	u32 seq;
	bool resent;		/* its round trip is ambiguous (Karn) */
	bool charged;		/* see omx_channel_charge_ahead() */
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
/* Sends pending packets, as many as the window admits. */
void omx_channel_send_ready(struct omx_channel *ch, u64 now, struct sk_buff_head *out);
void omx_channel_resend(struct omx_channel *ch, u32 seq, u64 now, struct sk_buff_head *out);
/* Sends again up to `count` of the packets that a timeout has declared lost. */
void omx_channel_resend_lost(struct omx_channel *ch, int count, u64 now,
			     struct sk_buff_head *out);
/* Tells the program that it may send again, if it was refused and now may. */
void omx_channel_send_resume(struct omx_channel *ch);

/* ---- send_window.c ---- */
u64 omx_channel_receive_new_ack(struct omx_channel *ch, u16 flow, u32 ack, u16 window,
				struct sk_buff_head *out, struct sk_buff_head *freed);
/* Puts acknowledged packets on `freed`.  Returns the time if it had to look, or 0. */
static inline u64 omx_channel_receive_ack(struct omx_channel *ch, u16 flow, u32 ack, u16 window,
					  struct sk_buff_head *out,
					  struct sk_buff_head *freed)
{
	/* The later frames of a message repeat the ack of the first one. */
	if (flow != ch->tx.flow || ack != ch->tx.acked || ack + window != ch->tx.limit)
		return omx_channel_receive_new_ack(ch, flow, ack, window, out, freed);
	return 0;
}

void omx_channel_receive_sack(struct omx_channel *ch, u32 ack, u64 sack,
			      struct sk_buff_head *out);

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
void omx_channel_uncharge_ahead(struct omx_channel *ch, struct sk_buff *skb);
/* The packet is not kept out of order any more, if it was. */
static inline void omx_channel_uncharge(struct omx_channel *ch, struct sk_buff *skb)
{
	lockdep_assert_held(&ch->lock);
	if (omx_packet_cb(skb)->charged)
		omx_channel_uncharge_ahead(ch, skb);
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

/* The timeout of packets in flight begins now. */
void omx_channel_start_timeout(struct omx_channel *ch, u64 now);
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
