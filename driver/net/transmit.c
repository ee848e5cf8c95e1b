// SPDX-License-Identifier: GPL-2.0
/*
 * Transmission of frames: the one place where frames leave the driver.
 *
 * Every part of the driver that sends frames calls omx_packet_xmit(), from
 * system calls, softirqs and timers, after it has released its own locks.
 */
#include <linux/netdevice.h>

#include "net/board.h"
#include "net/frame.h"
#include "net/transmit.h"

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

void omx_packet_xmit(struct omx_board *board, struct sk_buff *skb)
{
	const u8 type = omx_packet_head(skb)->type;

	rcu_read_lock();
	/*
	 * Pairs with omx_board_detach(), which sets `detaching` and waits for a
	 * grace period before it gives the device back.
	 */
	if (READ_ONCE(board->detaching)) {
		rcu_read_unlock();
		omx_count(board, DROP_BOARD_DOWN);
		kfree_skb(skb);
		return;
	}
	omx_count_type(board, TX, type);
	skb->dev = board->dev;
	if (ether_addr_equal(eth_hdr(skb)->h_dest, board->dev->dev_addr))
		frame_loop_back(skb);
	else if (!frame_queue_xmit(skb))
		omx_count(board, TX_FAILED);
	rcu_read_unlock();
}
