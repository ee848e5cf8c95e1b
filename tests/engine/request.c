// SPDX-License-Identifier: BSD-2-Clause
/*
 * Page requests (PRI).  A channel that needs a page without a translation asks the
 * IOMMU for it and waits; when the response is there, it translates again.  It has
 * one request at a time, which is a group of its own.
 *
 * Responses come while the IOMMU works off its queue: they only wake the engine.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "engine.h"

/* Before a request is sent again that the IOMMU did not take, or that failed. */
#define PAUSE_NS	1000000LL
/* ... or that has no response: it may just take long. */
#define RESPONSE_NS	10000000000LL
/* Then the channel reports a fault. */
#define PATIENCE_NS	30000000000LL

/*
 * A group number has 9 bits: of requests that nobody waits for bit 8, the channel, and
 * a number that is new for each request, so that the response to an older one is not
 * taken for this one's.
 */
#define GROUP_FLOOD	0x100
#define GROUP_CHANNEL	5
#define GROUP_NUMBER	0x1f

static uint16_t group_of(struct channel *c, uint32_t number)
{
	return c->number << GROUP_CHANNEL | (number & GROUP_NUMBER);
}

static int page_send(struct channel *c, uint32_t pasid, uint64_t page, uint16_t group,
		     bool is_write)
{
	int error = pci_pri_request_page(c->engine->device, pasid, false, false, page, true, group,
					 !is_write, is_write);

	c->page_requests += !error;
	c->pending += !error;
	c->overflows += error == -ENOSPC;
	return error;
}

/* For the pages that follow in the copy, as far as it goes, and for all of them again. */
static void page_flood(struct channel *c, struct target target)
{
	struct page_wait *wait = &c->wait;
	uint64_t end = target.address + le32toh(c->descriptor.length) - c->done;
	uint64_t page = wait->page;
	uint32_t n;

	if (!c->begun || c->completing)
		return;
	for (n = 0; n < c->flood; n++) {
		page += PAGE;
		if (page >= end)
			page = wait->page;
		page_send(c, wait->pasid, page, GROUP_FLOOD | group_of(c, n),
			  wait->is_write);
	}
}

static bool waits_for(const struct page_wait *wait, struct target target, bool is_write)
{
	return wait->waits && wait->pasid == target.pasid && wait->is_write == is_write &&
	       wait->page == (target.address & ~(uint64_t)(PAGE - 1));
}

static void wait_begin(struct channel *c, struct target target, bool is_write, int64_t now)
{
	c->wait = (struct page_wait) {
		.waits = true,
		.is_write = is_write,
		.pasid = target.pasid,
		.page = target.address & ~(uint64_t)(PAGE - 1),
		.since = now,
	};
	page_flood(c, target);
}

static enum access wait_request(struct channel *c, int64_t now)
{
	struct page_wait *wait = &c->wait;
	int error;

	wait->group = group_of(c, c->groups++);
	/* The response may be there before this returns. */
	wait->sent = true;
	c->due = now + RESPONSE_NS;
	error = page_send(c, wait->pasid, wait->page, wait->group, wait->is_write);
	if (!error)
		return ACCESS_NOT_YET;
	wait->sent = false;
	c->due = now + PAUSE_NS;
	return error == -ENOSPC ? ACCESS_NOT_YET : ACCESS_FAULT;
}

enum access page_await(struct channel *c, struct target target, bool is_write)
{
	int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
	enum access access;

	if (!waits_for(&c->wait, target, is_write))
		wait_begin(c, target, is_write, now);
	if (c->wait.refused || now - c->wait.since > PATIENCE_NS)
		access = ACCESS_FAULT;
	else
		access = wait_request(c, now);
	if (access == ACCESS_FAULT)
		page_forget(c);
	return access;
}

void page_forget(struct channel *c)
{
	memset(&c->wait, 0, sizeof(c->wait));
}

void page_forget_requests(struct engine *engine)
{
	unsigned int n;

	for (n = 0; n < CHANNELS; n++)
		engine->channels[n].pending = 0;
}

void page_respond(struct engine *engine, uint32_t pasid, const struct page_response *response)
{
	struct channel *c = &engine->channels[response->group >> GROUP_CHANNEL & (CHANNELS - 1)];
	struct page_wait *wait = &c->wait;

	/* A reset of the function forgets requests whose responses come later. */
	c->pending -= c->pending > 0;
	if (!wait->sent || wait->pasid != pasid || wait->group != response->group)
		return;
	wait->sent = false;
	wait->refused = response->code == PAGE_INVALID;
	c->due = response->code == PAGE_FAILURE ?
		 qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + PAUSE_NS : 0;
	engine_wake(engine);
}
