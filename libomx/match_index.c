/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The hash table of an index.  See match_index.h.
 */
#include "match_index.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_BITS	5
#define GOLDEN_RATIO	0x9e3779b97f4a7c15u	/* 2^64 / phi, rounded to an odd number */

static uint32_t index_size(const struct match_index *index)
{
	return 1u << index->bits;
}

/*
 * Not seeded: the programs of one job choose the match info, and they can slow each
 * other down in simpler ways than by a search for keys with the same hash.
 */
static struct match_link **index_bucket(const struct match_index *index, uint64_t key)
{
	return &index->buckets[(key * GOLDEN_RATIO) >> (64 - index->bits)];
}

static struct match_link *item_link(const struct match_index *index, struct match_item *item)
{
	return (struct match_link *)((char *)item + index->link);
}

static struct match_item *link_item(const struct match_index *index, struct match_link *link)
{
	return (struct match_item *)((char *)link - index->link);
}

static uint64_t link_key(const struct match_index *index, struct match_link *link)
{
	return link_item(index, link)->match_info & index->mask;
}

/* Where the table points to the first item with this key, or to NULL if there is none. */
static struct match_link **index_place(const struct match_index *index, uint64_t key)
{
	struct match_link **place = index_bucket(index, key);

	while (*place && link_key(index, *place) != key)
		place = &(*place)->chain;
	return place;
}

bool omx__index_start(struct match_index *index, uint64_t mask, uint32_t link)
{
	if (!index->buckets) {
		index->buckets = calloc(1u << FIRST_BITS, sizeof(*index->buckets));
		if (!index->buckets)
			return false;
		index->bits = FIRST_BITS;
		index->most_keys = 1u << FIRST_BITS;
	} else if (index->keys) {
		memset(index->buckets, 0, index_size(index) * sizeof(*index->buckets));
	}
	index->keys = 0;
	index->mask = mask;
	index->link = link;
	return true;
}

void omx__index_free(struct match_index *index)
{
	free(index->buckets);
	*index = (struct match_index){ 0 };
}

static void index_move_chain(struct match_index *index, struct match_link *link)
{
	while (link) {
		struct match_link *next = link->chain;
		struct match_link **bucket = index_bucket(index, link_key(index, link));

		link->chain = *bucket;
		*bucket = link;
		link = next;
	}
}

static cold void index_grow(struct match_index *index)
{
	struct match_link **old = index->buckets;
	uint32_t size = index_size(index);
	uint32_t i;

	index->buckets = calloc(2 * (size_t)size, sizeof(*index->buckets));
	if (!index->buckets) {
		index->buckets = old;
		/* Not before the chains are twice as long. */
		index->most_keys = 2 * index->keys;
		return;
	}
	index->bits++;
	index->most_keys = 2 * size;
	for (i = 0; i < size; i++)
		index_move_chain(index, old[i]);
	free(old);
}

void omx__index_add(struct match_index *index, struct match_item *item)
{
	struct match_link **place = index_place(index, item->match_info & index->mask);
	struct match_link *link = item_link(index, item);

	if (*place) {
		list_append(&(*place)->same, &link->same);
		return;
	}
	list_init(&link->same);
	link->chain = NULL;
	*place = link;
	if (++index->keys > index->most_keys)
		index_grow(index);
}

/* The second item with the key, if there is one, takes the place of the first. */
static void index_remove_first(struct match_index *index, struct match_link **place)
{
	struct match_link *link = *place;
	struct match_link *next;

	if (list_empty(&link->same)) {
		*place = link->chain;
		index->keys--;
		return;
	}
	next = list_entry(link->same.next, struct match_link, same);
	next->chain = link->chain;
	*place = next;
	list_remove(&link->same);
}

void omx__index_remove(struct match_index *index, struct match_item *item)
{
	struct match_link **place = index_place(index, item->match_info & index->mask);
	struct match_link *link = item_link(index, item);

	if (*place == link)
		index_remove_first(index, place);
	else
		list_remove(&link->same);
}

struct match_item *omx__index_find(const struct match_index *index, uint64_t match_info)
{
	struct match_link *first = *index_place(index, match_info & index->mask);

	return first ? link_item(index, first) : NULL;
}
