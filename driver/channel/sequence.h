/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The arithmetic of a reliable channel: what was sent and acknowledged, what
 * arrived, how long an answer takes.  Plain data, no locks, no packets: the
 * channel holds its lock around every call, the unit tests need none.
 */
#ifndef OMX_SEQUENCE_H
#define OMX_SEQUENCE_H

#include <linux/kernel.h>
#include <linux/types.h>

#include "omx_wire.h"

#define OMX_WINDOW	OMX_SACK_BITS	/* packets in flight at most */

struct omx_tx_state {
	u16 flow;
	u32 next;		/* number of the next new packet; the first is 1 */
	u32 acked;		/* everything up to here has arrived */
	u32 limit;		/* the receiver takes packets up to here */
	u64 sacked;		/* bit i: acked + 2 + i has arrived */
	u64 lost;		/* bit i: acked + 1 + i is lost and not sent again yet */
	u64 resent;		/* bit i: acked + 1 + i was sent more than once */
	bool closed;		/* the receiver's window: it refuses what is in flight */
	bool waits;		/* the receiver has a queue, and opens the window by itself */
	u32 sent[OMX_WINDOW];	/* us, by seq: when it was sent, the last time */
};

struct omx_rx_state {
	u16 flow;		/* 0: nothing received yet */
	u32 next;		/* the packet that comes next in order */
	u64 ahead;		/* bit i: next + 1 + i is here already */
};

/* Jacobson's estimator (RFC 6298); microseconds. */
struct omx_rtt {
	u32 srtt;		/* 0: no sample yet */
	u32 rttvar;
	u32 min;		/* of the last OMX_RTT_MIN_LIFETIME_US or so */
	u32 min_at;		/* when that was measured */
	u32 sample;		/* the last one; 0: the path has taken it in */
};

#define OMX_RTT_MIN_LIFETIME_US	10000000
#define OMX_RTO_MIN_US		20000	/* delayed acks take up to two ticks */
#define OMX_RTO_MAX_US		1000000

enum omx_rx_verdict {
	OMX_RX_NEXT,		/* deliver, then omx_rx_advance() */
	OMX_RX_AHEAD,		/* keep, then omx_rx_keep() */
	OMX_RX_DUPLICATE,
	OMX_RX_BEYOND,
	OMX_RX_STALE,		/* of an older flow */
};

static inline u32 omx_tx_in_flight(const struct omx_tx_state *tx)
{
	return tx->next - 1 - tx->acked;
}

/* Can the peer have received this packet of ours? */
static inline bool omx_tx_has_sent(const struct omx_tx_state *tx, u16 flow, u32 seq)
{
	return flow == tx->flow && (s32)(tx->next - 1 - seq) >= 0;
}

void omx_tx_start(struct omx_tx_state *tx, u16 flow);
/* Before anything is sent: so many packets may be, until an ack says something else. */
void omx_tx_begin_with(struct omx_tx_state *tx, u32 window);
/* Is the last one of the next packets the last that may be sent before the first ack? */
static inline bool omx_tx_ends_first_window(const struct omx_tx_state *tx, u32 packets)
{
	return unlikely(!tx->acked) && tx->next + packets - 1 == tx->limit;
}

/*
 * One packet may always be under way, because it probes a closed window, unless the
 * sender has been told to wait.
 */
static inline bool omx_tx_may_send(const struct omx_tx_state *tx)
{
	bool is_admitted = (s32)(tx->limit - tx->next) >= 0;
	u32 in_flight = omx_tx_in_flight(tx);

	if (!in_flight)
		return is_admitted || !tx->waits;
	return in_flight < OMX_WINDOW && is_admitted;
}

/* A window of 0 with the promise that an ack will open it (OMX_ACK_WAIT). */
#define OMX_WINDOW_WAIT	0xffff

/* The window in a packet, as the functions below expect it. */
static inline u16 omx_window_of(u16 window, bool wait)
{
	if (!window && wait)
		return OMX_WINDOW_WAIT;
	return window < OMX_WINDOW ? window : OMX_WINDOW;
}

/* New packets that may leave now. */
u32 omx_tx_room(const struct omx_tx_state *tx);
/* Packets that are on their way as far as we know: neither arrived, nor lost, nor refused. */
u32 omx_tx_pipe(const struct omx_tx_state *tx);

/*
 * Takes an ack in.  Packets that have left under a window stay admitted: a receiver
 * that closes it throws away what comes and says so by acking no further.  For
 * those that have not left, the newest window counts.  Returns how many packets it
 * newly covers, or -1 if it speaks of another flow or of packets that were never sent.
 * *opened is set if it lets packets pass that were refused before.
 */
int omx_tx_acked(struct omx_tx_state *tx, u16 flow, u32 ack, u16 window,
		 bool *opened);
/* Returns the bits, as in `sacked`, of the packets that it newly covers. */
u64 omx_tx_sacked(struct omx_tx_state *tx, u32 ack, u64 sack);
/* In flight, and neither acked nor selectively acked. */
bool omx_tx_is_missing(const struct omx_tx_state *tx, u32 seq);
/* Highest selectively acked packet, or acked. */
u32 omx_tx_highest(const struct omx_tx_state *tx);

/* The next new packet leaves at `now` (us). */
static inline void omx_tx_sent(struct omx_tx_state *tx, u32 now)
{
	tx->sent[tx->next % OMX_WINDOW] = now;
	tx->next++;
}

/* When the newest of the packets in flight was sent the last time.  There are some. */
u32 omx_tx_last_sent(const struct omx_tx_state *tx);

/* The first lost packet, which the caller sends again.  False: there is none. */
bool omx_tx_first_lost(const struct omx_tx_state *tx, u32 *seq);
void omx_tx_sent_again(struct omx_tx_state *tx, u32 seq, u32 now);

/* Bit of a packet that is in flight, in `lost` and `resent`. */
static inline u64 omx_tx_bit(const struct omx_tx_state *tx, u32 seq)
{
	return 1ULL << (seq - tx->acked - 1);
}

/* Modulo 2^16. */
static inline bool omx_flow_is_newer(u16 flow, u16 than)
{
	return (s16)(flow - than) > 0;
}

static inline bool omx_rx_flow_is_newer(const struct omx_rx_state *rx, u16 flow)
{
	return flow && (!rx->flow || omx_flow_is_newer(flow, rx->flow));
}

void omx_rx_start(struct omx_rx_state *rx, u16 flow);
enum omx_rx_verdict omx_rx_judge(const struct omx_rx_state *rx, u16 flow,
				 u32 seq);
void omx_rx_keep(struct omx_rx_state *rx, u32 seq);
/* The next packet was delivered.  True if the one after it is here already. */
bool omx_rx_advance(struct omx_rx_state *rx);

void omx_rtt_sample(struct omx_rtt *rtt, u32 us, u32 now);
u32 omx_rtt_timeout_us(const struct omx_rtt *rtt);

#endif
