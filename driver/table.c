// SPDX-License-Identifier: GPL-2.0
#include <linux/slab.h>

#include "table.h"

#define FIRST_SIZE	64

struct omx_table_slots {
	struct rcu_head rcu;
	u32 size;			/* power of two */
	void __rcu *slot[];
};

void omx_table_init(struct omx_table *table)
{
	spin_lock_init(&table->lock);
	RCU_INIT_POINTER(table->slots, NULL);
	table->count = 0;
	table->hint = 0;
	table->generation = 1;
}

void omx_table_destroy(struct omx_table *table)
{
	kfree(rcu_dereference_protected(table->slots, true));
	RCU_INIT_POINTER(table->slots, NULL);
}

static struct omx_table_slots *slots_locked(struct omx_table *table)
{
	return rcu_dereference_protected(table->slots,
					 lockdep_is_held(&table->lock));
}

static bool is_full(struct omx_table *table)
{
	struct omx_table_slots *slots = slots_locked(table);

	return !slots || table->count == slots->size;
}

/* Puts the copied, doubled array in place unless somebody else did. */
static void replace_slots(struct omx_table *table, struct omx_table_slots *new)
{
	struct omx_table_slots *old = slots_locked(table);
	u32 i;

	for (i = 0; old && i < old->size; i++)
		RCU_INIT_POINTER(new->slot[i],
				 rcu_dereference_protected(old->slot[i],
						lockdep_is_held(&table->lock)));
	table->hint = old ? old->size : 0;
	rcu_assign_pointer(table->slots, new);
	if (old)
		kfree_rcu(old, rcu);
}

static int grow(struct omx_table *table, u32 size, gfp_t gfp)
{
	struct omx_table_slots *new;

	if (size > OMX_TABLE_SLOTS_MAX)
		return -ENOSPC;
	new = kzalloc(struct_size(new, slot, size), gfp | __GFP_NOWARN);
	if (!new)
		return -ENOMEM;
	new->size = size;

	spin_lock_bh(&table->lock);
	if (is_full(table) &&
	    (!slots_locked(table) || slots_locked(table)->size < size)) {
		replace_slots(table, new);
		new = NULL;
	}
	spin_unlock_bh(&table->lock);
	kfree(new);
	return 0;
}

static u32 free_slot(struct omx_table *table, struct omx_table_slots *slots)
{
	u32 i = table->hint;

	while (rcu_access_pointer(slots->slot[i & (slots->size - 1)]))
		i++;
	table->hint = i + 1;
	return i & (slots->size - 1);
}

static u32 next_generation(struct omx_table *table)
{
	if (++table->generation >> (32 - OMX_TABLE_SLOT_BITS))
		table->generation = 1;
	return table->generation << OMX_TABLE_SLOT_BITS;
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
		error = grow(table, size, gfp);
		if (error)
			return error;
		spin_lock_bh(&table->lock);
	}
	slots = slots_locked(table);
	*id = next_generation(table) | free_slot(table, slots);
	table->count++;
	/* The number, usually inside the object, is complete before it is found. */
	rcu_assign_pointer(slots->slot[*id & (OMX_TABLE_SLOTS_MAX - 1)], object);
	spin_unlock_bh(&table->lock);
	return 0;
}

void *omx_table_pop(struct omx_table *table, u32 id)
{
	u32 index = id & (OMX_TABLE_SLOTS_MAX - 1);
	struct omx_table_slots *slots;
	void *object = NULL;

	spin_lock_bh(&table->lock);
	slots = slots_locked(table);
	if (slots && index < slots->size)
		object = rcu_dereference_protected(slots->slot[index],
						   lockdep_is_held(&table->lock));
	if (object && *(u32 *)object == id) {
		RCU_INIT_POINTER(slots->slot[index], NULL);
		table->count--;
	} else {
		object = NULL;
	}
	spin_unlock_bh(&table->lock);
	return object;
}

bool omx_table_take(struct omx_table *table, u32 id, const void *object)
{
	u32 index = id & (OMX_TABLE_SLOTS_MAX - 1);
	struct omx_table_slots *slots;
	bool taken = false;

	spin_lock_bh(&table->lock);
	slots = slots_locked(table);
	if (slots && index < slots->size &&
	    rcu_access_pointer(slots->slot[index]) == object) {
		RCU_INIT_POINTER(slots->slot[index], NULL);
		table->count--;
		taken = true;
	}
	spin_unlock_bh(&table->lock);
	return taken;
}

void omx_table_remove(struct omx_table *table, u32 id)
{
	struct omx_table_slots *slots;

	spin_lock_bh(&table->lock);
	slots = slots_locked(table);
	RCU_INIT_POINTER(slots->slot[id & (OMX_TABLE_SLOTS_MAX - 1)], NULL);
	table->count--;
	spin_unlock_bh(&table->lock);
}

void *omx_table_find(struct omx_table *table, u32 id)
{
	struct omx_table_slots *slots = rcu_dereference(table->slots);
	u32 slot = id & (OMX_TABLE_SLOTS_MAX - 1);

	if (!slots || slot >= slots->size)
		return NULL;
	return rcu_dereference(slots->slot[slot]);
}

void *omx_table_next(struct omx_table *table, u32 *slot)
{
	struct omx_table_slots *slots;
	void *object = NULL;

	spin_lock_bh(&table->lock);
	slots = slots_locked(table);
	while (slots && !object && *slot < slots->size)
		object = rcu_dereference_protected(slots->slot[(*slot)++],
						   lockdep_is_held(&table->lock));
	spin_unlock_bh(&table->lock);
	return object;
}
