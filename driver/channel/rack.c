// SPDX-License-Identifier: GPL-2.0
/*
 * Which packets are lost (RACK-TLP).  The sending half of a channel calls it, in
 * softirq with the channel's lock held; unit tests compile it in user space.
 */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "channel/rack.h"

#define DUP_THRESHOLD	3	/* packets ahead of a missing one: it will not come any more */
#define PATIENT_FOR	16	/* losses, as in RFC 8985 */

static bool rack_is_before(u32 sent, u32 seq, u32 than_sent, u32 than_seq)
{
	s32 later = than_sent - sent;

	return later > 0 || (!later && (s32)(than_seq - seq) > 0);
}

static void rack_advance(struct omx_rack *rack, u32 sent, u32 seq, u32 now)
{
	rack->valid = true;
	rack->sent = sent;
	rack->seq = seq;
	rack->round_trip = now - sent;
}

/* The packet that was sent last of those that have arrived says how old the others are. */
static void rack_note(struct omx_rack *rack, u32 sent, u32 seq, bool resent, u32 now)
{
	if (rack->valid && !rack_is_before(rack->sent, rack->seq, sent, seq))
		return;
	rack_advance(rack, sent, seq, now);
	rack->sampled = !resent;	/* else it is ambiguous (Karn) */
}

/* A packet has arrived, and `highest` of those before it. */
static void rack_arrived(struct omx_rack *rack, const struct omx_tx_state *tx,
			 const struct omx_rtt *rtt, u32 seq, u32 highest, u32 now)
{
	u32 sent = tx->sent[seq % OMX_WINDOW];
	bool resent = tx->resent & omx_tx_bit(tx, seq);

	/* Too early for the copy that was sent last: an earlier one has arrived. */
	if (resent && now - sent < rtt->min)
		return;
	if (!resent && (s32)(highest - seq) > 0)
		rack->reordered = true;
	rack_note(rack, sent, seq, resent, now);
}

/* Some of the packets up to `ack` were sent again, or have been reported before. */
static void rack_arrived_up_to(struct omx_rack *rack, const struct omx_tx_state *tx,
			       const struct omx_rtt *rtt, u32 ack, u32 now)
{
	u32 seq, highest = omx_tx_highest(tx);

	for (seq = tx->acked + 1; (s32)(ack - seq) >= 0; seq++)
		if (omx_tx_is_missing(tx, seq))
			rack_arrived(rack, tx, rtt, seq, highest, now);
	rack->look = true;
}

static void rack_sample(struct omx_rack *rack, struct omx_rtt *rtt, bool sample, u32 now)
{
	if (rack->sampled && sample)
		omx_rtt_sample(rtt, rack->round_trip, now);
	rack->sampled = false;
}

void omx_rack_acked(struct omx_rack *rack, const struct omx_tx_state *tx, struct omx_rtt *rtt,
		    u32 ack, bool sample, u32 now)
{
	rack->vain = 0;
	if (likely(!(tx->resent | tx->sacked)))
		rack_note(rack, tx->sent[ack % OMX_WINDOW], ack, false, now);
	else
		rack_arrived_up_to(rack, tx, rtt, ack, now);
	rack_sample(rack, rtt, sample, now);
}

void omx_rack_sacked(struct omx_rack *rack, const struct omx_tx_state *tx, struct omx_rtt *rtt,
		     u64 newly, bool sample, u32 now)
{
	u64 before = tx->sacked & ~newly;
	u32 highest = tx->acked + (before ? fls64(before) + 1 : 0);

	rack->vain = 0;
	for (; newly; newly &= newly - 1)
		rack_arrived(rack, tx, rtt, tx->acked + 2 + __ffs64(newly), highest, now);
	rack->look = true;
	rack_sample(rack, rtt, sample, now);
}

void omx_rack_probed(struct omx_rack *rack, const struct omx_tx_state *tx, struct omx_rtt *rtt,
		     u32 sent, u32 now)
{
	rack->look = true;
	omx_rtt_sample(rtt, now - sent, now);
	if (!rack->valid || (s32)(sent - rack->sent) > 0)
		rack_advance(rack, sent, tx->next, now);
}

void omx_rack_duplicate(struct omx_rack *rack, const struct omx_rtt *rtt, u32 now)
{
	/* Once in a round trip: all of them may have the same reason. */
	if (rack->reordered && now - rack->patience_at < rtt->srtt)
		return;
	rack->reordered = true;
	rack->patience_at = now;
	rack->patient_for = PATIENT_FOR;
	if (rack->patience < OMX_RACK_PATIENCE_MAX)
		rack->patience++;
}

/* How long a packet may be late. */
static u32 rack_window(const struct omx_rack *rack, const struct omx_tx_state *tx,
		       const struct omx_rtt *rtt)
{
	if (!rack->reordered && hweight64(tx->sacked) >= DUP_THRESHOLD)
		return 0;
	return min_t(u32, (1 + rack->patience) * (rtt->min / 4), rtt->srtt);
}

