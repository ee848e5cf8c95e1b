// SPDX-License-Identifier: GPL-2.0
/*
 * The ends of conditional accesses that have not fired: the program withdraws them,
 * no key comes in time, or their channel ends.
 *
 * An access belongs to whoever takes it out of its channel's list.  Ioctls do that in
 * process context, timers in softirq, channels in any context.
 */
#include <linux/timer.h>

#include "channel/channel.h"
#include "compat.h"
#include "endpoint/endpoint.h"
#include "net/board.h"
#include "onesided/when.h"
#include "onesided/when_private.h"
#include "pull/rndv.h"

void omx_when_end(struct omx_when *when, u8 status)
{
	if (when->access)
		omx_access_finish(when->access, status);
	else
		omx_rndv_finish(when->ch->ep, when->rndv, status, 0);
	omx_when_free(when);
}

void omx_when_discard(struct omx_when *when)
{
	if (when->access)
		omx_access_unmake(when->access);
	else
		omx_rndv_unmake(when->rndv);
	omx_when_free(when);
}

/* ---- no key in time ---- */

/* True: the caller owns it from now on. */
static bool when_claim(struct omx_when *when)
{
	struct omx_channel *ch = when->ch;
	bool mine;

	spin_lock_bh(&ch->lock);
	mine = !list_empty(&when->in_channel);
	if (mine)
		omx_when_unlink(when);
	spin_unlock_bh(&ch->lock);
	return mine;
}

void omx_when_time_out(struct timer_list *timer)
{
	struct omx_when *when = omx_timer_container(when, timer, timer);

	if (!when_claim(when))
		return;
	omx_count(when->ch->ep->board, WHEN_TIMEOUT);
	omx_when_end(when, OMX_STATUS_TIMEOUT);
}

/* ---- the channel ends ---- */

static struct omx_when *when_pop(struct omx_channel *ch)
{
	struct omx_when *when;

	spin_lock_bh(&ch->lock);
	when = list_first_entry_or_null(&ch->whens.waiting, struct omx_when, in_channel);
	if (when)
		omx_when_unlink(when);
	spin_unlock_bh(&ch->lock);
	return when;
}

unsigned int omx_whens_fail(struct omx_channel *ch, u8 status, unsigned int most)
{
	struct omx_when *when;
	unsigned int n;

	for (n = 0; n < most; n++) {
		when = when_pop(ch);
		if (!when)
			break;
		omx_when_end(when, status);
	}
	return n;
}

void omx_whens_destroy(struct omx_endpoint *ep)
{
	struct omx_channel *ch;
	u32 slot = 0;

	while ((ch = omx_table_next(&ep->channels, &slot))) {
		omx_whens_fail(ch, OMX_STATUS_CLOSED, OMX_WHENS_MAX);
		cond_resched();
	}
}

/* ---- the program withdraws it ---- */

static struct omx_when *when_claim_by_cookie(struct omx_channel *ch, u64 cookie)
{
	struct omx_when *when, *found = NULL;

	spin_lock_bh(&ch->lock);
	list_for_each_entry(when, &ch->whens.waiting, in_channel) {
		if (when->cookie != cookie)
			continue;
		found = when;
		omx_when_unlink(when);
		break;
	}
	spin_unlock_bh(&ch->lock);
	return found;
}

long omx_when_withdraw(struct omx_endpoint *ep, u32 channel, u64 cookie)
{
	struct omx_channel *ch = omx_channel_get(ep, channel);
	struct omx_when *when;

	if (!ch)
		return -ENOENT;
	when = when_claim_by_cookie(ch, cookie);
	if (when)
		omx_when_discard(when);
	omx_channel_put(ch);
	return when ? 0 : -ENOENT;
}
