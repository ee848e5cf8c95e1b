// SPDX-License-Identifier: GPL-2.0
/*
 * Transmission of frames: the one place where frames leave the driver.
 *
 * Every part of the driver that sends frames calls omx_packet_xmit(), from
 * system calls, softirqs and timers, after it has released its own locks.
 */
#include <linux/jhash.h>
#include <linux/netdevice.h>

#include "net/board.h"
#include "net/frame.h"
#include "net/gso_skb.h"
#include "net/peer.h"
#include "net/tcp_segments.h"
#include "net/transmit.h"
#include "net/udp_carrier.h"

/*
 * A frame that a board sends to itself does not reach the device: it is
 * received through the backlog of this processor.
 */
static void frame_loop_back(struct sk_buff *skb)
{
	skb->pkt_type = PACKET_HOST;
	__skb_pull(skb, ETH_HLEN);
	skb_reset_network_header(skb);
	netif_rx(skb);
}

/*
 * True: the device, or its queue, has accepted the frame.  net_xmit_eval() is a
 * macro that evaluates its argument twice.
 */
static bool frame_queue_xmit(struct sk_buff *skb)
{
	int error = dev_queue_xmit(skb);

	return !net_xmit_eval(error);
}

u32 omx_packet_flow(const struct omx_packet_template *start)
{
	return jhash_3words(get_unaligned((const u32 *)&start->head.dst_endpoint),
			    get_unaligned((const u32 *)&start->eth.h_dest[2]),
			    get_unaligned((const u32 *)&start->eth.h_source[2]), 0);
}

/* Frames of channels have theirs. */
static void frame_set_flow(struct sk_buff *skb)
{
	if (!skb->l4_hash)
		omx_packet_set_flow(skb, omx_packet_flow((const void *)eth_hdr(skb)));
}

static noinline void frames_count_sent(struct omx_board *board, const struct sk_buff *skb)
{
	u32 frames = max_t(u32, skb_shinfo(skb)->gso_segs, 1);

	omx_count_type(board, TX, omx_packet_head(skb)->type, frames);
	omx_count_add(board, TX_MERGED, frames - 1);
}

/* Pairs with frame_count_received() in receive.c. */
static inline void frame_count_sent(struct omx_board *board, const struct sk_buff *skb)
{
	if (likely(!omx_gso_is_ours(skb)))
		omx_count_type(board, TX, omx_packet_head(skb)->type, 1);
	else
		frames_count_sent(board, skb);
}

/*
 * False, and counted: the board is going.  Pairs with omx_board_detach(), which sets
 * `detaching` and waits for a grace period before it gives the device back.
 */
static __always_inline bool frame_may_leave(struct omx_board *board, struct sk_buff *skb)
{
	if (READ_ONCE(board->detaching)) {
		omx_count(board, DROP_BOARD_DOWN);
		kfree_skb(skb);
		return false;
	}
	frame_count_sent(board, skb);
	frame_set_flow(skb);
	return true;
}

bool omx_packet_xmit_udp(struct omx_board *board, struct omx_udp_path *path,
			 struct sk_buff *skb)
{
	if (!frame_may_leave(board, skb) || omx_udp_xmit(board, path, skb))
		return true;
	omx_count(board, TX_FAILED);
	return false;
}

static bool frame_drop(struct omx_board *board, struct sk_buff *skb)
{
	omx_count(board, TX_FAILED);
	kfree_skb(skb);
	return false;
}

static bool frame_xmit_ethernet(struct omx_board *board, struct sk_buff *skb, u64 mac)
{
	if (!frame_may_leave(board, skb))
		return true;
	skb->dev = board->dev;
	if (mac == board->mac) {
		frame_loop_back(skb);
	} else if (omx_gso_is_ours(skb) && !omx_tso_wrap(board, skb, mac)) {
		return frame_drop(board, skb);
	} else if (!frame_queue_xmit(skb)) {
		omx_count(board, TX_FAILED);
		return false;
	}
	return true;
}

bool omx_packet_xmit_rcu(struct omx_board *board, struct sk_buff *skb)
{
	const u64 mac = omx_mac_read(eth_hdr(skb)->h_dest);

	if (unlikely(omx_peers_know_udp(&board->peers))) {
		struct omx_udp_path *path = omx_peer_udp_path(board, mac);

		if (path)
			return omx_packet_xmit_udp(board, path, skb);
		/* What was meant for UDP does not leave on the other carrier. */
		if (omx_peer_has_left(board, mac))
			return frame_drop(board, skb);
	}
	return frame_xmit_ethernet(board, skb, mac);
}

bool omx_packet_xmit(struct omx_board *board, struct sk_buff *skb)
{
	bool accepted;

	rcu_read_lock();
	accepted = omx_packet_xmit_rcu(board, skb);
	rcu_read_unlock();
	return accepted;
}