u32 omx_rack_find_lost(struct omx_rack *rack, struct omx_tx_state *tx,
		       const struct omx_rtt *rtt, u32 now, u32 *again)
{
	u32 patience = rack->round_trip + rack_window(rack, tx, rtt);
	bool first_was_in_flight = !(tx->lost & 1);
	u32 seq, lost = 0;

	*again = 0;
	rack->look = false;
	if (!rack->valid || tx->closed)
		return 0;
	for (seq = tx->acked + 1; seq != tx->next; seq++) {
		u32 sent = tx->sent[seq % OMX_WINDOW];
		u32 age = now - sent;

		if (!omx_tx_is_missing(tx, seq) || tx->lost & omx_tx_bit(tx, seq) ||
		    !rack_is_before(sent, seq, rack->sent, rack->seq))
			continue;
		if (age >= patience) {
			tx->lost |= omx_tx_bit(tx, seq);
			if (!lost++ || (s32)(sent - rack->lost_sent) > 0)
				rack->lost_sent = sent;
		} else {
			*again = max(*again, patience - age);
		}
	}
	if (lost && first_was_in_flight && tx->lost & 1 && rack->vain < OMX_RACK_VAIN)
		rack->vain++;
	if (lost && rack->patient_for && !--rack->patient_for)
		rack->patience = 0;
	return lost;
}

u32 omx_rack_find_refused(struct omx_tx_state *tx, const struct omx_rtt *rtt, u32 now)
{
	u32 seq, refused = 0;

	for (seq = tx->acked + 1; seq != tx->next; seq++) {
		if (!omx_tx_is_missing(tx, seq) || tx->lost & omx_tx_bit(tx, seq) ||
		    now - tx->sent[seq % OMX_WINDOW] < rtt->min)
			continue;
		tx->lost |= omx_tx_bit(tx, seq);
		refused++;
	}
	return refused;
}

/* ---- probes ---- */

static u32 probing_interval(const struct omx_probing *probing, const struct omx_rtt *rtt)
{
	bool soon = probing->lossy || probing->prompt;
	u32 least = soon ? OMX_PROBE_PROMPT_US : OMX_PROBE_CALM_US;
	u32 shift = rtt->srtt ? OMX_PROBE_SILENCE_SHIFT : OMX_PROBE_BLIND_SHIFT;
	u32 silence = probing->probed - probing->since;
	u32 us;

	if (!probing->count)
		us = 2 * rtt->srtt + (soon ? 0 : OMX_PROBE_CALM_US);
	else
		us = max_t(u32, rtt->srtt + 4 * rtt->rttvar, silence >> shift);
	return clamp_t(u32, us, least, OMX_PROBE_MAX_US);
}

u32 omx_probing_due(const struct omx_probing *probing, const struct omx_rtt *rtt, u32 now)
{
	u32 interval = probing_interval(probing, rtt);
	u32 elapsed = now - probing->probed;

	return elapsed < interval ? interval - elapsed : 0;
}

u8 omx_probing_sent(struct omx_probing *probing, u32 now)
{
	probing->number = probing->number % OMX_PROBE_NUMBERS + 1;
	probing->open |= 1 << probing->number;
	probing->sent[probing->number] = now;
	probing->probed = now;
	if (!probing->asks)
		probing->asked = now;
	probing->asks = true;
	if (probing->count < U8_MAX)
		probing->count++;
	return probing->number;
}

static u32 probing_timeout(const struct omx_rtt *rtt)
{
	return rtt->srtt ? omx_rtt_timeout_us(rtt) : OMX_RTO_MAX_US;
}

bool omx_probing_has_timed_out(const struct omx_probing *probing, const struct omx_rtt *rtt,
			       u32 sent, u32 now)
{
	u32 silence = now - probing->since;

	return now - sent >= clamp_t(u32, silence / 2, probing_timeout(rtt), OMX_RTO_MAX_US);
}

bool omx_probing_falls_silent(struct omx_probing *probing, const struct omx_rtt *rtt, u32 now)
{
	if (probing->silent || !probing->asks || now - probing->asked < probing_timeout(rtt))
		return false;
	probing->silent = true;
	return true;
}

bool omx_probing_answered(struct omx_probing *probing, u8 number, u32 *sent)
{
	if (!(probing->open >> number & 1))
		return false;
	probing->open &= ~(1 << number);
	probing->asks = false;
	probing->silent = false;
	*sent = probing->sent[number];
	return true;
}

void omx_probing_lost(struct omx_probing *probing, u32 now)
{
	probing->lossy = true;
	probing->lost_at = now;
}

void omx_probing_review(struct omx_probing *probing, u32 now)
{
	if (probing->lossy && now - probing->lost_at > OMX_PROBE_LOSSY_FOR_US)
		probing->lossy = false;
}
