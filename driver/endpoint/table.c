// SPDX-License-Identifier: GPL-2.0
/*
 * Tables that number objects and find them by their number.
 *
 * ioctls and frames look numbers up under RCU; objects are added and removed in
 * any context.  It is plain data with a lock, and unit-tested in user space.
 */
#include <linux/kernel.h>
#include <linux/slab.h>

#include "endpoint/table.h"
#include "observe/lock_order.h"

#define FIRST_SIZE	64

struct omx_table_slots {
	struct rcu_head rcu;
	u32 size;			/* power of two */
	void __rcu *slot[];
};

void omx_table_init(struct omx_table *table)
{
	omx_spin_lock_init(&table->lock, OMX_LOCK_TABLE);
	RCU_INIT_POINTER(table->slots, NULL);
	table->count = 0;
	table->last = 0;
}

void omx_table_destroy(struct omx_table *table)
{
	kvfree(rcu_dereference_protected(table->slots, true));
	RCU_INIT_POINTER(table->slots, NULL);
}

static struct omx_table_slots *slots_locked(struct omx_table *table)
{
	return rcu_dereference_protected(table->slots,
					 lockdep_is_held(&table->lock));
}

static u32 number_of(const void *object)
{
	/* Its owner may change the upper bits now, see omx_table_renumber(). */
	return READ_ONCE(*(const u32 *)object);
}

/* Where the object with this number is, if there is one. */
static void __rcu **place_of(struct omx_table_slots *slots, u32 id)
{
	return &slots->slot[id & (slots->size - 1)];
}

static bool is_full(struct omx_table *table)
{
	struct omx_table_slots *slots = slots_locked(table);

	/* With few free slots the search for one would be long. */
	return !slots || table->count >= slots->size - slots->size / 8;
}

/* No two meet in the larger array that have not in the smaller one. */
static void copy_slots(struct omx_table *table, struct omx_table_slots *new,
		       struct omx_table_slots *old)
{
	void *object;
	u32 i;

	for (i = 0; i < old->size; i++) {
		object = rcu_dereference_protected(old->slot[i],
						   lockdep_is_held(&table->lock));
		if (object)
			RCU_INIT_POINTER(*place_of(new, number_of(object)), object);
	}
}

/* Puts the larger array in place.  Readers of the old one still find all. */
static void replace_slots(struct omx_table *table, struct omx_table_slots *new)
{
	struct omx_table_slots *old = slots_locked(table);

	if (old)
		copy_slots(table, new, old);
	rcu_assign_pointer(table->slots, new);
	if (old)
		kvfree_rcu(old, rcu);
}

static int table_grow(struct omx_table *table, u32 size, gfp_t gfp)
{
	struct omx_table_slots *new;

	if (size > OMX_TABLE_SLOTS_MAX)
		return -ENOSPC;
	new = kvzalloc(struct_size(new, slot, size), gfp | __GFP_NOWARN);
	if (!new)
		return -ENOMEM;
	new->size = size;

	spin_lock_bh(&table->lock);
	/* Somebody else may have been faster, or made room. */
	if (is_full(table) &&
	    (!slots_locked(table) || slots_locked(table)->size < size)) {
		replace_slots(table, new);
		new = NULL;
	}
	spin_unlock_bh(&table->lock);
	kvfree(new);
	return 0;
}

static u32 next_number(struct omx_table *table, struct omx_table_slots *slots)
{
	do {
		table->last++;
	} while (!table->last || table->last == U32_MAX ||
		 rcu_access_pointer(*place_of(slots, table->last)));
	return table->last;
}

int omx_table_add(struct omx_table *table, void *object, u32 *id, gfp_t gfp)
{
	struct omx_table_slots *slots;
	int error;
	u32 size;

	spin_lock_bh(&table->lock);
	while (is_full(table)) {
		slots = slots_locked(table);
		size = slots ? slots->size * 2 : FIRST_SIZE;
		spin_unlock_bh(&table->lock);
		error = table_grow(table, size, gfp);
		if (error)
			return error;
		spin_lock_bh(&table->lock);
	}
	slots = slots_locked(table);
	*id = next_number(table, slots);
	WRITE_ONCE(table->count, table->count + 1);
	/* The number is complete before the object is found. */
	rcu_assign_pointer(*place_of(slots, *id), object);
	spin_unlock_bh(&table->lock);
	return 0;
}

static void *object_locked(struct omx_table *table, u32 id)
{
	struct omx_table_slots *slots = slots_locked(table);

	return slots ? rcu_dereference_protected(*place_of(slots, id),
						 lockdep_is_held(&table->lock)) : NULL;
}

static void clear(struct omx_table *table, u32 id)
{
	lockdep_assert_held(&table->lock);
	RCU_INIT_POINTER(*place_of(slots_locked(table), id), NULL);
	WRITE_ONCE(table->count, table->count - 1);
}

void *omx_table_pop(struct omx_table *table, u32 id)
{
	void *object;

	spin_lock_bh(&table->lock);
	object = object_locked(table, id);
	if (object && number_of(object) == id)
		clear(table, id);
	else
		object = NULL;
	spin_unlock_bh(&table->lock);
	return object;
}

bool omx_table_claim(struct omx_table *table, u32 id, const void *object)
{
	bool taken;

	spin_lock_bh(&table->lock);
	taken = object_locked(table, id) == object;
	if (taken)
		clear(table, id);
	spin_unlock_bh(&table->lock);
	return taken;
}

void omx_table_remove(struct omx_table *table, u32 id)
{
	spin_lock_bh(&table->lock);
	clear(table, id);
	spin_unlock_bh(&table->lock);
}

void *omx_table_find(struct omx_table *table, u32 id)
{
	struct omx_table_slots *slots = rcu_dereference(table->slots);

	return slots ? rcu_dereference(*place_of(slots, id)) : NULL;
}

void *omx_table_next(struct omx_table *table, u32 *slot)
{
	struct omx_table_slots *slots;
	void *object = NULL;

	if (!READ_ONCE(table->count))
		return NULL;
	spin_lock_bh(&table->lock);
	slots = slots_locked(table);
	while (!object && *slot < slots->size)
		object = rcu_dereference_protected(slots->slot[(*slot)++],
						   lockdep_is_held(&table->lock));
	spin_unlock_bh(&table->lock);
	return object;
}
