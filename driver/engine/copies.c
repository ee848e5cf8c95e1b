// SPDX-License-Identifier: GPL-2.0
/*
 * The copies by an engine of one pull, or of one request that is responded to.  The
 * files in pull/ and memory/ call this with the pull's lock held, or while they work on
 * the request, mostly in softirq.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/skbuff.h>

#include "engine/copies.h"
#include "engine/device_engine.h"
#include "memory/access.h"
#include "memory/cursor.h"
#include "memory/region.h"
#include "net/board.h"

#define TRIES_MAX	3	/* of an engine whose pages vanish again and again */

static unsigned long copy_offload_min = 1 << 20;
module_param(copy_offload_min, ulong, 0644);
MODULE_PARM_DESC(copy_offload_min, "bytes of a message from which on copy_offload applies (1 MiB)");

void omx_copies_decide(struct omx_copies *copies, const struct omx_region *region, u64 length)
{
	if (region->mode == OMX_DEVICE && omx_device_engine_is_for(region->space))
		copies->engine = &omx_device_engine;
	else if (omx_engine_is_open(&omx_dmaengine) && length >= READ_ONCE(copy_offload_min))
		copies->engine = &omx_dmaengine;
}

/* A DMA engine is not used: the processor need not read what it sends. */
void omx_copies_decide_out(struct omx_copies *copies, const struct omx_region *region)
{
	copies->out = true;
	if (region->mode == OMX_DEVICE && omx_device_engine_reads(region->space))
		copies->engine = &omx_device_engine;
}

static void copies_count(const struct omx_copies *copies, enum omx_counter counter)
{
	this_cpu_inc(copies->board->counters->value[counter]);
}

/* Where these bytes of a frame lie.  Returns how many of them are contiguous. */
static u32 copy_find_frame(const struct sk_buff *skb, u32 from, u32 length,
			   struct page **page, u32 *offset)
{
	const struct skb_shared_info *info = skb_shinfo(skb);
	u32 headlen = skb_headlen(skb), i;

	if (from < headlen) {
		*page = virt_to_page(skb->data + from);
		*offset = offset_in_page(skb->data + from);
		return min(length, headlen - from);
	}
	from -= headlen;
	for (i = 0; i < info->nr_frags; from -= skb_frag_size(&info->frags[i++])) {
		const skb_frag_t *frag = &info->frags[i];

		if (from >= skb_frag_size(frag))
			continue;
		*page = skb_frag_page(frag);
		*offset = skb_frag_off(frag) + from;
		return *page ? min(length, skb_frag_size(frag) - from) : 0;
	}
	return 0;
}

/* Without an extent only the engine can reach the page, so it also gets short pieces. */
static u32 copies_start_job(struct omx_copies *copies, struct omx_copy_job *job, u32 length)
{
	const struct omx_engine_ops *ops = copies->engine->ops;
	u32 shortest = job->extent ? ops->shortest : 1;

	length = min(length, ops->longest);
	job->length = copy_find_frame(job->skb, job->skb_offset, length, &job->frame,
				      &job->frame_offset);
	if (job->length < shortest)
		return 0;
	if (!omx_engine_start(copies->engine, job, &copies->list)) {
		copies_count(copies, ops->refused);
		return 0;
	}
	return job->length;
}

u32 omx_copies_start(struct omx_copies *copies, const struct omx_cursor *cursor,
		     struct sk_buff *skb, int skb_offset, u32 length)
{
	struct omx_extent *extent = cursor->extent;
	struct omx_copy_job job = {
		.out = copies->out,
		.skb = skb, .skb_offset = skb_offset,
		.page = cursor->page, .page_offset = cursor->page_offset,
		.offset = cursor->offset,
		.space = extent->space, .address = omx_cursor_here(cursor),
		.extent = extent, .tries = copies->tries,
	};

	lockdep_assert_held(&extent->lock);
	return copies_start_job(copies, &job, length);
}

u32 omx_copies_start_by_address(struct omx_copies *copies, struct omx_cursor *cursor,
				struct sk_buff *skb, int skb_offset, u32 length)
{
	u64 in_segment;
	struct omx_copy_job job = {
		.out = copies->out,
		.skb = skb, .skb_offset = skb_offset,
		.offset = cursor->offset,
		.space = cursor->region->space,
		.address = omx_cursor_address(cursor, &in_segment),
		.tries = copies->tries,
	};

	return copies_start_job(copies, &job, min_t(u64, length, in_segment));
}

/* The first of them, if its end is known. */
static struct omx_copy *copies_first_done(struct omx_copies *copies)
{
	struct omx_copy *copy = list_first_entry_or_null(&copies->list, struct omx_copy, node);

	return copy && omx_engine_is_done(copies->engine, copy) ? copy : NULL;
}

/*
 * By the engine if a page was gone and has come back; else by the processor, under the
 * lock of the extent, which a page cannot leave meanwhile.  -EAGAIN: a page is absent;
 * the copy is left with the bytes from there on.
 */
static int copies_repeat(struct omx_copies *copies, struct omx_cursor *cursor,
			 struct omx_copy *copy)
{
	bool resume = copy->again && copy->job.tries < TRIES_MAX;
	int error;

	copies->tries = copy->job.tries + 1;
	error = (copy->job.out ? omx_region_read : omx_region_fill)
		(cursor, copy->job.offset, copy->job.skb, copy->job.skb_offset, copy->job.length,
		 resume ? copies : NULL);
	copies->tries = 0;
	if (error == -EAGAIN)
		omx_copy_skip(copy, cursor->offset - copy->job.offset);
	if (!error && resume)
		omx_count(copies->board, ENGINE_RESUMED);
	else if (!error)
		copies_count(copies, copies->engine->ops->repeated);
	return error;
}

/* The copy is done.  -EAGAIN: its page is absent. */
static int copies_end(struct omx_copies *copies, struct omx_cursor *cursor,
		      struct omx_copy *copy)
{
	const struct omx_engine_ops *ops = copies->engine->ops;

	if (copy->failed)
		return copies_repeat(copies, cursor, copy);
	copies_count(copies, copies->out ? ops->read : ops->copied);
	return 0;
}

bool omx_copies_settle(struct omx_copies *copies, struct omx_cursor *cursor)
{
	struct omx_copy *copy;

	while ((copy = copies_first_done(copies))) {
		if (copies_end(copies, cursor, copy))
			break;
		omx_engine_release(copies->engine, copy);
	}
	return list_empty(&copies->list);
}

struct sk_buff *omx_copies_settle_out(struct omx_copies *copies, struct omx_cursor *cursor)
{
	struct sk_buff *incomplete = NULL;
	struct omx_copy *copy;

	while (!incomplete && (copy = copies_first_done(copies))) {
		if (copies_end(copies, cursor, copy))
			incomplete = copy->job.skb;
		omx_engine_release(copies->engine, copy);
	}
	return incomplete;
}

bool omx_copies_await(struct omx_copies *copies, struct work_struct *work)
{
	struct omx_copy *first = list_first_entry(&copies->list, struct omx_copy, node);

	return omx_engine_await(copies->engine, first, work);
}

bool omx_copies_lack_page(struct omx_copies *copies, u64 *offset, u64 *length)
{
	const struct omx_copy *copy = copies_first_done(copies);

	if (!copy)
		return false;
	*offset = copy->job.offset;
	*length = copy->job.length;
	return true;
}

void omx_copies_abandon(struct omx_copies *copies)
{
	omx_copies_wait(copies);
	omx_engine_release_all(copies->engine, &copies->list);
}
