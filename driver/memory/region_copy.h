/* SPDX-License-Identifier: GPL-2.0 */
/*
 * These functions copy from one region to another one, for messages between two
 * processes of one host.
 */
#ifndef OMX_REGION_COPY_H
#define OMX_REGION_COPY_H

#include <linux/types.h>

struct omx_cursor;
struct omx_region;

/*
 * Copies length bytes at from_offset of one region to to_offset of another one.
 * The caller owns both cursors; BH off.  -EAGAIN: a page is absent, and
 * *lacks_source tells on which side; -ENOENT: the source has been withdrawn.
 */
int omx_region_copy(struct omx_cursor *from, u64 from_offset, struct omx_cursor *to,
		    u64 to_offset, u32 length, bool *lacks_source);
/*
 * Copies the first length bytes into a region of the current program.  Process
 * context; sleeps for pages of the current program, but not for those of the
 * source.  -EAGAIN: a page of the source is absent, *done bytes have been copied;
 * -ENOENT: the source was withdrawn meanwhile, the bytes may be wrong.
 */
int omx_region_copy_to_user(struct omx_region *from, struct omx_region *to,
			    u64 length, u64 *done);

#endif
