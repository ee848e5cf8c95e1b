// SPDX-License-Identifier: GPL-2.0
/*
 * Responds to pull requests with frames that an engine fills, out of regions of mode
 * `device`.  A request of which that is done is a reading.  omx_respond() begins it in
 * softirq, or in the page-in work of the message, and polls for a moment; then the engine
 * queues work of the reading's own, to a queue of the kernel's, when a copy has landed: it
 * waits neither for pages nor for threads of the program.  A frame is sent when all its
 * copies are done, if the message has not ended by then.
 *
 * Whoever works on a reading has it alone: first the one who begins it, then its work,
 * which is not queued before the former has let go of it (omx_copies_await()).
 *
 * What the engine does not take the processor copies into the frame.  If a page is
 * absent at the beginning, the rest of the request waits for page-in (respond_page_in.c),
 * and the frames before it go on.  If a page has gone while it was read, the other frames
 * go on, and this one waits likewise, to be filled again.
 */
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>

#include "channel/channel.h"
#include "endpoint/endpoint.h"
#include "engine/copies.h"
#include "engine/device_engine.h"
#include "memory/access.h"
#include "memory/region.h"
#include "memory/space.h"
#include "net/board.h"
#include "net/frame.h"
#include "net/transmit.h"
#include "observe/trace.h"
#include "pager/pager.h"
#include "pull/respond.h"
#include "pull/rndv.h"

#define POLL_NS		(20 * NSEC_PER_USEC)
#define TRIES_MAX	3	/* of an engine whose pages vanish again and again */

static void reading_run(struct work_struct *work);

struct omx_reading {
	struct list_head in_rndv;	/* rndv->readings */
	struct sk_buff *skb;		/* the request */
	struct omx_request request;	/* `wanted` is written under rndv->lock */
	struct omx_copies copies;
	struct work_struct work;
	unsigned int bytes;		/* charged to the pager and to the user */
	u32 incomplete;			/* frames whose page has gone */
	struct sk_buff *frame[OMX_BLOCK_FRAMES];	/* each until it is sent */
};

/* Where frame i lies in the message.  Returns its length. */
static u32 frame_find(const struct omx_request *request, unsigned int i, u64 *offset)
{
	u32 start = i * request->frame_length;

	*offset = request->offset + start;
	return min(request->frame_length, request->length - start);
}

/* Only the reading itself still refers to a frame whose copies are all done. */
static bool frame_is_filled(const struct sk_buff *frame)
{
	return !skb_shared(frame);
}

/* ---- life ---- */

static struct omx_pager *reading_pager(const struct omx_reading *reading)
{
	return reading->request.rndv->region->space->pager;
}

/*
 * Does the endpoint have room for these frames?  If not, the processor sends them, of
 * pages that are attached, which takes no memory.
 */
static bool reading_charge(struct omx_reading *reading)
{
	struct omx_account *user = reading->request.rndv->user;

	reading->bytes = hweight32(reading->request.wanted) * reading->request.frame_length;
	if (!omx_account_has_room(user, OMX_ACCOUNT_SEND) ||
	    !omx_pager_charge(&reading_pager(reading)->read_bytes, reading->bytes,
			      OMX_READ_BYTES_ALL))
		return false;
	omx_account_charge(user, reading->bytes);
	return true;
}

static void reading_uncharge(struct omx_reading *reading)
{
	atomic_sub(reading->bytes, &reading_pager(reading)->read_bytes);
	omx_account_uncharge(reading->request.rndv->user, reading->bytes);
}

static void reading_free(struct omx_reading *reading)
{
	struct omx_rndv *rndv = reading->request.rndv;

	omx_cursor_end(&reading->request.cursor);
	omx_account_uncharge_object(rndv->user, reading);
	kfree(reading);
	omx_rndv_put(rndv);
}

/* NULL: there is no engine, or no room. */
static struct omx_reading *reading_alloc(struct omx_rndv *rndv, struct sk_buff *skb)
{
	struct omx_reading *reading = omx_account_alloc(rndv->user, sizeof(*reading),
							GFP_ATOMIC | __GFP_NOWARN);

