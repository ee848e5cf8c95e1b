/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The indexes of a queue: which masks have one.  See match_queue.h.
 */
#include "match_queue.h"

/*
 * An index that was of no use in so many searches without one gives up its place.
 * To make an index takes a few times as long as such a search.
 */
#define WALKS_MAX	64

void omx__queue_init(struct match_queue *queue, uint32_t links)
{
	*queue = (struct match_queue){ .links = links };
	list_init(&queue->items);
}

void omx__queue_free(struct match_queue *queue)
{
	uint32_t i;

	for (i = 0; i < MATCH_LINKS; i++)
		omx__index_free(&queue->indexes[i]);
	omx__queue_init(queue, queue->links);
}

void omx__queue_index(struct match_queue *queue, struct match_item *item)
{
	uint32_t i;

	for (i = 0; i < queue->indexed; i++)
		omx__index_add(&queue->indexes[i], item);
}

void omx__queue_unindex(struct match_queue *queue, struct match_item *item)
{
	uint32_t i;

	for (i = 0; i < queue->indexed; i++)
		omx__index_remove(&queue->indexes[i], item);
	if (list_empty(&queue->items))
		queue->indexed = 0;
}

/* Which index may get another mask?  MATCH_LINKS: none. */
static uint32_t queue_choose(const struct match_queue *queue)
{
	uint32_t oldest = 0;
	uint32_t i;

	if (queue->indexed < MATCH_LINKS)
		return queue->indexed;
	for (i = 1; i < MATCH_LINKS; i++) {
		if (queue->walks - queue->used[i] > queue->walks - queue->used[oldest])
			oldest = i;
	}
	return queue->walks - queue->used[oldest] >= WALKS_MAX ? oldest : MATCH_LINKS;
}

static struct match_index *queue_make_index(struct match_queue *queue, uint64_t mask)
{
	uint32_t i = queue_choose(queue);
	uint32_t link = queue->links + i * (uint32_t)sizeof(struct match_link);
	struct list *node;

	if (i == MATCH_LINKS || !omx__index_start(&queue->indexes[i], mask, link))
		return NULL;
	if (i == queue->indexed)
		queue->indexed++;
	queue->used[i] = queue->walks;
	for (node = queue->items.next; node != &queue->items; node = node->next)
		omx__index_add(&queue->indexes[i], list_entry(node, struct match_item, node));
	return &queue->indexes[i];
}

/* NULL: there is none, and none can be made. */
static struct match_index *queue_index_for(struct match_queue *queue, uint64_t mask)
{
	uint32_t i;

	for (i = 0; i < queue->indexed; i++) {
		if (queue->indexes[i].mask == mask) {
			queue->used[i] = queue->walks;
			return &queue->indexes[i];
		}
	}
	return queue_make_index(queue, mask);
}

static struct match_item *queue_walk(struct match_queue *queue, uint64_t match_info,
				     uint64_t match_mask)
{
	struct list *node;

	queue->walks++;
	for (node = queue->items.next; node != &queue->items; node = node->next) {
		struct match_item *item = list_entry(node, struct match_item, node);

		if (omx__matches(item->match_info, match_info, match_mask))
			return item;
	}
	return NULL;
}

struct match_item *omx__queue_search(struct match_queue *queue, uint64_t match_info,
				     uint64_t match_mask)
{
	struct match_index *index = queue_index_for(queue, match_mask);

	return index ? omx__index_find(index, match_info) :
		       queue_walk(queue, match_info, match_mask);
}
