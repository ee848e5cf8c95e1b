/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An index is a hash table that finds the items of a queue by those bits of their
 * match info that its mask selects.  Items with the same bits (a key) are in a
 * list, in the order in which they were added, and only the first of them is in
 * the table.  So neither many items with one key nor many keys make a search long.
 *
 * Everything is linked through the items: only the table itself is allocated.  It
 * doubles when there are as many keys as buckets, and if there is no memory for
 * that, the chains grow instead.
 *
 * Used by posted.c for receives, and by match_queue.c for what a receive, a probe
 * or a test looks for.  Must hold the endpoint's lock.
 */
#ifndef OMX_MATCH_INDEX_H
#define OMX_MATCH_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "list.h"

struct match_link {
	struct match_link *chain;	/* first of its key: the next key in the bucket */
	struct list same;		/* the items with its key, a ring */
};

/* A part of the object that is looked for, which also has its links. */
struct match_item {
	struct list node;
	uint64_t match_info;	/* does not change while the item is in an index */
};

struct match_index {
	uint64_t mask;
	struct match_link **buckets;	/* NULL: not allocated yet */
	uint32_t bits;		/* there are 2^bits buckets */
	uint32_t link;		/* the offset of the link that it uses from the item */
	uint32_t keys;		/* in the table */
	uint32_t most_keys;	/* with more of them the table must grow */
};

/* The offset of an object's array of links from its item. */
#define OMX_MATCH_LINKS(type) \
	((uint32_t)(offsetof(type, links) - offsetof(type, item)))

static inline bool omx__matches(uint64_t incoming, uint64_t match_info, uint64_t match_mask)
{
	return (incoming & match_mask) == match_info;
}

/* Begins with no items.  False: out of memory. */
bool omx__index_start(struct match_index *index, uint64_t mask, uint32_t link);
void omx__index_free(struct match_index *index);

void omx__index_add(struct match_index *index, struct match_item *item);
void omx__index_remove(struct match_index *index, struct match_item *item);

/* The item added first among those with these bits; NULL: there is none. */
struct match_item *omx__index_find(const struct match_index *index, uint64_t match_info);

#endif
