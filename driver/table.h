/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers for objects that programs or peers name: a slot and a generation,
 * so that a number that was given back names nothing for a long time.
 *
 * Readers use RCU and must compare the object's own copy of the number:
 * the slot may have been given to another object meanwhile.
 */
#ifndef OMX_TABLE_H
#define OMX_TABLE_H

#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#define OMX_TABLE_SLOT_BITS	16
#define OMX_TABLE_SLOTS_MAX	(1u << OMX_TABLE_SLOT_BITS)

struct omx_table_slots;

struct omx_table {
	spinlock_t lock;		/* taken with BH off; innermost */
	struct omx_table_slots __rcu *slots;
	u32 count;
	u32 hint;			/* where to look for a free slot */
	u32 generation;
};

void omx_table_init(struct omx_table *table);
/* Nobody uses it any more.  Objects still inside are the caller's. */
void omx_table_destroy(struct omx_table *table);

/* Never gives 0.  -ENOSPC: OMX_TABLE_SLOTS_MAX in use.  -ENOMEM. */
int omx_table_add(struct omx_table *table, void *object, u32 *id, gfp_t gfp);
void omx_table_remove(struct omx_table *table, u32 id);
/*
 * Removes and returns the object with this number, which must be its first
 * member, or NULL.  For objects that are found in no other way.
 */
void *omx_table_pop(struct omx_table *table, u32 id);
/* Removes it if it is still there: true for one caller only. */
bool omx_table_take(struct omx_table *table, u32 id, const void *object);

/* RCU read lock held. */
void *omx_table_find(struct omx_table *table, u32 id);

/* Object in the first used slot at or after *slot, which is moved behind it. */
void *omx_table_next(struct omx_table *table, u32 *slot);

#endif
