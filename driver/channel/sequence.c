// SPDX-License-Identifier: GPL-2.0
/*
 * The arithmetic of sequence numbers, acks and round-trip times.
 *
 * Both halves of a channel call it with the channel's lock held; unit tests compile
 * it in user space.
 */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "channel/sequence.h"

void omx_tx_start(struct omx_tx_state *tx, u16 flow)
{
	tx->flow = flow;
	tx->next = 1;
	tx->acked = 0;
	tx->limit = OMX_WINDOW;
	tx->sacked = 0;
	tx->lost = 0;
	tx->resent = 0;
	tx->closed = false;
	tx->waits = false;
}

void omx_tx_begin_with(struct omx_tx_state *tx, u32 window)
{
	if (tx->next == 1)
		tx->limit = clamp_t(u32, window, 1, OMX_WINDOW);
}

u32 omx_tx_room(const struct omx_tx_state *tx)
{
	u32 in_flight = omx_tx_in_flight(tx);
	s32 admitted = tx->limit + 1 - tx->next;

	if (admitted <= 0)
		return !in_flight && !tx->waits;
	return min_t(u32, admitted, OMX_WINDOW - in_flight);
}

u32 omx_tx_pipe(const struct omx_tx_state *tx)
{
	if (tx->closed)
		return 0;
	return omx_tx_in_flight(tx) - hweight64(tx->sacked) - hweight64(tx->lost);
}

/* Up to this packet the old limit holds, whatever the receiver says now. */
static u32 tx_admitted(const struct omx_tx_state *tx)
{
	return (s32)(tx->limit - (tx->next - 1)) < 0 ? tx->limit : tx->next - 1;
}

static void tx_set_limit(struct omx_tx_state *tx, u32 limit, bool *opened)
{
	u32 admitted = tx_admitted(tx);

	if ((s32)(limit - admitted) < 0)
		limit = admitted;
	*opened = (s32)(limit - tx->limit) > 0 && (s32)(tx->next - 1 - tx->limit) > 0;
	tx->limit = limit;
}

int omx_tx_acked(struct omx_tx_state *tx, u16 flow, u32 ack, u16 window,
		 bool *opened)
{
	s32 newly = ack - tx->acked;
	bool waits = window == OMX_WINDOW_WAIT;

	*opened = false;
	if (!omx_tx_has_sent(tx, flow, ack))
		return -1;
	if (newly < 0)
		return 0;
	tx->acked = ack;
	if (unlikely(tx->sacked | tx->lost | tx->resent)) {
		tx->sacked = newly < 64 ? tx->sacked >> newly : 0;
		tx->lost = newly < 64 ? tx->lost >> newly : 0;
		tx->resent = newly < 64 ? tx->resent >> newly : 0;
	}
	tx->closed = !window;
	tx->waits = waits;
	tx_set_limit(tx, waits ? ack : ack + min_t(u32, window, OMX_WINDOW), opened);
	return newly;
}

u64 omx_tx_sacked(struct omx_tx_state *tx, u32 ack, u64 sack)
{
	u32 beyond = tx->next - 1 - ack;	/* in flight behind ack */

	if (ack != tx->acked)
		return 0;
	/* Bits for packets that were never sent are a lie: ignore them. */
	if (beyond < 2)
		return 0;
	if (beyond - 1 < 64)
		sack &= (1ULL << (beyond - 1)) - 1;
	sack &= ~tx->sacked;
	tx->sacked |= sack;
	tx->lost &= ~(sack << 1);
	return sack;
}

bool omx_tx_is_missing(const struct omx_tx_state *tx, u32 seq)
{
	u32 distance = seq - tx->acked;

	if (!distance || distance > omx_tx_in_flight(tx))
		return false;
	return distance == 1 || !(tx->sacked >> (distance - 2) & 1);
}

u32 omx_tx_highest(const struct omx_tx_state *tx)
{
	return tx->acked + (tx->sacked ? fls64(tx->sacked) + 1 : 0);
}

u32 omx_tx_last_sent(const struct omx_tx_state *tx)
{
	u32 last = tx->sent[(tx->acked + 1) % OMX_WINDOW];
	u32 seq;

	for (seq = tx->acked + 2; seq != tx->next; seq++) {
		u32 sent = tx->sent[seq % OMX_WINDOW];

		if ((s32)(sent - last) > 0)
			last = sent;
	}
	return last;
}

bool omx_tx_first_lost(const struct omx_tx_state *tx, u32 *seq)
{
	if (!tx->lost)
		return false;
	*seq = tx->acked + 1 + __ffs64(tx->lost);
	return true;
}

void omx_tx_sent_again(struct omx_tx_state *tx, u32 seq, u32 now)
{
	tx->lost &= ~omx_tx_bit(tx, seq);
	tx->resent |= omx_tx_bit(tx, seq);
	tx->sent[seq % OMX_WINDOW] = now;
}

void omx_rx_start(struct omx_rx_state *rx, u16 flow)
{
	rx->flow = flow;
	rx->next = 1;
	rx->ahead = 0;
}

enum omx_rx_verdict omx_rx_judge(const struct omx_rx_state *rx, u16 flow,
				 u32 seq)
{
	s32 distance = seq - rx->next;

	if (!flow || flow != rx->flow)
		return OMX_RX_STALE;
	if (distance < 0)
		return OMX_RX_DUPLICATE;
	if (distance >= OMX_WINDOW)
		return OMX_RX_BEYOND;
	if (!distance)
		return OMX_RX_NEXT;
	return rx->ahead >> (distance - 1) & 1 ? OMX_RX_DUPLICATE : OMX_RX_AHEAD;
}

void omx_rx_keep(struct omx_rx_state *rx, u32 seq)
{
	rx->ahead |= 1ULL << (seq - rx->next - 1);
}

bool omx_rx_advance(struct omx_rx_state *rx)
{
	bool here = rx->ahead & 1;

	rx->next++;
	rx->ahead >>= 1;
	return here;
}

void omx_rtt_sample(struct omx_rtt *rtt, u32 us, u32 now)
{
	s32 error;

	us = clamp_t(u32, us, 1, 10 * OMX_RTO_MAX_US);
	rtt->sample = us;
	if (us <= rtt->min || !rtt->min || now - rtt->min_at > OMX_RTT_MIN_LIFETIME_US) {
		rtt->min = us;
		rtt->min_at = now;
	}
	if (!rtt->srtt) {
		rtt->srtt = us;
		rtt->rttvar = us / 2;
		return;
	}
	error = us - rtt->srtt;
	rtt->srtt = max(1, (s32)rtt->srtt + error / 8);
	rtt->rttvar += ((s32)abs(error) - (s32)rtt->rttvar) / 4;
}

u32 omx_rtt_timeout_us(const struct omx_rtt *rtt)
{
	return clamp_t(u32, rtt->srtt + 4 * rtt->rttvar, OMX_RTO_MIN_US, OMX_RTO_MAX_US);
}
