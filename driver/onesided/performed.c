// SPDX-License-Identifier: GPL-2.0
/*
 * The arithmetic of acks that end puts.
 *
 * put_ack.c and access_queue.c call it at the target, access.c at the initiator, with the
 * channel's lock held; unit tests compile it in user space.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "onesided/performed.h"

/* ---- what may be said ---- */

u32 omx_performed_report(struct omx_performed *performed, u32 reached, u32 acked)
{
	if (performed->held && !performed->stopped && (s32)(acked - performed->until) >= 0)
		WRITE_ONCE(performed->held, false);
	return performed->held ? performed->at : reached;
}

void omx_performed_hold(struct omx_performed *performed, u32 seq, u32 until)
{
	if (performed->stopped)
		return;
	if (!performed->held)
		performed->at = seq - 1;
	WRITE_ONCE(performed->held, true);
	performed->until = until;
}

void omx_performed_stop(struct omx_performed *performed, u32 reached)
{
	if (!performed->held)
		performed->at = reached;
	WRITE_ONCE(performed->held, true);
	performed->stopped = true;
}

void omx_performed_restart(struct omx_performed *performed)
{
	performed->at = 0;
}

/* ---- the field of a frame ---- */

u8 omx_performed_encode(u32 ack, u32 performed)
{
	u32 behind = ack - performed;

	return behind < U8_MAX ? behind + OMX_PERFORMED_ALL : 0;
}

bool omx_performed_decode(u8 field, u32 ack, u32 *performed)
{
	*performed = ack - (field - OMX_PERFORMED_ALL);
	return field;
}

/* ---- when acks are sent ---- */

bool omx_put_acks_wait(struct omx_put_acks *acks, u64 now, u32 us)
{
	bool turn = us == OMX_PUT_ACK_TURN_US;

	if (!acks->due || acks->due > now + us)
		acks->due = now + us;
	/* The ack of a stream is somewhat late if the timer is. */
	if (acks->look_at && (turn || acks->look_at <= now + OMX_PUT_ACK_TURN_US))
		return false;
	acks->look_at = now + us;
	acks->look_after = OMX_PUT_ACK_TURN_US;
	return true;
}

void omx_put_acks_sent(struct omx_put_acks *acks, u64 now)
{
	if (acks->sent)
		acks->turns = 0;
	acks->sent = now;
	acks->due = 0;
}

static u32 put_acks_look_again(struct omx_put_acks *acks, u64 now)
{
	u32 left = acks->due ? acks->due - now : 0;

	if (acks->carried && omx_put_acks_take_turns(acks)) {
		acks->look_after = min(acks->look_after + acks->look_after / 8,
				       OMX_PUT_ACK_LOOK_MAX_US);
		left = max_t(u32, left, acks->look_after);
	}
	acks->carried = false;
	acks->look_at = left ? now + left : 0;
	return left;
}

u32 omx_put_acks_look(struct omx_put_acks *acks, u64 now, bool *late)
{
	*late = acks->due && now >= acks->due;
	if (!*late)
		return put_acks_look_again(acks, now);
	acks->turns = 0;
	acks->sent = 0;
	acks->due = 0;
	acks->look_at = 0;
	return 0;
}

void omx_put_acks_followed(struct omx_put_acks *acks, u64 now)
{
	if (now - acks->sent > OMX_PUT_ACK_TURN_US)
		acks->turns = 0;
	else if (acks->turns < OMX_PUT_ACK_TURNS)
		acks->turns++;
	acks->sent = 0;
}
