/* SPDX-License-Identifier: BSD-2-Clause */
/* In place of the driver's: the pages of a region are present up to some offset. */
#ifndef OMX_CURSOR_H
#define OMX_CURSOR_H

#include "memory/region.h"
#include "memory/space.h"

struct omx_cursor {
	struct omx_region *region;
	u64 offset;			/* behind the last access */
};

static inline void omx_cursor_init(struct omx_cursor *cursor, struct omx_region *region,
				   u8 access)
{
	*cursor = (struct omx_cursor){ .region = region };
}

static inline void omx_cursor_limit(struct omx_cursor *cursor, u64 end)
{
}

static inline void omx_cursor_end(struct omx_cursor *cursor)
{
}

int omx_cursor_look(struct omx_cursor *cursor, u64 offset, u64 length);

#endif
