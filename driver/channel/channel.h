/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reliable, ordered delivery between one endpoint here and one there.
 * Made by the first connect or the first packet, and kept until an endpoint closes
 * or the peer is lost; a peer without traffic has none.
 *
 * Sending (send.c, send_window.c): packets get their number when they leave;
 * those that the peer's window does not admit wait in `pending`.  A packet is
 * kept in `unacked` and its clone is sent, so sending it again needs nothing from
 * the program; all packets of a longer message are one skb (eager/burst.h).
 * Receiving (receive.c, receive_window.c): packets are delivered in order, early
 * ones wait in `ahead`.
 * recovery.c finds out which packets are lost.  One timer (timer.c) serves delayed
 * acks and watches whether the peer is alive.
 */
#ifndef OMX_CHANNEL_H
#define OMX_CHANNEL_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

#include "channel/path.h"
#include "channel/rack.h"
#include "channel/sequence.h"
#include "endpoint/ring.h"
#include "endpoint/traffic.h"
#include "incoming/senders.h"
#include "net/frame.h"
#include "net/small_queue.h"
#include "onesided/access_queue.h"
#include "onesided/when.h"
#include "pull/push.h"
#include "pull/repeats.h"

struct omx_endpoint;
struct omx_quota;
struct omx_board;

#define OMX_CHANNEL_IDLE	(60 * HZ)	/* silence after which an idle peer is probed */

/* What the skb->cb of a packet, or burst, says from ch->pending on until it is acknowledged. */
struct omx_pending_cb {
	u16 messages;			/* a fragment counts as one */
	u16 slots;			/* of a bundle: in the peer's ring */
	u16 packets;			/* of a burst (eager/burst.h), else 1 */
	u16 sent;			/* of these, those that have left */
	bool is_burst;
	u32 first;			/* number of the first one; valid if it has left */
};

static inline struct omx_pending_cb *omx_pending_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct omx_pending_cb) > sizeof(skb->cb));
	return (struct omx_pending_cb *)skb->cb;
}

/* Fragments of the eager message that arrives on a channel. */
struct omx_partial {
	struct sk_buff *head, *last;	/* linked by skb->next */
	u64 match_info;
	u32 length;			/* 0: none under way */
	u32 received;
	u32 charged;			/* to the endpoint's budget, until it is complete */
	bool is_bundle;
	u32 delivered;			/* bytes of its messages that have been delivered */
	struct omx_frames *shared;	/* with some of these messages; else NULL */
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
	u32 flow;			/* the hash of all frames, see omx_packet_flow() */
	u64 mac;
	u32 peer_session;
	u16 peer_endpoint;
	bool local;			/* the peer is on this board's host */
	struct omx_small_queue *queue;	/* NULL: the peer is on this board */
	u32 mtu;			/* of the path; see omx_channel_mtu() */
	u32 burst_mtu;			/* see omx_channel_burst_mtu() */
	unsigned int mtu_generation;

	spinlock_t lock;		/* protects what follows, unless noted */
	u8 dead;			/* OMX_STATUS_*: why; set once */
	unsigned long claimed;		/* bit 0: the program may not free it; atomic */

	struct omx_path *path;			/* or NULL: the peer is on this board */
	struct list_head in_path;		/* path->lock */
	u32 on_path;				/* frames that the path knows of */
	bool has_turn;				/* of those that wait for the path */
	u16 marked;				/* frames with a congestion mark that arrived */
	u16 marked_there;			/* ... at the peer, as far as we know */

	struct omx_tx_state tx;
	unsigned long known;			/* jiffies: the first ack; valid if tx.acked */
	bool tx_unknown;			/* the peer's last ack was for another flow */
	u8 forgotten;				/* responses in a row of a peer that knew it */
	struct omx_rtt rtt;
	struct omx_rack rack;
	struct omx_probing probing;
	struct hrtimer recovery_timer;
	u32 recovery_at;			/* us; valid while that timer is queued */
	bool recovery_stopped;			/* the channel is being freed */
	struct sk_buff *unacked[OMX_WINDOW];	/* by seq; a burst is there for each packet */
	struct sk_buff *spare;			/* or NULL; removed by xchg without the lock */
	struct sk_buff_head pending;
	u32 pending_bytes;
	u32 pending_packets;		/* those that have not left; of a burst, several */
	u32 own_messages, own_bytes;	/* of those, the ones that are no responses */
	struct omx_traffic sent;	/* large ones when they have arrived; read unlocked */
	struct omx_queueing queueing;	/* waits for the device's queue */
	u16 corked;			/* packets of the last skb, if it waits for messages */
	bool cork_holds;		/* ... also while nothing is in flight */
	struct list_head in_cork;	/* ep->cork.lock */
	u32 cork_round;			/* ep->cork.rounds when the last message was sent */
	bool want_space;		/* the program got EAGAIN; also read without the lock */
	bool announce_only;		/* the peer wants no eager messages; also read without it */

