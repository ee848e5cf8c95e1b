/* SPDX-License-Identifier: GPL-2.0 */
/*
 * These functions move bytes between frames and regions.  The caller owns the
 * cursor, which nobody else uses at the moment, and has BH off.  They return
 * -EAGAIN if a page is absent (omx_region_page_in() brings it), and -EINVAL if
 * the bytes are not in the region.
 */
#ifndef OMX_ACCESS_H
#define OMX_ACCESS_H

#include <linux/types.h>

struct iov_iter;
struct omx_cursor;
struct omx_copies;
struct sk_buff;

/*
 * Attaches length bytes at offset to the frame as page fragments, which have
 * references of their own.  -E2BIG: too many small segments, use
 * omx_region_read().
 */
int omx_region_attach(struct omx_cursor *cursor, u64 offset, u32 length,
		      struct sk_buff *skb);
/*
 * Copies length bytes at offset to skb_offset of a frame, which may have page
 * fragments.  -ENOENT: the region has been withdrawn.  With `copies`, an engine may
 * still be copying some of them after it has returned, even if it fails.
 */
int omx_region_read(struct omx_cursor *cursor, u64 offset, struct sk_buff *skb, int skb_offset,
		    u32 length, struct omx_copies *copies);
/*
 * Copies length bytes at skb_offset of the frame into the region.  With
 * `copies`, DMA may still be copying some of them after it has returned, even if
 * it fails.
 */
int omx_region_fill(struct omx_cursor *cursor, u64 offset, struct sk_buff *skb,
		    int skb_offset, u32 length, struct omx_copies *copies);
/*
 * Copies between the region and memory of the current program, in the direction of the
 * iterator.  -EFAULT: the program's memory is not present.
 */
int omx_region_copy_iter(struct omx_cursor *cursor, u64 offset, struct iov_iter *iter,
			 u32 length);

#endif
