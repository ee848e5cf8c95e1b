/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reliable, ordered delivery between one endpoint here and one there.
 * Created by the first connect or the first packet, kept until an endpoint
 * closes or the peer is gone; a peer without traffic has none.
 *
 * Sending: packets get their number when they leave; those that the peer's
 * window does not admit wait in `pending`.  A packet is kept in `unacked`
 * and its clone travels, so sending again needs nothing from the program.
 * Receiving: packets are delivered in order, early ones wait in `ahead`.
 * One timer serves delayed acks, retransmission and probing; it is started
 * when something needs it and not before, and never touched per packet.
 */
#ifndef OMX_CHANNEL_H
#define OMX_CHANNEL_H

#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

#include "channel/sequence.h"
#include "endpoint/ring.h"
#include "net/frame.h"

struct omx_endpoint;
struct omx_flow;
struct omx_quota;
struct omx_board;

#define OMX_CHANNEL_IDLE	(60 * HZ)	/* silence that is looked into */

/* Fragments of the eager message that arrives on a channel. */
struct omx_partial {
	struct sk_buff *head, *last;	/* linked by skb->next */
	u64 match_info;
	u32 length;			/* 0: none under way */
	u32 received;
	u32 truesize;
};

struct omx_channel {
	u32 id;				/* first: see table.h */
	struct hlist_node by_peer;
	struct list_head by_quota;	/* ep->channels_lock */
	struct omx_quota *quota;
	refcount_t ref;
	struct rcu_head rcu;
	struct omx_endpoint *ep;
	struct omx_packet_template template;
	u64 mac;
	u32 peer_session;
	u16 peer_endpoint;
	bool local;			/* the peer is on this board's host */
	u32 mtu;			/* of the path; see omx_channel_mtu() */
	unsigned int mtu_generation;

	spinlock_t lock;		/* everything below */
	u8 dead;			/* OMX_STATUS_*: why; set once */
	unsigned long claimed;		/* bit 0: not to be freed (yet, or by you) */

	struct omx_tx_state tx;
	struct omx_rtt rtt;
	struct sk_buff *unacked[OMX_WINDOW];	/* by seq */
	struct sk_buff *spare;			/* or NULL; taken by xchg, put under lock */
	struct sk_buff_head pending;
	u32 pending_bytes;
	bool want_space;		/* the program was told EAGAIN */
	bool announce_only;		/* the peer takes no eager messages; also read unlocked */

	struct omx_rx_state rx;
	struct sk_buff *ahead[OMX_WINDOW];	/* by seq */
	struct omx_partial partial;
	u32 last_window;		/* that we advertised */
	u8 ack_count;			/* packets received since our last ack */
	bool ack_now;
	bool window_closed;		/* counted in ep->closed_windows */

	struct timer_list timer;
	unsigned long heard;		/* jiffies: any valid packet of the peer */
	unsigned long heard_board;	/* jiffies: the peer's board was said to be there; no lock */
	unsigned long doubted;		/* jiffies; valid while in_doubt */
	bool in_doubt;			/* the peer may be gone: it is asked */
	bool replaced;			/* its endpoint seems to have a new session; any context */
	u64 retransmit_at;		/* us; valid while packets are unacked */
	unsigned long probed;		/* jiffies */

	struct list_head rndvs;		/* large sends waiting for their notify */
	struct list_head pulls;
	struct work_struct end;		/* of these, when the channel is dead and they are many */
	u32 pull_rtt;			/* us, smoothed: request to first frame */
	u32 pull_rtt_min;

	struct omx_completion space_completion;
	struct omx_completion dead_completion;
};