	struct omx_rx_state rx;
	struct omx_traffic received;	/* the same */
	struct sk_buff *ahead[OMX_WINDOW];	/* by seq */
	struct omx_partial partial;
	struct omx_pushed pushed;
	u8 ack_count;			/* packets received since our last ack */
	u8 ack_every;			/* so many call for one at once */
	u8 ack_late;			/* ... if the peer has no more that wait */
	bool sender_waits;		/* the peer's window is 0 until its turn comes */
	u32 ack_next;			/* tx.next when we last sent an ack by itself */
	bool ack_due;			/* a packet of ours may carry it */
	bool ack_now;			/* ... but not this one: it says more */
	bool ack_duplicate;		/* our next ack says that a packet arrived again */
	bool window_closed;		/* counted in ep->closed_windows */
	struct omx_sender sender;	/* the peer; partly under the board's incoming.lock */

	struct timer_list timer;
	unsigned long heard;		/* jiffies: any valid packet of the peer */
	unsigned long progress;		/* jiffies: a packet in flight has arrived */
	unsigned long heard_board;	/* jiffies: omx_peer_heard() was called; no lock */
	unsigned long doubted;		/* jiffies; valid while in_doubt */
	bool in_doubt;			/* the peer may have ended: it is probed */
	bool replaced;			/* its endpoint seems to have a new session; no lock */
	unsigned long probed;		/* jiffies */

	struct list_head rndvs;		/* large sends waiting for their notify */
	struct list_head pulls;
	struct list_head accesses;	/* to the peer's windows, waiting for their response */
	struct list_head puts;		/* those that an ack can end, in the order of packets */
	u32 access_count;		/* in both lists */
	struct omx_access *spare_access;	/* or NULL; as `spare` */
	u8 put_probes;			/* since one ended; valid while put_lags */
	bool put_lags;			/* the first one has arrived, and may be performed */
	unsigned long put_probe_at;	/* jiffies; the same */
	u8 turn_probes;			/* since we wait for our turn; valid while turn_lags */
	bool turn_lags;
	unsigned long turn_probe_at;	/* jiffies; the same */
	struct omx_when_queue whens;	/* conditional ones, and keys of the peer for them */
	struct work_struct end;		/* ends these if they are many */
	u32 pull_rtt;			/* us, smoothed: request to first frame */
	u32 pulls_waiting;		/* under board->pulls.lock */
	u32 pull_time;			/* us, smoothed: request to last frame; 0: not known */
	u32 pull_rtt_base;		/* us, while the board was quiet; 0: not known */
	unsigned long pull_rtt_base_at;	/* jiffies: when that was measured */
	struct omx_repeats pull_repeats;	/* lock-free */

	struct omx_access_queue access_queue;	/* of the peer to our windows */

	struct omx_completion space_completion;
	struct omx_completion dead_completion;
};

/* ---- process context ---- */
long omx_channel_info(struct omx_endpoint *ep, void __user *arg);

/* ---- any context ---- */
struct omx_channel *omx_channel_get(struct omx_endpoint *ep, u32 id);
static inline void omx_channel_ref(struct omx_channel *ch)
{
	refcount_inc(&ch->ref);
}
void omx_channel_put(struct omx_channel *ch);
/*
 * The live channel to this peer, or NULL; omx_channel_make() makes it if it can.
 * RCU read lock held; the caller gets no reference.
 */
struct omx_channel *omx_channel_find(struct omx_endpoint *ep, u64 mac,
				     u16 endpoint, u32 session);
/* The peer's channel to us, if the peer is on this host.  The same conditions. */
struct omx_channel *omx_channel_other_end(const struct omx_channel *ch);
struct omx_channel *omx_channel_make(struct omx_endpoint *ep, u64 mac,
				     u16 endpoint, u32 session);
/* Does the channel exist, or is there room for it? */
bool omx_channel_is_possible(struct omx_endpoint *ep, u64 mac, u16 endpoint, u32 session);
/* Largest frame, Ethernet header excluded, that reaches the peer. */
u32 omx_channel_mtu(struct omx_channel *ch);
/*
 * How long frames are to be that carry much together: as TCP segments (net/tcp_segments.h) they
 * have longer headers, and the receiver may need fewer pages for shorter ones.
 */
u32 omx_channel_burst_mtu(struct omx_channel *ch);

/* An account has room again: continues what was refused.  Process context. */
void omx_channels_resume(struct omx_endpoint *ep);
/* What the endpoint has sent and received so far, by channels that have ended as well. */
void omx_channels_traffic(struct omx_endpoint *ep, struct omx_traffic *sent,
			  struct omx_traffic *received);

/* ---- any context, ch->lock held ---- */
/* The number of the last packet that was given to the channel: they leave in order. */
static inline u32 omx_channel_last_seq(const struct omx_channel *ch)
{
	return ch->tx.next - 1 + ch->pending_packets;
}

/* Is this the last number of an skb that has been numbered?  Only this one releases it. */
static inline bool omx_pending_ends(struct sk_buff *skb, u32 seq)
{
	return omx_pending_cb(skb)->first + omx_pending_cb(skb)->packets - 1 == seq;
}

/* All packets that were sent have been acknowledged. */
static inline bool omx_channel_is_idle(const struct omx_channel *ch)
{
	return !omx_tx_in_flight(&ch->tx) && skb_queue_empty(&ch->pending);
}

/* Packets or fragments are missing between those that have arrived. */
static inline bool omx_channel_is_owed(const struct omx_channel *ch)
{
	return ch->rx.ahead || ch->partial.received;
}

#endif
