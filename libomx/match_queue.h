/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A queue whose oldest item that matches is looked for by match info and mask:
 * unexpected messages, messages that omx_improbe has returned, and completed
 * requests.  Posted receives, which have the mask themselves, are in posted.h.
 *
 * A search walks along the first few items.  If none of them matches and there are
 * more, it makes an index for its mask, which stays until the queue is empty or
 * other masks need its place.  So the items of others cost nothing where queues
 * are long, and no index costs anything where they are short.
 *
 * Programs use few masks.  With more than MATCH_LINKS in turn, searches with some
 * of them walk along the whole queue.
 *
 * Must hold the endpoint's lock.
 */
#ifndef OMX_MATCH_QUEUE_H
#define OMX_MATCH_QUEUE_H

#include "match_index.h"

#define MATCH_LINKS	4	/* indexes that an item can be in */
#define MATCH_WALK	8	/* items that are looked at without an index */

struct match_queue {
	struct list items;	/* the oldest first */
	uint32_t links;		/* OMX_MATCH_LINKS of the objects */
	uint32_t indexed;	/* so many of `indexes` are in use; 0 when the queue is empty */
	uint32_t walks;		/* searches without an index */
	uint32_t used[MATCH_LINKS];	/* `walks` when the index was last of use */
	struct match_index indexes[MATCH_LINKS];
};

/* links: OMX_MATCH_LINKS of the objects, each of which has MATCH_LINKS links. */
void omx__queue_init(struct match_queue *queue, uint32_t links);
/* Empties the queue and frees the indexes; the items are the caller's. */
void omx__queue_free(struct match_queue *queue);

/* The parts that only long queues need. */
void omx__queue_index(struct match_queue *queue, struct match_item *item);
void omx__queue_unindex(struct match_queue *queue, struct match_item *item);
struct match_item *omx__queue_search(struct match_queue *queue, uint64_t match_info,
				     uint64_t match_mask);

/* The caller has set item->match_info. */
static inline void omx__queue_append(struct match_queue *queue, struct match_item *item)
{
	list_append(&queue->items, &item->node);
	if (__builtin_expect(queue->indexed, 0))
		omx__queue_index(queue, item);
}

static inline void omx__queue_remove(struct match_queue *queue, struct match_item *item)
{
	list_remove(&item->node);
	if (__builtin_expect(queue->indexed, 0))
		omx__queue_unindex(queue, item);
}

/* The oldest item that matches; NULL: there is none. */
static inline struct match_item *omx__queue_find(struct match_queue *queue,
						 uint64_t match_info, uint64_t match_mask)
{
	struct list *node = queue->items.next;
	uint32_t walked;

	for (walked = 0; node != &queue->items && walked < MATCH_WALK; walked++) {
		struct match_item *item = list_entry(node, struct match_item, node);

		if (omx__matches(item->match_info, match_info, match_mask))
			return item;
		if (queue->indexed)
			break;
		node = node->next;
	}
	if (__builtin_expect(node == &queue->items, 1))
		return NULL;
	return omx__queue_search(queue, match_info, match_mask);
}

#endif
