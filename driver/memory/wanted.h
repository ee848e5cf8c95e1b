/* SPDX-License-Identifier: GPL-2.0 */
/*
 * This structure says which pages of one extent are to be paged in, and how.
 * page_in.c fills it in, translate.c and pin.c bring the pages; all in process
 * context.
 */
#ifndef OMX_WANTED_H
#define OMX_WANTED_H

#include <linux/compiler.h>
#include <linux/mmu_notifier.h>
#include <linux/types.h>

#include "memory/extent.h"
#include "memory/page_in.h"
#include "memory/space.h"
#include "net/board.h"

struct omx_wanted {
	struct omx_extent *extent;
	unsigned int first;
	unsigned int count;
	unsigned int how;		/* OMX_PAGES_ flags */
};

static inline u64 omx_wanted_address(const struct omx_wanted *wanted, unsigned int i)
{
	return wanted->extent->start + ((u64)(wanted->first + i) << PAGE_SHIFT);
}

/* The flags that the entries must have. */
static inline unsigned long omx_wanted_flags(const struct omx_wanted *wanted)
{
	return omx_entry_wanted(wanted->how & OMX_PAGES_WRITE) |
	       (wanted->how & OMX_PAGES_PIN ? OMX_ENTRY_PINNED : 0);
}

static inline bool omx_wanted_is_there(const struct omx_wanted *wanted, unsigned int i)
{
	unsigned long entry = READ_ONCE(wanted->extent->entry[wanted->first + i]);

	return !(~entry & omx_wanted_flags(wanted));
}

/* The flags of entries that are installed now. */
static inline unsigned long omx_wanted_new_flags(const struct omx_wanted *wanted)
{
	return omx_wanted_flags(wanted) |
	       (wanted->how & OMX_PAGES_AHEAD ? OMX_ENTRY_AHEAD : 0);
}

static inline void omx_wanted_count_ahead(const struct omx_wanted *wanted, unsigned int pages)
{
	if (wanted->how & OMX_PAGES_AHEAD)
		omx_count_add(wanted->extent->space->board, PAGES_AHEAD, pages);
}

/* The first page that is not there; count: all are. */
static inline unsigned int omx_wanted_first_missing(const struct omx_wanted *wanted)
{
	const unsigned long *entry = wanted->extent->entry + wanted->first;
	unsigned long flags = omx_wanted_flags(wanted);
	unsigned int i;

	for (i = 0; i < wanted->count && !(~READ_ONCE(entry[i]) & flags); i++)
		;
	return i;
}

/*
 * May pages be installed that were looked up since the notifier's sequence was
 * seq?  Must hold extent->lock.
 */
static inline bool omx_wanted_is_current(const struct omx_wanted *wanted, unsigned long seq)
{
	struct omx_extent *extent = wanted->extent;

	lockdep_assert_held(&extent->lock);
	return !extent->dead && !mmu_interval_read_retry(&extent->notifier, seq);
}

#endif
