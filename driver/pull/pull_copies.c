// SPDX-License-Identifier: GPL-2.0
/*
 * The end of a pull whose frames an engine copies.  When the last frame has
 * arrived, whoever received it polls for a moment; then work of the pull's own,
 * in a thread of the pager, waits for the engine.
 */
#include <linux/delay.h>
#include <linux/timekeeping.h>

#include "observe/trace.h"
#include "pager/pager.h"
#include "pull/private.h"

#define POLL_NS		(20 * NSEC_PER_USEC)
#define STEP_US		50
#define STEPS_MAX	10000	/* no working engine needs so many */

bool omx_pull_poll_copies(struct omx_pull *pull)
{
	u64 until = ktime_get_mono_fast_ns() + POLL_NS;

	lockdep_assert_held(&pull->lock);
	while (!omx_copies_settle(&pull->copies, &pull->cursor)) {
		if (ktime_get_mono_fast_ns() > until)
			return false;
		cpu_relax();
	}
	return true;
}

void omx_pull_want_copies(struct omx_pull *pull)
{
	lockdep_assert_held(&pull->lock);
	if (pull->settling)
		return;
	pull->settling = true;
	refcount_inc(&pull->ref);
	omx_pager_queue(pull->region->space->pager, &pull->settle);
}

/* True: look again, once page-in has brought these bytes if there are any. */
static bool pull_settle_copies(struct omx_pull *pull, u64 *offset, u64 *length)
{
	struct sk_buff_head out;
	bool again;

	__skb_queue_head_init(&out);
	*length = 0;
	rcu_read_lock();	/* the endpoint stays while the pull is REQUESTING */
	local_bh_disable();
	spin_lock(&pull->lock);
	again = pull->state == OMX_PULL_REQUESTING &&
		!omx_copies_settle(&pull->copies, &pull->cursor);
	if (again) {
		omx_copies_lack_page(&pull->copies, offset, length);
		spin_unlock(&pull->lock);
	} else {
		pull->settling = false;
		omx_pull_unlock_and_continue(pull, &out);
	}
	local_bh_enable();
	rcu_read_unlock();
	return again;
}

static void pull_settle_page_in(struct omx_pull *pull, u64 offset, u64 length)
{
	int error;

	trace_omx_page_in_begin(pull->ch, pull->message, true, offset, length);
	error = omx_region_page_in(pull->region, offset, length, OMX_REGION_WRITE);
	trace_omx_page_in_end(pull->ch, pull->message, true, error);
	if (!error)
		return;
	rcu_read_lock();
	omx_pull_end(pull, omx_page_in_status(error));
	rcu_read_unlock();
}

static void pull_settle(struct omx_pager_work *work)
{
	struct omx_pull *pull = container_of(work, struct omx_pull, settle);
	unsigned int steps = 0;
	u64 offset, length;

	while (pull_settle_copies(pull, &offset, &length)) {
		if (length) {
			pull_settle_page_in(pull, offset, length);
			steps = 0;
		} else if (++steps == STEPS_MAX) {
			omx_engine_is_late(pull->copies.engine, &pull->copies.list);
		}
		usleep_range(STEP_US, 2 * STEP_US);
	}
	omx_pull_put(pull);
}

void omx_pull_copies_init(struct omx_pull *pull)
{
	omx_copies_init(&pull->copies, pull->ep->board);
	omx_pager_work_init(&pull->settle, pull_settle);
}
