/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The region cache is a hash table of regions by their memory, with a list of the
 * idle ones in the order of their last use.  See regcache.h.
 */
#include "regcache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "endpoint.h"
#include "environment.h"
#include "region.h"

#define BUCKETS		512

struct regcache {
	struct region *buckets[BUCKETS];
	struct list idle;	/* least recently used first */
	struct list doomed;
	uint64_t count;		/* of all regions in the buckets */
	uint64_t bytes;
};

/* ---- the hash table ------------------------------------------------------------ */

static uint64_t hash_mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

static uint64_t hash_of(const struct omx_buffer *buffer, uint32_t flags)
{
	const struct omx_segment *segments = omx__buffer_segments(buffer);
	uint64_t hash = hash_mix(flags, buffer->length);
	uint32_t i;

	if (!buffer->segment_count)
		return hash_mix(hash, buffer->address);
	for (i = 0; i < buffer->segment_count; i++)
		hash = hash_mix(hash_mix(hash, segments[i].address), segments[i].length);
	return hash;
}

static bool same_memory(const struct omx_buffer *a, const struct omx_buffer *b)
{
	if (a->length != b->length || a->segment_count != b->segment_count)
		return false;
	if (!a->segment_count)
		return a->address == b->address;
	return !memcmp(omx__buffer_segments(a), omx__buffer_segments(b),
		       a->segment_count * sizeof(struct omx_segment));
}

static struct region *regcache_find(const struct regcache *cache, const struct omx_buffer *buffer,
				    uint32_t flags, uint64_t hash)
{
	struct region *region = cache->buckets[hash % BUCKETS];

	while (region && !(region->hash == hash && region->flags == flags &&
			   same_memory(&region->buffer, buffer)))
		region = region->next;
	return region;
}

static void regcache_add(struct regcache *cache, struct region *region, uint64_t hash)
{
	struct region **bucket = &cache->buckets[hash % BUCKETS];

	region->hash = hash;
	region->next = *bucket;
	*bucket = region;
	cache->count++;
	cache->bytes += region->buffer.length;
}

static void regcache_forget(struct regcache *cache, struct region *region)
{
	struct region **place = &cache->buckets[region->hash % BUCKETS];

	while (*place != region)
		place = &(*place)->next;
	*place = region->next;
	cache->count--;
	cache->bytes -= region->buffer.length;
}

/* ---- the cache ------------------------------------------------------------------- */

static cold struct regcache *regcache_create(struct omx__endpoint *ep)
{
	struct regcache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	list_init(&cache->idle);
	list_init(&cache->doomed);
	ep->regcache = cache;
	return cache;
}

bool omx__regcache_evict(struct omx__endpoint *ep)
{
	struct regcache *cache = ep->regcache;
	struct region *oldest;

	if (!cache || list_empty(&cache->idle))
		return false;
	oldest = list_entry(cache->idle.next, struct region, node);
	list_remove(&oldest->node);
	regcache_forget(cache, oldest);
	omx__region_free(ep, oldest);
	return true;
}

static bool regcache_fits(const struct regcache *cache, uint64_t length)
{
	return cache->count < omx__settings.rcache_count &&
	       cache->bytes <= omx__settings.rcache_bytes - length;
}

static bool regcache_make_room(struct omx__endpoint *ep, const struct regcache *cache,
			       uint64_t length)
{
	if (length > omx__settings.rcache_bytes)
		return false;
	while (!regcache_fits(cache, length)) {
		if (!omx__regcache_evict(ep))
			return false;
	}
	return true;
}

static struct region *regcache_reuse(struct region *region)
{
	if (!region->users++)
		list_remove(&region->node);
	return region;
}

int omx__regcache_get(struct omx__endpoint *ep, const struct omx_buffer *buffer,
		      uint32_t flags, struct region **found)
{
	struct regcache *cache = ep->regcache ? ep->regcache : regcache_create(ep);
	uint64_t hash = hash_of(buffer, flags);
	struct region *region;
	int err;

	*found = NULL;
	if (!cache)
		return 0;
	region = regcache_find(cache, buffer, flags, hash);
	if (likely(region)) {
		*found = regcache_reuse(region);
		return 0;
	}
	if (!regcache_make_room(ep, cache, buffer->length))
		return 0;
	err = omx__region_make(ep, buffer, flags, &region);
	if (err)
		return err;
	regcache_add(cache, region, hash);
	region->users = 1;
	*found = region;
	return 0;
}

void omx__regcache_put(struct omx__endpoint *ep, struct region *region)
{
	if (--region->users)
		return;
	if (unlikely(region->doomed)) {
		list_remove(&region->node);
		omx__region_free(ep, region);
	} else {
		list_append(&ep->regcache->idle, &region->node);
	}
}

void omx__regcache_doom(struct omx__endpoint *ep, struct region *region)
{
	if (region->doomed)
		return;
	region->doomed = true;
	regcache_forget(ep->regcache, region);
	list_append(&ep->regcache->doomed, &region->node);
}

void omx__regcache_free(struct omx__endpoint *ep)
{
	struct regcache *cache = ep->regcache;
	struct list *node, *next_node;
	struct region *region, *next;
	uint32_t i;

	if (!cache)
		return;
	for (i = 0; i < BUCKETS; i++) {
		for (region = cache->buckets[i]; region; region = next) {
			next = region->next;
			free(region);
		}
	}
	list_for_each(node, next_node, &cache->doomed)
		free(list_entry(node, struct region, node));
	free(cache);
	ep->regcache = NULL;
}
