/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Changes of single words of a region, atomic with respect to each other and to
 * atomic instructions of the program that owns the memory.
 */
#ifndef OMX_ATOMIC_H
#define OMX_ATOMIC_H

#include <linux/types.h>

struct omx_cursor;

struct omx_word_change {
	u64 operand;
	u64 compare;			/* of COMPARE_SWAP */
	u8 operation;			/* enum omx_wire_operation */
	u8 size;			/* 4 or 8 */
};

/*
 * Changes the word at the offset and stores in *before what it was.  The caller owns
 * the cursor, which is for writing, and has BH off.  -EAGAIN: the page is absent
 * (omx_region_page_in() brings it), or others keep changing the word; -EINVAL: the
 * word is not in one segment of the region, or its address is not a multiple of its
 * size.
 */
int omx_region_atomic(struct omx_cursor *cursor, u64 offset,
		      const struct omx_word_change *change, u64 *before);

#endif
