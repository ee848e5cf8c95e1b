// SPDX-License-Identifier: BSD-2-Clause
/*
 * In place of memory/ and pager/: regions of programs' memory, whose pages are present
 * up to some offset.  Behind it they are absent until page-in, which takes a while, has
 * brought them; pages that are present may vanish.
 */
#include "sim.h"

#include "memory/access.h"
#include "memory/cursor.h"
#include "memory/region.h"
#include "memory/region_page_in.h"
#include "memory/space.h"
#include "net/frame.h"
#include "pager/pager.h"
#include "pager/read_ahead.h"

#define STEP		(64u << 10)

/* The driver's part has an array at its end. */
struct sim_region {
	u64 present;			/* bytes */
	struct omx_region region;
	struct omx_region_segment segment;
};

static struct sim_region *region_of(struct omx_region *region)
{
	return container_of(region, struct sim_region, region);
}

/* ---- regions ---- */

struct omx_region *omx_region_of_message(struct omx_endpoint *ep, u32 id, u64 address,
					 u64 length, u8 access)
{
	struct sim_region *sr = kzalloc(sizeof(*sr), GFP_KERNEL_ACCOUNT);
	struct omx_region *region;

	SIM_REQUIRE(id == OMX_REGION_IMPLICIT);
	if (!sr)
		return ERR_PTR(-ENOMEM);
	region = &sr->region;
	refcount_set(&region->ref, 1);
	region->space = ep->space;
	refcount_inc(&ep->space->ref);
	region->length = length;
	region->access = access;
	region->mode = OMX_UNPINNED;
	region->segment_count = 1;
	region->segment[0].address = address;
	region->segment[0].length = length;
	sr->present = sim_chance(sim.absent) ? sim_below(length) : length;
	return region;
}

static void space_put(struct omx_space *space)
{
	if (!refcount_dec_and_test(&space->ref))
		return;
	kfree(space->pager);
	kfree(space);
}

void omx_region_put(struct omx_region *region)
{
	if (!refcount_dec_and_test(&region->ref))
		return;
	space_put(region->space);
	kfree(region_of(region));
}

void omx_regions_destroy(struct omx_endpoint *ep)
{
}

int omx_region_prepare(struct omx_region *region, u64 length, u8 access)
{
	return 0;
}

void omx_region_prepare_more(struct omx_region *region, u64 length, u8 access)
{
}

static int region_bring(struct omx_region *region, u64 offset, u64 length)
{
	struct sim_region *sr = region_of(region);

	sim_require_sleep("page-in");
	if (omx_pager_is_closed(region->space->pager))
		return -EFAULT;
	/* What lies before it must have been there. */
	sr->present = max(sr->present, offset + length);
	return 0;
}

int omx_region_page_in(struct omx_region *region, u64 offset, u64 length, u8 access)
{
	return region_bring(region, offset, length);
}

int omx_region_read_ahead(struct omx_region *region, u64 offset, u64 length, u8 access)
{
	return region_bring(region, offset, length);
}

u64 omx_read_ahead_goal(u64 need_end, u64 length)
{
	return min(need_end + STEP, length);
}

u64 omx_read_ahead_step(void)
{
	return STEP;
}

/* ---- accesses ---- */

int omx_cursor_look(struct omx_cursor *cursor, u64 offset, u64 length)
{
	struct sim_region *sr = region_of(cursor->region);

	SIM_REQUIRE(offset + length <= sr->region.length);
	return offset + length <= sr->present ? 0 : -EAGAIN;
}

/* How many bytes from there on are present; some of them may vanish before. */
static u32 region_present(struct omx_region *region, u64 offset, u32 length)
{
	struct sim_region *sr = region_of(region);

	SIM_REQUIRE(offset + length <= region->length);
	if (sim.absent && sim_below(1000) < sim.absent)
		sr->present = sim_below(sr->present + 1);
	return offset >= sr->present ? 0 : min((u64)length, sr->present - offset);
}

static void *region_at(const struct omx_region *region, u64 offset)
{
	return (char *)(uintptr_t)region->segment[0].address + offset;
}

/* As a device does that needs frames in one piece. */
int omx_region_attach(struct omx_cursor *cursor, u64 offset, u32 length, struct sk_buff *skb)
{
	return -E2BIG;
}

int omx_region_read(struct omx_cursor *cursor, u64 offset, struct sk_buff *skb, int skb_offset,
		    u32 length, struct omx_copies *copies)
{
	u32 present = region_present(cursor->region, offset, length);

	memcpy(skb->data + skb_offset, region_at(cursor->region, offset), present);
	cursor->offset = offset + present;
	return present < length ? -EAGAIN : 0;
}

int omx_region_fill(struct omx_cursor *cursor, u64 offset, struct sk_buff *skb,
		    int skb_offset, u32 length, struct omx_copies *copies)
{
	u32 present = region_present(cursor->region, offset, length);

	SIM_REQUIRE(skb_offset + length <= skb->len);
	memcpy(region_at(cursor->region, offset), skb->data + skb_offset, present);
	cursor->offset = offset + present;
	return present < length ? -EAGAIN : 0;
}

/* ---- spaces and pagers ---- */

struct omx_space *omx_space_create(struct omx_board *board, const struct omx_space *other,
				   bool permanent)
{
	struct omx_space *space = kzalloc(sizeof(*space), GFP_KERNEL);

	if (!space)
		return NULL;
	space->pager = kzalloc(sizeof(*space->pager), GFP_KERNEL);
	if (!space->pager) {
		kfree(space);
		return NULL;
	}
	refcount_set(&space->ref, 1);
	return space;
}

void omx_space_put_now(struct omx_space *space)
{
	space_put(space);
}

void omx_pager_close(struct omx_pager *pager)
{
	pager->closed = true;
}

static void pager_work_run(struct work_struct *by_worker)
{
	struct omx_pager_work *work = container_of(by_worker, struct omx_pager_work, by_worker);

	work->run(work);
}

void omx_pager_work_init(struct omx_pager_work *work, void (*run)(struct omx_pager_work *work))
{
	work->run = run;
	INIT_WORK(&work->by_worker, pager_work_run);
}

void omx_pager_queue(struct omx_pager *pager, struct omx_pager_work *work)
{
	u64 takes = sim_chance(10) ? sim_below(30 * SIM_MS) : sim_below(300 * SIM_US);

	SIM_REQUIRE(!sim_event_is_queued(&work->by_worker.event));
	sim_event_at(&work->by_worker.event, sim_now + takes);
}

/* Some of it has been taken out of the queue already, and runs later. */
bool omx_pager_cancel(struct omx_pager *pager, struct omx_pager_work *work)
{
	if (!sim_event_is_queued(&work->by_worker.event) || sim_chance(50))
		return false;
	sim_event_cancel(&work->by_worker.event);
	return true;
}