/* What a packet's skb->cb says while the channel keeps it. */
struct omx_packet_cb {
	u64 sent;		/* us */
	u32 seq;
	bool resent;		/* its round trip is ambiguous (Karn) */
	bool charged;		/* to the host */
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

/* ---- channel.c: process context ---- */
long omx_channel_info(struct omx_endpoint *ep, void __user *arg);
long omx_channel_disconnect(struct omx_endpoint *ep, void __user *arg);
/*
 * Waits a moment for what was sent to be acknowledged: not if the program was
 * killed, and not longer for all endpoints of one that exits.
 */
void omx_channels_linger(struct omx_endpoint *ep);
void omx_channels_say_closed(struct omx_endpoint *ep);
void omx_channels_destroy(struct omx_endpoint *ep);

/* ---- channel.c: any context ---- */
struct omx_channel *omx_channel_get(struct omx_endpoint *ep, u32 id);
static inline void omx_channel_ref(struct omx_channel *ch)
{
	refcount_inc(&ch->ref);
}
void omx_channel_put(struct omx_channel *ch);
/* True for the one caller that may free a dead channel. */
static inline bool omx_channel_claim(struct omx_channel *ch)
{
	return !test_and_set_bit(0, &ch->claimed);
}
/*
 * The live channel to this peer, made if need be; NULL: none can be made.
 * RCU read lock held; the caller gets no reference.
 */
struct omx_channel *omx_channel_find(struct omx_endpoint *ep, u64 mac,
				     u16 endpoint, u32 session);
struct omx_channel *omx_channel_make(struct omx_endpoint *ep, u64 mac,
				     u16 endpoint, u32 session);
/* Does it exist, or is there room for it now? */
bool omx_channel_is_possible(struct omx_endpoint *ep, u64 mac, u16 endpoint, u32 session);
/* Is this flow one of a channel that has ended, and not to be received again? */
bool omx_channel_has_ended(struct omx_endpoint *ep, const struct omx_flow *flow);
/* Largest frame, Ethernet header excluded, that reaches the peer. */
u32 omx_channel_mtu(struct omx_channel *ch);
/* Gives up: every request of this channel ends with the status. */
void omx_channel_fail(struct omx_channel *ch, u8 status);

/* Nothing that was sent is kept.  ch->lock held. */
static inline bool omx_channel_is_idle(const struct omx_channel *ch)
{
	return !omx_tx_in_flight(&ch->tx) && skb_queue_empty(&ch->pending);
}

/* ---- send.c: any context ---- */
/* A packet to the peer, head filled in; the sequence comes when it leaves. */
struct sk_buff *omx_channel_packet(struct omx_channel *ch, enum omx_wire_type type,
				   unsigned int payload, gfp_t gfp);
/*
 * Sends a list of sequenced packets in order, or queues them behind the
 * window.  Consumes the list.  -ENOTCONN: the channel is dead.
 */
int omx_channel_send(struct omx_channel *ch, struct sk_buff_head *packets);
int omx_channel_send_one(struct omx_channel *ch, struct sk_buff *skb);
/* ch->lock held: before the first request of an idle channel; silence starts now. */
void omx_channel_wake_up(struct omx_channel *ch);
/* May the program queue this much more?  If not it will be told when. */
bool omx_channel_has_space(struct omx_channel *ch, u32 length);
/*
 * ... and may its user and its control group?  A channel that is idle may
 * always.  Pulls are not asked that: they let peers release memory.
 */
bool omx_channel_may_send(struct omx_channel *ch, u32 length);
/* Something of the peer is waited for (ch->rndvs): see that it is alive. */
void omx_channel_watch(struct omx_channel *ch);
void omx_channel_watch_locked(struct omx_channel *ch);
void omx_channel_timer(struct timer_list *timer);

/*
 * ch->lock held; packets to send once it is released are put on `out`.  `now`
 * is omx_channel_now_us(): the clock is read once for all packets of a call.
 */
void omx_channel_transmit(struct omx_channel *ch, u64 now, struct sk_buff_head *out);
void omx_channel_retransmit(struct omx_channel *ch, u32 seq, u64 now,
			    struct sk_buff_head *out);
/* Packets have arrived: as many times two of those that are lost go out. */
void omx_channel_recover(struct omx_channel *ch, int arrived, u64 now,
			 struct sk_buff_head *out);
/* From now on, if packets are in flight. */
void omx_channel_start_timeout(struct omx_channel *ch, u64 now);
void omx_channel_add_ack(struct omx_channel *ch, u8 flags, struct sk_buff_head *out);
void omx_channel_arm(struct omx_channel *ch, unsigned long when);
/* ch->lock not held. */
void omx_channel_xmit(struct omx_channel *ch, struct sk_buff_head *out);

/* ---- receive.c: any context ---- */
u32 omx_channel_window(struct omx_channel *ch);		/* ch->lock held */
/* The program made room: deliver what waits, tell the peers. */
void omx_channels_reopen(struct omx_endpoint *ep);
bool omx_channels_may_reopen(struct omx_endpoint *ep);
/* An account has room again: go on with what was refused.  Process context. */
void omx_channels_resume(struct omx_endpoint *ep);
/* ch->lock held: the packet is not kept out of order any more. */
void omx_channel_uncharge(struct omx_channel *ch, struct sk_buff *skb);
/* ... packets or fragments are missing between those that have arrived. */
static inline bool omx_channel_is_owed(const struct omx_channel *ch)
{
	return ch->rx.ahead || ch->partial.received;
}

/* ---- receive.c: softirq, RCU read lock held; validated frames ---- */
/* The live channel that a frame came by, or NULL. */
struct omx_channel *omx_channel_of(struct omx_endpoint *ep,
				   const struct sk_buff *skb);
/* A frame of the channel came, so the peer's board is there. */
void omx_channel_heard_board(struct omx_channel *ch);
void omx_channel_sequenced_pkt(struct omx_board *board, struct omx_endpoint *ep,
			       struct sk_buff *skb);
void omx_channel_ack_pkt(struct omx_board *board, struct omx_endpoint *ep,
			 struct sk_buff *skb);
void omx_channel_nack_pkt(struct omx_board *board, struct omx_endpoint *ep,
			  struct sk_buff *skb);

#endif
