// SPDX-License-Identifier: GPL-2.0
/*
 * Large messages whose sender is on this host.  Each byte is copied once, from
 * the sender's pages to the receiver's.
 *
 * The receiver's ioctl copies a message of up to 512 KiB itself, up to the first
 * absent page of the sender; pager work copies the bytes from there on.  Work also
 * copies all of a longer message, since a long copy in the ioctl would block a
 * program that expects the call to return at once.  Of a window the ioctl copies as much,
 * but work goes on from the first page of either side that is not resident.  If the
 * driver has started the pull by itself, perhaps in softirq, work copies everything.
 *
 * Each endpoint has a pager.  The work runs in that of the endpoint whose page is
 * absent, since the page may never come and must not block the other's transfers.
 * The copy of a longer message starts in the pager of the receiver's endpoint.
 */
#include <linux/sched/signal.h>

#include "channel/channel.h"
#include "endpoint/endpoint.h"
#include "memory/region_copy.h"
#include "net/board.h"
#include "observe/trace.h"
#include "pager/pager.h"
#include "pager/read_ahead.h"
#include "pull/private.h"
#include "pull/rndv.h"

/* Copied at a time with BH off. */
#define PIECE		(16U << 10)
/* What the system call copies itself: it takes 50 us, and the send has translated it. */
#define AT_ONCE_MAX	(512U << 10)

/* The message of a sender on this host, referenced.  Errors are those of omx_rndv_get(). */
static struct omx_rndv *local_source(struct omx_pull *pull)
{
	struct omx_rndv *rndv = ERR_PTR(-ENOENT);
	struct omx_channel *back;

	rcu_read_lock();
	back = omx_channel_other_end(pull->ch);
	if (back)
		rndv = omx_rndv_get(back->ep, pull->message, back);
	if (!IS_ERR(rndv) && pull->length > rndv->length) {
		omx_rndv_put(rndv);
		rndv = ERR_PTR(-ENOENT);
	}
	rcu_read_unlock();
	return rndv;
}

static u8 local_copy_status(int error)
{
	if (!error)
		return OMX_STATUS_OK;
	return error == -ENOENT ? OMX_STATUS_BAD_REGION : omx_page_in_status(error);
}

/* ---- by work ---- */

static struct omx_region *local_copy_lacking_region(const struct omx_pull *pull)
{
	return pull->local.lacks_source ? pull->local.source->region : pull->region;
}

/* The pages that were absent and some behind them.  wait: also those that are not resident. */
static int local_copy_bring_pages(struct omx_pull *pull, u64 length, bool wait)
{
	const struct omx_local_copy *copy = &pull->local;
	u8 access = copy->lacks_source ? OMX_REGION_READ : OMX_REGION_WRITE;
	u64 start = copy->lacks_source ? copy->source->start : pull->start;

	return omx_region_translate(local_copy_lacking_region(pull), start + copy->offset,
				    min(length, pull->length - copy->offset), access, wait);
}

static int local_copy_page_in(struct omx_pull *pull)
{
	const struct omx_channel *ch = pull->local.lacks_source ? pull->local.source->ch : pull->ch;
	u64 length = max_t(u64, PIECE, omx_read_ahead_step());
	bool write = !pull->local.lacks_source;
	int error;

	trace_omx_page_in_begin(ch, pull->message, write, pull->local.offset, length);
	error = local_copy_bring_pages(pull, length, true);
	trace_omx_page_in_end(ch, pull->message, write, error);
	return error;
}

/*
 * -EAGAIN: pages are absent; -ECANCELED: the pull has ended.  With BH off this is a
 * read-side section of RCU, which a window that is revoked waits for.
 */
static int local_copy_piece(struct omx_pull *pull)
{
	struct omx_local_copy *copy = &pull->local;
	u32 length = min_t(u64, PIECE, pull->length - copy->offset);
	int error = -ECANCELED;

	spin_lock_bh(&pull->lock);
	if (READ_ONCE(copy->source->withdrawn))
		error = -ENOENT;
	else if (pull->state == OMX_PULL_COPYING)
		error = omx_region_copy(&copy->from, copy->source->start + copy->offset,
					&pull->cursor, pull->start + copy->offset, length,
					&copy->lacks_source);
	spin_unlock_bh(&pull->lock);
	/* Checked behind the copy: the program may have written to the memory since. */
	if (!error && READ_ONCE(copy->source->withdrawn))
		error = -ENOENT;
	if (!error)
		copy->offset += length;
	return error;
}

