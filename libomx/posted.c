/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The indexes of posted receives, one for each mask.  See posted.h.
 */
#include "posted.h"

/* A receive is in one index only. */
#define POSTED_LINK	OMX_MATCH_LINKS(struct omx__request)

void omx__posted_init(struct posted *posted)
{
	*posted = (struct posted){ 0 };
	list_init(&posted->receives);
	list_init(&posted->others);
}

void omx__posted_free(struct posted *posted)
{
	uint32_t i;

	for (i = 0; i < POSTED_MASKS; i++)
		omx__index_free(&posted->indexes[i]);
	omx__posted_init(posted);
}

static struct omx__request *other_request(struct list *node)
{
	return list_entry(node, struct omx__request, links[0].same);
}

/* The index of a mask, maybe an empty one.  POSTED_MASKS: it cannot have one now. */
static uint32_t posted_index_for(struct posted *posted, uint64_t mask)
{
	uint32_t filled, i;

	for (filled = posted->filled; filled; filled &= filled - 1) {
		i = (uint32_t)__builtin_ctz(filled);
		if (posted->indexes[i].mask == mask)
			return i;
	}
	i = (uint32_t)__builtin_ctz(~posted->filled);
	if (i < POSTED_MASKS && !omx__index_start(&posted->indexes[i], mask, POSTED_LINK))
		return POSTED_MASKS;
	return i;
}

void omx__posted_index(struct posted *posted, struct omx__request *req)
{
	uint32_t i = posted_index_for(posted, req->match_mask);

	req->number = ++posted->numbers;
	req->posted_in = i;
	if (i == POSTED_MASKS) {
		list_append(&posted->others, &req->links[0].same);
		return;
	}
	omx__index_add(&posted->indexes[i], &req->item);
	posted->filled |= 1u << i;
}

void omx__posted_unindex(struct posted *posted, struct omx__request *req)
{
	uint32_t i = req->posted_in;

	if (i == POSTED_MASKS) {
		list_remove(&req->links[0].same);
	} else {
		omx__index_remove(&posted->indexes[i], &req->item);
		if (!posted->indexes[i].keys)
			posted->filled &= ~(1u << i);
	}
	if (list_empty(&posted->receives))
		posted->indexed = false;
}

/* The earlier one of `best`, which may be NULL, and the first of the others that matches. */
static struct omx__request *others_search(struct posted *posted, uint64_t match_info,
					  struct omx__request *best)
{
	struct list *node;

	for (node = posted->others.next; node != &posted->others; node = node->next) {
		struct omx__request *req = other_request(node);

		if (best && best->number < req->number)
			break;
		if (omx__matches(match_info, req->item.match_info, req->match_mask))
			return req;
	}
	return best;
}

static cold void posted_index_all(struct posted *posted)
{
	struct list *node;

	posted->indexed = true;
	for (node = posted->receives.next; node != &posted->receives; node = node->next)
		omx__posted_index(posted, list_entry(node, struct omx__request, node));
}

struct omx__request *omx__posted_search(struct posted *posted, uint64_t match_info)
{
	struct omx__request *best = NULL;
	uint32_t filled;

	if (!posted->indexed)
		posted_index_all(posted);
	for (filled = posted->filled; filled; filled &= filled - 1) {
		const struct match_index *index =
			&posted->indexes[__builtin_ctz(filled)];
		struct match_item *item = omx__index_find(index, match_info);
		struct omx__request *req =
			item ? list_entry(item, struct omx__request, item) : NULL;

		if (req && (!best || req->number < best->number))
			best = req;
	}
	return others_search(posted, match_info, best);
}
