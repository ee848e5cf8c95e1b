/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Requests are allocated in slabs, end, and are handed to the program.  See
 * request.h.
 */
#include "request.h"

#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "endpoint.h"
#include "region.h"
#include "timer.h"
#include "when.h"

#if UINTPTR_MAX > UINT32_MAX
_Static_assert(offsetof(struct omx__request, buffer) == CACHE_LINE &&
	       offsetof(struct omx__request, status) == 2 * CACHE_LINE, "see request.h");
#endif

static cold bool request_slab_add(struct omx__endpoint *ep)
{
	uint32_t slabs = ep->request_count / REQUESTS_PER_SLAB;
	struct omx__request **table;
	struct omx__request *slab;
	uint32_t i;

	table = realloc(ep->request_slabs, (slabs + 1) * sizeof(*table));
	if (!table)
		return false;
	ep->request_slabs = table;
	slab = aligned_alloc(CACHE_LINE, REQUESTS_PER_SLAB * sizeof(*slab));
	if (!slab)
		return false;
	memset(slab, 0, REQUESTS_PER_SLAB * sizeof(*slab));

	table[slabs] = slab;
	for (i = 0; i < REQUESTS_PER_SLAB; i++) {
		slab[i].ep = ep;
		slab[i].index = ep->request_count++;
		slab[i].generation = 1;
		list_append(&ep->free_requests, &slab[i].node);
	}
	return true;
}

struct omx__request *omx__request_alloc(struct omx__endpoint *ep, enum request_type type,
					void *context)
{
	struct omx__request *req;

	if (unlikely(list_empty(&ep->free_requests)) && !request_slab_add(ep))
		return NULL;
	/* The request that was freed last is most likely in the processor's cache. */
	req = list_entry(ep->free_requests.prev, struct omx__request, node);
	list_remove(&req->node);
	req->type = (uint8_t)type;
	req->zombie = false;
	req->internal = false;
	req->rendezvous = false;
	req->conditional = false;
	req->partner = NULL;
	req->status.context = context;
	return req;
}

void omx__request_free(struct omx__request *req)
{
	req->state = REQUEST_FREE;
	req->generation++;
	list_append(&req->ep->free_requests, &req->node);
}

void omx__requests_free_all(struct omx__endpoint *ep)
{
	uint32_t i, j;

	for (i = 0; i < ep->request_count / REQUESTS_PER_SLAB; i++) {
		for (j = 0; j < REQUESTS_PER_SLAB; j++)
			omx__buffer_free(&ep->request_slabs[i][j].buffer);
		free(ep->request_slabs[i]);
	}
	free(ep->request_slabs);
	ep->request_slabs = NULL;
	ep->request_count = 0;
}

struct omx__request *omx__request_by_cookie(struct omx__endpoint *ep, uint64_t cookie)
{
	uint32_t index = (uint32_t)cookie;
	struct omx__request *req;

	if (index >= ep->request_count)
		return NULL;
	req = &ep->request_slabs[index / REQUESTS_PER_SLAB][index % REQUESTS_PER_SLAB];
	if (req->generation != cookie >> 32 || req->state != REQUEST_ACTIVE)
		return NULL;
	return req;
}

static cold void request_unbind(struct omx__request *req)
{
	if (req->deadline)
		omx__timer_stop(req);
	omx__region_put(req);
	if (omx__request_is_access(req))
		omx__access_uncount(req);
	req->bound = false;
}

void omx__request_done(struct omx__request *req, omx_return_t code)
{
	struct omx__endpoint *ep = req->ep;

	if (unlikely(req->bound))
		request_unbind(req);
	req->status.code = code;
	if (req->zombie) {
		omx__request_free(req);
		return;
	}
	req->state = REQUEST_DONE;
	if (unlikely(req->internal))
		return;
	req->item.match_info = req->status.match_info;
	omx__queue_append(&ep->done, &req->item);
	if (unlikely(ep->any_sleepers) && !ep->consuming)
		ep->wake = true;
}

void omx__request_abort(struct omx__request *req, omx_return_t code)
{
	if (req->state == REQUEST_POSTED)
		omx__posted_remove(&req->ep->posted, req);
	else
		list_remove(&req->node);
	if (unlikely(req->conditional))
		omx__when_withdraw(req);
	omx__region_withdraw(req);
	if (req->ep->sleepers && !req->ep->consuming)
		req->ep->wake = true;
	omx__request_done(req, code);
}

void omx__requests_abort(struct list *requests, omx_return_t code)
{
	while (!list_empty(requests))
		omx__request_abort(list_entry(requests->next, struct omx__request, node), code);
}

void omx__request_drop(struct omx__request *req)
{
	req->zombie = true;
	omx__request_abort(req, OMX_CANCELLED);
}

void omx__request_take(struct omx__request *req, omx_status_t *status)
{
	if (status)
		*status = req->status;
	if (likely(!req->internal))
		omx__queue_remove(&req->ep->done, &req->item);
	omx__request_free(req);
}
