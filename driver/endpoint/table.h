/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers for objects that programs or peers name.  They count up, and skip
 * those whose slot is in use: a number that was given back names nothing until
 * all others have had their turn, or the high bits all their values if an object
 * keeps its slot (below).  Its low bits, as many as the table has slots
 * for, are its slot, so that lookup is one access.
 *
 * The number is the first member of its object, a u32: a table that grows reads
 * it.  Readers use RCU and must compare it with the one they look for: the slot
 * may be, or have become, another object's.
 *
 * An object that is used again and again may keep its slot and change its number.
 */
#ifndef OMX_TABLE_H
#define OMX_TABLE_H

#include <linux/kernel.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/types.h>

/* Objects that a table holds at most: some slots stay free, to be found soon. */
#define OMX_TABLE_SLOTS_MAX	(1u << 20)
#define OMX_TABLE_MAX		(OMX_TABLE_SLOTS_MAX - OMX_TABLE_SLOTS_MAX / 8)

struct omx_table_slots;

struct omx_table {
	spinlock_t lock;		/* writers; readers use RCU */
	struct omx_table_slots __rcu *slots;
	u32 count;			/* also read unlocked */
	u32 last;			/* number that was given */
};

void omx_table_init(struct omx_table *table);
/* Nobody uses it any more.  Objects still inside are the caller's. */
void omx_table_destroy(struct omx_table *table);

/*
 * Numbers an object, *id being its first member; never 0 nor U32_MAX, which
 * mean something else.  -ENOSPC: OMX_TABLE_MAX are in use.  -ENOMEM.
 */
int omx_table_add(struct omx_table *table, void *object, u32 *id, gfp_t gfp);
void omx_table_remove(struct omx_table *table, u32 id);
/*
 * Removes and returns the object with this number, or NULL.  For objects that
 * are found in no other way.
 */
void *omx_table_pop(struct omx_table *table, u32 id);
/* Removes it if it is still there: true for one caller only. */
bool omx_table_claim(struct omx_table *table, u32 id, const void *object);

/*
 * Another number for the same slot, however large the table is or grows.  The owner of the
 * object writes it with WRITE_ONCE() while nobody is to find the object.  It comes again
 * after 4095 others.
 */
static inline u32 omx_table_renumber(u32 id)
{
	do
		id += OMX_TABLE_SLOTS_MAX;
	while (!id || id == U32_MAX);
	return id;
}

/* RCU read lock held. */
void *omx_table_find(struct omx_table *table, u32 id);

/*
 * Object in the first used slot at or after *slot, which is moved behind it.  If
 * the table grows meanwhile, an object may come twice.
 */
void *omx_table_next(struct omx_table *table, u32 *slot);

#endif