	if (!reading)
		return NULL;
	refcount_inc(&rndv->ref);
	reading->skb = skb;
	omx_request_init(&reading->request, rndv, omx_packet_body(skb),
			 omx_request_state(skb)->wanted);
	omx_copies_init(&reading->copies, rndv->region->space->board);
	omx_copies_decide_out(&reading->copies, rndv->region);
	INIT_WORK(&reading->work, reading_run);
	if (omx_copies_wanted(&reading->copies) && reading_charge(reading))
		return reading;
	reading_free(reading);
	return NULL;
}

/* ---- frames ---- */

static void reading_set_wanted(struct omx_reading *reading, u32 wanted)
{
	struct omx_rndv *rndv = reading->request.rndv;

	spin_lock(&rndv->lock);
	reading->request.wanted = wanted;
	spin_unlock(&rndv->lock);
}

static void reading_drop_frames(struct omx_reading *reading)
{
	unsigned int i;

	for (i = 0; i < OMX_BLOCK_FRAMES; i++) {
		kfree_skb(reading->frame[i]);
		reading->frame[i] = NULL;
	}
	reading_set_wanted(reading, 0);
}

/*
 * Called when copies have landed, because the program may have written to the memory
 * before.  If it returns true, the endpoint stays until the end of the read-side section
 * of RCU.
 */
static bool reading_may_send(const struct omx_reading *reading)
{
	const struct omx_rndv *rndv = reading->request.rndv;

	return !omx_region_was_withdrawn(rndv->region) && !READ_ONCE(rndv->withdrawn) &&
	       !READ_ONCE(rndv->ended);
}

static void reading_send_frame(struct omx_reading *reading, unsigned int i)
{
	const struct omx_request *request = &reading->request;
	struct omx_channel *ch = request->rndv->ch;
	struct sk_buff *frame = reading->frame[i];
	u64 offset;
	u32 length = frame_find(request, i, &offset);

	reading->frame[i] = NULL;
	reading_set_wanted(reading, request->wanted & ~BIT(i));
	trace_omx_pull_response_sent(ch, request->rndv->id, offset, length);
	omx_response_xmit(ch, frame);
}

static void reading_send_frames(struct omx_reading *reading)
{
	unsigned int i;

	for (i = 0; i < OMX_BLOCK_FRAMES; i++)
		if (reading->frame[i] && !(reading->incomplete & BIT(i)) &&
		    frame_is_filled(reading->frame[i]))
			reading_send_frame(reading, i);
}

static void reading_mark_incomplete(struct omx_reading *reading, const struct sk_buff *frame)
{
	unsigned int i;

	for (i = 0; i < OMX_BLOCK_FRAMES; i++)
		if (reading->frame[i] == frame)
			reading->incomplete |= BIT(i);
}

/* True: no copy is left. */
static bool reading_settle(struct omx_reading *reading)
{
	const struct sk_buff *frame;

	while ((frame = omx_copies_settle_out(&reading->copies, &reading->request.cursor)))
		reading_mark_incomplete(reading, frame);
	if (reading_may_send(reading))
		reading_send_frames(reading);
	else
		reading_drop_frames(reading);
	return omx_copies_is_empty(&reading->copies);
}

/* ---- its end ---- */

/* No copy is left: what is still wanted is incomplete. */
static void reading_end(struct omx_reading *reading)
{
	struct omx_rndv *rndv = reading->request.rndv;
	struct sk_buff *skb = reading->skb;
	u32 rest = reading->request.wanted;

	spin_lock(&rndv->lock);
	list_del(&reading->in_rndv);
	spin_unlock(&rndv->lock);
	reading_drop_frames(reading);
	reading_uncharge(reading);
	if (rest) {
		omx_request_state(skb)->wanted = rest;
		omx_request_state(skb)->tries++;
		omx_rndv_defer(rndv, skb);
	} else {
		consume_skb(skb);
	}
	reading_free(reading);
}

/* Until it ends, or its work is going to be queued. */
static void reading_go_on(struct omx_reading *reading, u64 until)
{
	while (!reading_settle(reading)) {
		if (ktime_get_mono_fast_ns() < until)
			cpu_relax();
		else if (omx_copies_await(&reading->copies, &reading->work))
			return;
	}
	reading_end(reading);
}

