// SPDX-License-Identifier: GPL-2.0
/*
 * Shares and turns of the senders to a board: channels ask for their window and say what
 * their peers do, and the next ones are told when turns have ended.  The arithmetic is
 * in incoming/receivers.c and incoming/senders.c.
 *
 * In softirq, or with BH off.  The board's incoming.lock is taken inside ch->lock, and
 * no two channels are locked at once: whoever ends a turn marks the next one as due,
 * and that is told after ch->lock has been released.  A timer tells those that this
 * misses, and ends turns of which nothing is heard.
 */
#include "channel/channel.h"
#include "channel/private.h"
#include "channel/send.h"
#include "channel/turn.h"
#include "compat.h"
#include "net/board.h"

/* A turn lasts at least so long (ticks) before it is taken back. */
#define TURN_LASTS	(HZ / 50 ?: 1)

/* Packets that senders may have on their way: pulls under way have the other half. */
static u32 board_packets(const struct omx_board *board)
{
	const struct omx_estimate *estimate = &board->incoming.estimate;
	u32 packets = READ_ONCE(estimate->limit) / READ_ONCE(estimate->frame);

	return atomic_read(&board->pulls.outstanding) > 0 ? packets / 2 : packets;
}

/* What others read without the lock. */
static void incoming_publish(struct omx_board *board)
{
	struct omx_incoming *incoming = &board->incoming;
	struct omx_receivers *receivers = &incoming->receivers;

	lockdep_assert_held(&incoming->lock);
	WRITE_ONCE(incoming->is_crowded,
		   omx_receivers_are_crowded(receivers, omx_sender_epoch()));
	WRITE_ONCE(incoming->turns_due, omx_receivers_are_due(receivers, board_packets(board)));
	if (omx_receivers_take_turns(receivers) && !timer_pending(&incoming->timer))
		mod_timer(&incoming->timer, jiffies + TURN_LASTS / 2 + 1);
}

/* ---- one channel ---- */

static struct omx_receiver *channel_receiver(const struct omx_channel *ch)
{
	return &ch->ep->board_user->receiver;
}

void omx_channel_enter_epoch(struct omx_channel *ch, u32 epoch)
{
	struct omx_board *board = ch->ep->board;
	struct omx_incoming *incoming = &board->incoming;

	lockdep_assert_held(&ch->lock);
	ch->sender.epoch = epoch;
	spin_lock(&incoming->lock);
	omx_receivers_count(&incoming->receivers, channel_receiver(ch), epoch);
	if (!incoming->is_crowded)
		incoming_publish(board);
	spin_unlock(&incoming->lock);
}

void omx_channel_leave_turns(struct omx_channel *ch)
{
	struct omx_board *board = ch->ep->board;
	struct omx_incoming *incoming = &board->incoming;

	lockdep_assert_held(&ch->lock);
	ch->sender.more = false;
	spin_lock(&incoming->lock);
	if (ch->sender.turn != OMX_TURN_NONE) {
		omx_senders_leave(&channel_receiver(ch)->senders, &ch->sender, jiffies);
		incoming_publish(board);
	}
	spin_unlock(&incoming->lock);
}

void omx_channel_change_more(struct omx_channel *ch, bool more, u32 seq)
{
	lockdep_assert_held(&ch->lock);
	if ((s32)(seq - ch->sender.more_seq) < 0)
		return;		/* later ones have overtaken it */
	ch->sender.more_seq = seq;
	if (!more && READ_ONCE(ch->sender.turn) != OMX_TURN_NONE)
		omx_channel_leave_turns(ch);
	ch->sender.more = more;
}

u32 omx_channel_crowded_share(struct omx_channel *ch)
{
	struct omx_board *board = ch->ep->board;
	struct omx_incoming *incoming = &board->incoming;
	enum omx_turn turn;
	u32 window;

	lockdep_assert_held(&ch->lock);
	spin_lock(&incoming->lock);
	turn = ch->sender.turn;
	window = omx_receivers_window(&incoming->receivers, channel_receiver(ch), &ch->sender,
				      ch->rx.next - 1, board_packets(board),
				      omx_sender_epoch(), jiffies);
	if (ch->sender.turn == OMX_TURN_WAITING && turn != OMX_TURN_WAITING)
		omx_count(board, TURN_WAITED);
	turn = ch->sender.turn;
	incoming_publish(board);
	spin_unlock(&incoming->lock);
	ch->sender_waits = turn == OMX_TURN_WAITING;
	/* A turn is acknowledged when it has ended, a window when half of it has been used. */
	ch->ack_every = clamp_t(u32, turn == OMX_TURN_OPEN ? window : window / 2, 1,
				OMX_ACK_EVERY);
	ch->ack_late = ch->ack_every;
	return window;
}

u32 omx_channel_first_window(struct omx_endpoint *ep)
{
	struct omx_incoming *incoming = &ep->board->incoming;
	u32 window;

	spin_lock(&incoming->lock);
	window = omx_receivers_first_window(&incoming->receivers, &ep->board_user->receiver,
					    board_packets(ep->board), omx_sender_epoch());
	spin_unlock(&incoming->lock);
	return window;
}

/* ---- the next ones ---- */

/* NULL: none is due. */
static struct omx_channel *board_next_sender(struct omx_board *board)
{
	struct omx_incoming *incoming = &board->incoming;
	struct omx_sender *sender;

	spin_lock(&incoming->lock);
	sender = omx_receivers_next(&incoming->receivers, board_packets(board), jiffies);
	incoming_publish(board);
	spin_unlock(&incoming->lock);
	return sender ? container_of(sender, struct omx_channel, sender) : NULL;
}

/* A channel is freed after it has left the list, and a grace period. */
void omx_channels_take_due_turns(struct omx_board *board)
{
	struct omx_channel *ch;
	struct sk_buff_head out;

	__skb_queue_head_init(&out);
	while ((ch = board_next_sender(board))) {
		spin_lock(&ch->lock);
		if (!ch->dead)
			omx_channel_send_ack(ch, 0, &out);
		else
			omx_channel_leave_turns(ch);
		spin_unlock(&ch->lock);
		omx_channel_xmit(ch, &out);
	}
}

void omx_channels_turn_timer(struct timer_list *timer)
{
	struct omx_incoming *incoming = omx_timer_container(incoming, timer, timer);
	struct omx_board *board = container_of(incoming, struct omx_board, incoming);

	rcu_read_lock();
	spin_lock(&incoming->lock);
	omx_count_add(board, TURN_EXPIRED,
		      omx_receivers_expire(&incoming->receivers, TURN_LASTS, jiffies));
	incoming_publish(board);
	spin_unlock(&incoming->lock);
	omx_channels_take_turns(board);
	rcu_read_unlock();
}
