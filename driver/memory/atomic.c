// SPDX-License-Identifier: GPL-2.0
/*
 * Atomic accesses of peers to words of a region (onesided/perform.c).  Called in
 * softirq, or in process context with BH off.
 *
 * All operations are loops around a compare-and-exchange, so that one function has
 * them all.  It excludes atomic instructions of programs because they have the same
 * page mapped; the lock of the extent only keeps the page.
 */
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/highmem.h>
#include <linux/minmax.h>
#include <linux/mm.h>

#include "memory/atomic.h"
#include "memory/cursor.h"
#include "omx_wire.h"

/* Each failure means that somebody else has changed the word. */
#define TRIES		64

static u64 word_truncate(u64 value, u8 size)
{
	return size == sizeof(u32) ? (u32)value : value;
}

static s64 word_signed(u64 value, u8 size)
{
	return sign_extend64(value, 8 * size - 1);
}

/* What becomes of a word that has this value.  The upper half of a short one is 0. */
static u64 word_changed(const struct omx_word_change *change, u64 word)
{
	const u8 size = change->size;
	const u64 operand = word_truncate(change->operand, size);

	switch (change->operation) {
	case OMX_WIRE_ADD:
		return word_truncate(word + operand, size);
	case OMX_WIRE_AND:
		return word & operand;
	case OMX_WIRE_OR:
		return word | operand;
	case OMX_WIRE_XOR:
		return word ^ operand;
	case OMX_WIRE_SWAP:
		return operand;
	case OMX_WIRE_MIN:
		return word_signed(operand, size) < word_signed(word, size) ? operand : word;
	case OMX_WIRE_MAX:
		return word_signed(operand, size) > word_signed(word, size) ? operand : word;
	case OMX_WIRE_UMIN:
		return min(operand, word);
	case OMX_WIRE_UMAX:
		return max(operand, word);
	default:		/* OMX_WIRE_COMPARE_SWAP */
		return word == word_truncate(change->compare, size) ? operand : word;
	}
}

static int word_change_long(u64 *word, const struct omx_word_change *change, u64 *before)
{
	u64 old = READ_ONCE(*word);
	unsigned int i;

	for (i = 0; i < TRIES; i++) {
		if (!try_cmpxchg64(word, &old, word_changed(change, old)))
			continue;
		*before = old;
		return 0;
	}
	return -EAGAIN;
}

static int word_change_short(u32 *word, const struct omx_word_change *change, u64 *before)
{
	u32 old = READ_ONCE(*word);
	unsigned int i;

	for (i = 0; i < TRIES; i++) {
		if (!try_cmpxchg(word, &old, (u32)word_changed(change, old)))
			continue;
		*before = old;
		return 0;
	}
	return -EAGAIN;
}

/* The extent's lock is held, and the cursor has found the page. */
static int word_change(const struct omx_cursor *cursor,
			 const struct omx_word_change *change, u64 *before)
{
	void *page = kmap_local_page(cursor->page);
	void *word = page + cursor->page_offset;
	int error;

	lockdep_assert_held(&cursor->extent->lock);
	if (change->size == sizeof(u64))
		error = word_change_long(word, change, before);
	else
		error = word_change_short(word, change, before);
	if (ARCH_IMPLEMENTS_FLUSH_DCACHE_PAGE)
		flush_dcache_folio(page_folio(cursor->page));
	kunmap_local(page);
	return error;
}

static bool atomic_is_aligned(struct omx_cursor *cursor, u8 size)
{
	u64 in_segment, address = omx_cursor_address(cursor, &in_segment);

	return !(address & (size - 1)) && in_segment >= size;
}

int omx_region_atomic(struct omx_cursor *cursor, u64 offset,
		      const struct omx_word_change *change, u64 *before)
{
	struct omx_extent *extent;
	int error = -EAGAIN;

	if (!omx_cursor_seek(cursor, offset, change->size) ||
	    !atomic_is_aligned(cursor, change->size))
		return -EINVAL;
	extent = omx_cursor_extent(cursor);
	if (!extent)
		return -EAGAIN;
	spin_lock(&extent->lock);
	if (omx_cursor_usable(cursor))
		error = word_change(cursor, change, before);
	spin_unlock(&extent->lock);
	return error;
}
