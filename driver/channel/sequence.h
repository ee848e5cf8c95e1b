/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The arithmetic of a reliable channel: what was sent and acknowledged, what
 * arrived, how long an answer takes.  Plain data, no locks, no packets: the
 * channel holds its lock around every call, the unit tests need none.
 */
#ifndef OMX_SEQUENCE_H
#define OMX_SEQUENCE_H

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
};

struct omx_rx_state {
	u16 flow;		/* 0: nothing received yet */
	u32 next;		/* the packet that comes next in order */
	u64 ahead;		/* bit i: next + 1 + i is here already */
};

/* Jacobson's estimator; microseconds. */
struct omx_rtt {
	u32 srtt;		/* 0: no sample yet */
	u32 rttvar;
	u8 backoff;		/* timeouts since the last progress */
};

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
/* One packet may always be under way: it probes a closed window. */
static inline bool omx_tx_may_send(const struct omx_tx_state *tx)
{
	u32 in_flight = omx_tx_in_flight(tx);

	if (!in_flight)
		return true;
	return in_flight < OMX_WINDOW && (s32)(tx->limit - tx->next) >= 0;
}

/*
 * Takes an ack in.  What a window once admitted stays admitted: a receiver
 * that closes it throws away what comes and says so by acking no further.
 * Returns how many packets it newly covers, or -1 if it speaks of another flow
 * or of packets that were never sent.  *opened is set if it lets packets pass
 * that were refused before.
 */
int omx_tx_acked(struct omx_tx_state *tx, u16 flow, u32 ack, u16 window,
		 bool *opened);
/* Returns how many packets it newly covers. */
int omx_tx_sacked(struct omx_tx_state *tx, u32 ack, u64 sack);
/* In flight, and neither acked nor selectively acked. */
bool omx_tx_is_missing(const struct omx_tx_state *tx, u32 seq);
/* Highest selectively acked packet, or acked. */
u32 omx_tx_highest(const struct omx_tx_state *tx);

/*
 * Recovery as in TCP's slow start.  A timeout takes everything in flight for
 * lost and sends the first packet again; every packet that then arrives lets
 * OMX_RESEND_PER_ACK lost ones go, so that their number doubles with each
 * round trip.
 */
#define OMX_RESEND_PER_ACK	2

void omx_tx_timeout(struct omx_tx_state *tx);
/* The first lost packet, which the caller sends again.  False: there is none. */
bool omx_tx_first_lost(const struct omx_tx_state *tx, u32 *seq);
void omx_tx_sent_again(struct omx_tx_state *tx, u32 seq);

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

void omx_rtt_sample(struct omx_rtt *rtt, u32 us);
/* Doubled with every timeout since the last packet that was acknowledged. */
u32 omx_rtt_timeout_us(const struct omx_rtt *rtt);

#endif
