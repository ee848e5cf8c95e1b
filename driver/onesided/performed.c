// SPDX-License-Identifier: GPL-2.0
/*
 * The arithmetic of acks that end puts.
 *
 * put_ack.c and access_queue.c call it at the target, access.c at the initiator, with the
 * channel's lock held; unit tests compile it in user space.
 */
#include <linux/kernel.h>

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

	return behind < U8_MAX ? behind + 1 : 0;
}

bool omx_performed_decode(u8 field, u32 ack, u32 *performed)
{
	*performed = ack - (field - 1);
	return field;
}

/* ---- when acks are sent ---- */

void omx_put_acks_wait(struct omx_put_acks *acks, u64 now, u32 us)
{
	if (!acks->due || acks->due > now + us)
		acks->due = now + us;
}

void omx_put_acks_sent(struct omx_put_acks *acks, u64 now)
{
	if (acks->sent)
		acks->turns = 0;
	acks->sent = now;
	acks->due = 0;
}

void omx_put_acks_late(struct omx_put_acks *acks)
{
	acks->turns = 0;
	acks->sent = 0;
	acks->due = 0;
}

void omx_put_acks_followed(struct omx_put_acks *acks, u64 now)
{
	if (now - acks->sent > OMX_PUT_ACK_TURN_US)
		acks->turns = 0;
	else if (acks->turns < OMX_PUT_ACK_TURNS)
		acks->turns++;
	acks->sent = 0;
}
