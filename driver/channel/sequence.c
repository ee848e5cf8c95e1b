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
}

int omx_tx_acked(struct omx_tx_state *tx, u16 flow, u32 ack, u16 window,
		 bool *opened)
{
	s32 newly = ack - tx->acked;
	u32 limit = ack + min_t(u32, window, OMX_WINDOW);

	*opened = false;
	if (!omx_tx_has_sent(tx, flow, ack))
		return -1;
	if (newly < 0)
		return 0;
	tx->acked = ack;
	tx->sacked = newly < 64 ? tx->sacked >> newly : 0;
	tx->lost = newly < 64 ? tx->lost >> newly : 0;
	if ((s32)(limit - tx->limit) > 0) {
		*opened = (s32)(tx->next - 1 - tx->limit) > 0;
		tx->limit = limit;
	}
	return newly;
}

int omx_tx_sacked(struct omx_tx_state *tx, u32 ack, u64 sack)
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
	return hweight64(sack);
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

void omx_tx_timeout(struct omx_tx_state *tx)
{
	u32 in_flight = omx_tx_in_flight(tx);
	u64 sent = in_flight < 64 ? (1ULL << in_flight) - 1 : ~0ULL;

	tx->lost = sent & ~(tx->sacked << 1);
}

bool omx_tx_first_lost(const struct omx_tx_state *tx, u32 *seq)
{
	if (!tx->lost)
		return false;
	*seq = tx->acked + 1 + __ffs64(tx->lost);
	return true;
}

void omx_tx_sent_again(struct omx_tx_state *tx, u32 seq)
{
	tx->lost &= ~(1ULL << (seq - tx->acked - 1));
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

void omx_rtt_sample(struct omx_rtt *rtt, u32 us)
{
	s32 error;

	us = clamp_t(u32, us, 1, 10 * OMX_RTO_MAX_US);
	rtt->backoff = 0;
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
	u32 us = max_t(u32, rtt->srtt + 4 * rtt->rttvar, OMX_RTO_MIN_US);

	return min_t(u32, us << min_t(u32, rtt->backoff, 6), OMX_RTO_MAX_US);
}