/* Resident pages of either side are translated here: nobody has to wait for them. */
static int local_copy_resident(struct omx_pull *pull)
{
	int error = local_copy_piece(pull), side;

	for (side = 0; side < 2 && error == -EAGAIN; side++) {
		local_copy_bring_pages(pull, OMX_EXTENT_SIZE, false);
		error = local_copy_piece(pull);
	}
	return error;
}

static int local_copy_all(struct omx_pull *pull)
{
	int error = 0;

	while (!error && pull->local.offset < pull->length) {
		error = local_copy_resident(pull);
		if (!error && fatal_signal_pending(current))
			error = -EINTR;
		cond_resched();
	}
	return error;
}

/* The work may run elsewhere as soon as it is queued. */
static void local_copy_queue(struct omx_pull *pull)
{
	omx_pager_queue(local_copy_lacking_region(pull)->space->pager, &pull->local.work);
}

static void local_copy_end(struct omx_pull *pull, int error)
{
	rcu_read_lock();	/* the endpoint stays while the pull has not ended */
	omx_pull_end(pull, local_copy_status(error));
	rcu_read_unlock();
	omx_cursor_end(&pull->local.from);
	omx_rndv_put(pull->local.source);
	omx_pull_put(pull);
}

static void local_copy_run(struct omx_pager_work *work)
{
	struct omx_pull *pull = container_of(work, struct omx_pull, local.work);
	bool source = pull->local.lacks_source;	/* whose pager this is */
	int error = local_copy_all(pull);

	while (error == -EAGAIN && pull->local.lacks_source == source) {
		error = local_copy_page_in(pull);
		if (!error)
			error = local_copy_all(pull);
	}
	if (error == -EAGAIN)
		local_copy_queue(pull);
	else
		local_copy_end(pull, error);
}

/* Takes over the reference on the source.  The caller has the work queued, or does it. */
static void local_copy_start(struct omx_pull *pull, struct omx_rndv *source, u64 done,
			     bool lacks_source)
{
	struct omx_local_copy *copy = &pull->local;

	copy->source = source;
	copy->lacks_source = lacks_source;
	copy->offset = done;
	omx_cursor_init(&copy->from, source->region, OMX_REGION_READ);
	omx_pager_work_init(&copy->work, local_copy_run);
	refcount_inc(&pull->ref);
	spin_lock_bh(&pull->lock);
	omx_pull_move(pull, OMX_PULL_COPYING);
	spin_unlock_bh(&pull->lock);
	rcu_read_lock();
	omx_pull_end_if_missed(pull);
	rcu_read_unlock();
}

/* ---- by the system call ---- */

/*
 * The system call copies with faults at the receiver, which may take for ever.  A
 * window could not be revoked meanwhile, and nobody calls for a put of a peer or a
 * conditional get: the message that the peer names for that need not be of a window.
 */
static bool local_copies_at_once(const struct omx_pull *pull, const struct omx_rndv *source)
{
	return pull->length <= AT_ONCE_MAX && !source->window && !pull->by_driver;
}

/* Of a window: from resident pages the ioctl copies without waiting for anybody. */
static void local_copy_window(struct omx_pull *pull, struct omx_rndv *source)
{
	bool at_once = pull->length <= AT_ONCE_MAX && !pull->by_driver;

	local_copy_start(pull, source, 0, false);
	if (at_once && !local_copy_all(pull))
		local_copy_end(pull, 0);
	else
		local_copy_queue(pull);
}

void omx_pull_from_local(struct omx_pull *pull)
{
	struct omx_rndv *source = local_source(pull);
	int error = PTR_ERR_OR_ZERO(source);
	u64 done = 0;

	if (!error) {
		omx_count(pull->ep->board, LOCAL_COPY);
		if (!local_copies_at_once(pull, source)) {
			local_copy_window(pull, source);
			return;
		}
		error = omx_region_copy_to_user(source->region, pull->region,
						pull->length, &done);
		if (error == -EAGAIN) {
			local_copy_start(pull, source, done, true);
			local_copy_queue(pull);
			return;
		}
		if (READ_ONCE(source->withdrawn))
			error = -ENOENT;
		omx_rndv_put(source);
	}
	omx_pull_conclude_start(pull, local_copy_status(error));
}
