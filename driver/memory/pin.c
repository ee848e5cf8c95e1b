// SPDX-License-Identifier: GPL-2.0
/*
 * A pinned page is not moved or reclaimed by the kernel until it is unpinned
 * (omx_extent_unpin()).  page_in.c calls this in process context and holds no
 * lock; the mmap lock is taken for reading here.
 */
#include <linux/mm.h>
#include <linux/sched.h>

#include "compat.h"
#include "memory/lru.h"
#include "memory/pin.h"
#include "memory/pin_limit.h"
#include "memory/userfault.h"
#include "memory/wanted.h"
#include "net/board.h"
#include "observe/trace.h"

static long pins_get(const struct omx_wanted *wanted, unsigned int from,
		     struct page **page)
{
	unsigned int flags = FOLL_LONGTERM |
			     (wanted->how & OMX_PAGES_WRITE ? FOLL_WRITE : 0);
	struct mm_struct *mm = wanted->extent->space->mm;
	unsigned int count = wanted->count - from;
	u64 address = omx_wanted_address(wanted, from);
	u64 end = omx_wanted_address(wanted, wanted->count);
	long got;

	/* Fast.  With faults it would wait for a program that serves a userfaultfd. */
	if (current->mm == mm) {
		got = pin_user_pages_fast(address, count, flags | FOLL_NOFAULT, page);
		if (got > 0)
			return got;
	}
	if (mmap_read_lock_killable(mm))
		return -EINTR;
	if (unlikely(omx_userfault_is_armed(mm, address, end)))
		got = omx_userfault_pin(mm, address, count, flags, page);
	else
		got = omx_pin_user_pages_remote(mm, address, count, flags, page, NULL);
	mmap_read_unlock(mm);
	return got;
}

/* Returns how many of the pins were installed; the caller gives back the others. */
static unsigned int pins_install(const struct omx_wanted *wanted, unsigned int from,
				 struct page **page, unsigned int count,
				 unsigned long seq)
{
	struct omx_extent *extent = wanted->extent;
	unsigned int i, left = 0;

	spin_lock_bh(&extent->lock);
	if (!omx_wanted_is_current(wanted, seq)) {
		spin_unlock_bh(&extent->lock);
		return 0;
	}
	for (i = 0; i < count; i++) {
		unsigned long *entry = &extent->entry[wanted->first + from + i];

		if (*entry & OMX_ENTRY_PINNED) {
			page[left++] = page[i];
			continue;
		}
		extent->present += !*entry;
		WRITE_ONCE(extent->pinned, extent->pinned + 1);
		*entry = omx_entry_make(page[i], omx_wanted_new_flags(wanted));
	}
	omx_extent_link_contiguous(extent, wanted->first + from, count);
	omx_wanted_count_ahead(wanted, count - left);
	spin_unlock_bh(&extent->lock);
	return count - left;
}

static void pins_count(struct omx_board *board, unsigned int pages)
{
	long now = atomic_long_add_return(pages, &board->pages_pinned);

	omx_count_add(board, PAGES_PINNED, pages);
	/* Only a statistic: if two run at once, the lower value may remain. */
	if (now > READ_ONCE(board->pages_pinned_peak))
		WRITE_ONCE(board->pages_pinned_peak, now);
}

int omx_pages_pin(const struct omx_wanted *wanted, unsigned int from)
{
	struct page *page[OMX_EXTENT_PAGES];
	struct omx_extent *extent = wanted->extent;
	struct omx_space *space = extent->space;
	unsigned int count = wanted->count - from, installed = 0;
	unsigned long seq;
	long got;
	int error;

	omx_extent_make_room(extent, wanted->first + from, count,
			     wanted->how & OMX_PAGES_WRITE);
	error = omx_pin_limit_charge(space, count);
	if (error)
		return error;
	seq = mmu_interval_read_begin(&extent->notifier);
	got = pins_get(wanted, from, page);
	if (got > 0)
		installed = pins_install(wanted, from, page, got, seq);
	if (got > installed)
		unpin_user_pages(page, got - installed);
	if (installed) {
		omx_lru_pins_changed(extent);
		pins_count(space->board, installed);
		trace_omx_pin(space, omx_wanted_address(wanted, from), installed);
	}
	/* Last: those who wait for it can evict the extent from now on. */
	omx_pin_limit_end(space, count - installed);
	return got < 0 ? got : installed ? 0 : -EAGAIN;
}