static void reading_run(struct work_struct *work)
{
	struct omx_reading *reading = container_of(work, struct omx_reading, work);

	rcu_read_lock();	/* the endpoint stays while the message has not ended */
	local_bh_disable();
	reading_go_on(reading, 0);
	local_bh_enable();
	rcu_read_unlock();
}

/* ---- its beginning ---- */

/* What the puller has requested again of frames that are being filled. */
static bool readings_have_all(struct omx_rndv *rndv, struct sk_buff *skb)
{
	u32 *wanted = &omx_request_state(skb)->wanted;
	struct omx_reading *reading;

	spin_lock(&rndv->lock);
	list_for_each_entry(reading, &rndv->readings, in_rndv)
		if (omx_request_is_same(reading->skb, skb))
			*wanted &= ~reading->request.wanted;
	spin_unlock(&rndv->lock);
	return !*wanted;
}

/* False: the message has ended. */
static bool reading_enlist(struct omx_reading *reading)
{
	struct omx_rndv *rndv = reading->request.rndv;
	bool ended;

	spin_lock(&rndv->lock);
	ended = rndv->ended;
	if (!ended)
		list_add_tail(&reading->in_rndv, &rndv->readings);
	spin_unlock(&rndv->lock);
	return !ended;
}

static int reading_fill_frame(struct omx_reading *reading, unsigned int i)
{
	struct omx_request *request = &reading->request;
	struct sk_buff *frame;
	u64 offset;
	u32 length = frame_find(request, i, &offset);

	frame = omx_packet_make_response(&request->header, offset, length);
	if (!frame)
		return -ENOMEM;
	reading->frame[i] = frame;
	if (omx_request_state(reading->skb)->tries)
		omx_count(reading->copies.board, ENGINE_RESUMED);
	return omx_region_read(&request->cursor, request->rndv->start + offset, frame,
			       sizeof(request->header), length, &reading->copies);
}

/*
 * Begins with the wanted frames in turn.  Returns those from the first one on that lacks a
 * page.  If there is no memory, the puller requests the rest again.
 */
static u32 reading_fill_frames(struct omx_reading *reading)
{
	u32 wanted = reading->request.wanted, left = wanted;
	int error = 0;

	while (left && !error) {
		error = reading_fill_frame(reading, __ffs(left));
		if (!error)
			left &= left - 1;
	}
	if (!left)
		return 0;
	/* Copies for it may be under way; they have references. */
	kfree_skb(reading->frame[__ffs(left)]);
	reading->frame[__ffs(left)] = NULL;
	reading_set_wanted(reading, wanted & ~left);
	if (error == -EAGAIN)
		return left;
	omx_count(reading->copies.board, DROP_NO_MEMORY);
	return 0;
}

/* If it cannot, the puller requests them again. */
static void reading_defer(struct omx_reading *reading, u32 wanted)
{
	struct sk_buff *skb = skb_clone(reading->skb, GFP_ATOMIC | __GFP_NOWARN);

	if (!skb)
		return;
	omx_request_state(skb)->wanted = wanted;
	omx_rndv_defer(reading->request.rndv, skb);
}

static void reading_begin(struct omx_reading *reading)
{
	u32 absent = reading_fill_frames(reading);

	if (absent)
		reading_defer(reading, absent);
	reading_go_on(reading, ktime_get_mono_fast_ns() + POLL_NS);
}

/* The memory of a window may be anybody's once the window is revoked, see rndv_window.c. */
bool omx_respond_by_engine(struct omx_rndv *rndv, struct sk_buff *skb)
{
	struct omx_reading *reading;

	if (rndv->window || omx_request_state(skb)->tries >= TRIES_MAX ||
	    !omx_device_engine_reads(rndv->region->space))
		return false;
	if (readings_have_all(rndv, skb)) {
		omx_respond_hold(rndv->ch, omx_packet_body(skb), 0);
		consume_skb(skb);
		return true;
	}
	reading = reading_alloc(rndv, skb);
	if (!reading)
		return false;
	if (!reading_enlist(reading)) {
		reading_uncharge(reading);
		reading_free(reading);
		return false;
	}
	reading_begin(reading);
	return true;
}
