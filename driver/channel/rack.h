/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which packets are lost, by time as in RACK-TLP (RFC 8985): a packet is lost if
 * one that was sent later has arrived, and the network has had time to deliver this
 * one after that.  If nothing arrives, a probe is sent whose response shows what is
 * missing.  Plain data, no locks, no packets; times are in microseconds, modulo 2^32.
 *
 * Unlike TCP's, a probe is a small frame without data, so that nothing is sent
 * twice before it is known to be lost.
 */
#ifndef OMX_RACK_H
#define OMX_RACK_H

#include "channel/sequence.h"

struct omx_rack {
	bool valid;		/* something has arrived since packets are in flight */
	bool reordered;		/* packets have overtaken each other */
	bool sampled;		/* round_trip is a new sample */
	bool look;		/* for lost packets: there is news */
	u8 vain;		/* times that the first packet was lost since any arrived */
	u8 patience;		/* quarters of the shortest round trip, besides the first one */
	u8 patient_for;		/* more losses */
	u32 patience_at;	/* when it grew */
	/* Of the packets that have arrived, the one that was sent last: */
	u32 sent;
	u32 seq;
	u32 round_trip;
	u32 lost_sent;		/* of the packets that were declared lost last, the newest */
};

#define OMX_RACK_PATIENCE_MAX	16
#define OMX_RACK_VAIN		3

/* What is sent again is lost again, whatever the window of the path: that is not congestion. */
static inline bool omx_rack_is_vain(const struct omx_rack *rack)
{
	return rack->vain >= OMX_RACK_VAIN;
}

/* No packet is in flight: what arrived earlier says nothing of those to come. */
static inline void omx_rack_start(struct omx_rack *rack)
{
	rack->valid = false;
}

/*
 * Before omx_tx_acked() takes in an ack that is valid and newer than all before.
 * `sample`: it tells how long a round trip lasts, because no probe has caused it.
 */
void omx_rack_acked(struct omx_rack *rack, const struct omx_tx_state *tx, struct omx_rtt *rtt,
		    u32 ack, bool sample, u32 now);
/* After omx_tx_sacked(), which returned `newly`. */
void omx_rack_sacked(struct omx_rack *rack, const struct omx_tx_state *tx, struct omx_rtt *rtt,
		     u64 newly, bool sample, u32 now);
/* The response to a probe has arrived. */
void omx_rack_probed(struct omx_rack *rack, const struct omx_tx_state *tx, struct omx_rtt *rtt,
		     u32 sent, u32 now);
/* The peer got a packet twice: we should have waited longer. */
void omx_rack_duplicate(struct omx_rack *rack, const struct omx_rtt *rtt, u32 now);

/*
 * Declares packets lost if there is news or it is time, and returns how many.  *again
 * is set to the time after which others may be lost, or to 0.
 */
u32 omx_rack_find_lost(struct omx_rack *rack, struct omx_tx_state *tx,
		       const struct omx_rtt *rtt, u32 now, u32 *again);
/*
 * The peer's window is open again: what it has refused is sent again, unless it left less than
 * the shortest round trip before.  Some of that may have arrived since, if queues are long.  The
 * smoothed round trip would tell better, but includes delayed acks: what is younger than that
 * would have to wait for a probe.  Returns how many are sent again.
 */
u32 omx_rack_find_refused(struct omx_tx_state *tx, const struct omx_rtt *rtt, u32 now);

/* ---- probes ---- */

/* When to probe for lost packets because nothing arrives. */
struct omx_probing {
	u32 since;		/* the last packet was acknowledged, or the first one sent */
	u32 probed;		/* the last probe since then, or `since` */
	u32 lost_at;		/* a packet was lost; valid if `lossy` */
	bool lossy;		/* packets have been lost lately */
	bool prompt;		/* the last packet has requested an ack */
	bool asks;		/* a probe has had no response, nor has any later one ... */
	u32 asked;		/* ... and was sent at this time */
	bool silent;		/* that was a retransmission timeout ago */
	u8 count;		/* probes since `since` */
	u8 number;		/* of the last probe, 1 ... OMX_PROBE_NUMBERS */
	u16 open;		/* bit i: probe i has no response yet */
	u32 sent[16];		/* when, by number */
};

#define OMX_PROBE_NUMBERS	15

/*
 * The first probe goes after two round trips and the time by which the peer may delay its
 * ack, as in RFC 8985.  It does not wait for a delayed ack if the peer has been requested
 * to send one at once, or if packets have been lost lately.
 */
#define OMX_PROBE_CALM_US	12000	/* a tick of 10 ms */
#define OMX_PROBE_PROMPT_US	1000
#define OMX_PROBE_LOSSY_FOR_US	1000000
/*
 * The next ones go when the silence is an eighth longer than at the last one, or half as long
 * again while no round trip is known: fifteen must last for one, since the response to an
 * earlier probe of the same number looks like that to the later one.
 */
#define OMX_PROBE_SILENCE_SHIFT	3
#define OMX_PROBE_BLIND_SHIFT	1
#define OMX_PROBE_MAX_US	500000

static inline void omx_probing_start(struct omx_probing *probing, u32 now)
{
	probing->since = now;
	probing->probed = now;
	probing->count = 0;
	probing->prompt = false;
	probing->asks = false;
	probing->silent = false;
}

/* Microseconds until the next probe; 0: now. */
u32 omx_probing_due(const struct omx_probing *probing, const struct omx_rtt *rtt, u32 now);
/* Returns the number of the probe that is sent now. */
u8 omx_probing_sent(struct omx_probing *probing, u32 now);
/*
 * Has the packet that left at `sent` been under way for longer than a retransmission
 * timeout (RFC 6298), which doubles with the silence and is a second while no round trip
 * is known?
 */
bool omx_probing_has_timed_out(const struct omx_probing *probing, const struct omx_rtt *rtt,
			       u32 sent, u32 now);
/*
 * True, once: a probe and all later ones have had no response for a retransmission timeout,
 * which begins anew with the first probe, as in RFC 8985.  Packets are in flight.
 */
bool omx_probing_falls_silent(struct omx_probing *probing, const struct omx_rtt *rtt, u32 now);
/* A response: *sent is set to when its probe was sent.  False: it has no such probe. */
bool omx_probing_answered(struct omx_probing *probing, u8 number, u32 *sent);
/* Packets were lost, or may not be lost any more. */
void omx_probing_lost(struct omx_probing *probing, u32 now);
void omx_probing_review(struct omx_probing *probing, u32 now);

#endif
