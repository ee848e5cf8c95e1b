// SPDX-License-Identifier: GPL-2.0
#include <linux/fs.h>
#include <linux/hmm.h>
#include <linux/magic.h>
#include <linux/pagemap.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/userfaultfd_k.h>

#include "compat.h"
#include "memory/extent.h"
#include "memory/lru.h"
#include "memory/page_in.h"
#include "net/board.h"
#include "observe/trace.h"
#include "pager/pager.h"

/* How often a page may vanish between being faulted in and being looked up. */
#define TRIES_MAX	1000

/* Pages of one extent that are wanted, and how. */
struct wanted {
	struct omx_extent *extent;
	unsigned int first;
	unsigned int count;
	unsigned int how;
};

static u64 wanted_address(const struct wanted *wanted, unsigned int i)
{
	return wanted->extent->start + ((u64)(wanted->first + i) << PAGE_SHIFT);
}

/* The flags that the entries are to have. */
static unsigned long wanted_flags(const struct wanted *wanted)
{
	return omx_entry_wanted(wanted->how & OMX_PAGES_WRITE) |
	       (wanted->how & OMX_PAGES_PIN ? OMX_ENTRY_PINNED : 0);
}

static bool is_there(const struct wanted *wanted, unsigned int i)
{
	unsigned long entry = READ_ONCE(wanted->extent->entry[wanted->first + i]);

	return !(~entry & wanted_flags(wanted));
}

/* ... and of those that come now. */
static unsigned long new_flags(const struct wanted *wanted)
{
	return wanted_flags(wanted) |
	       (wanted->how & OMX_PAGES_AHEAD ? OMX_ENTRY_AHEAD : 0);
}

static void count_ahead(const struct wanted *wanted, unsigned int pages)
{
	if (wanted->how & OMX_PAGES_AHEAD)
		omx_count_add(wanted->extent->space->board, PAGES_AHEAD, pages);
}

/* The first one that is not there; count: all are. */
static unsigned int first_missing(const struct wanted *wanted)
{
	const unsigned long *entry = wanted->extent->entry + wanted->first;
	unsigned long flags = wanted_flags(wanted);
	unsigned int i;

	for (i = 0; i < wanted->count && !(~READ_ONCE(entry[i]) & flags); i++)
		;
	return i;
}

/* May what was looked up since seq be installed?  Under extent->lock. */
static bool is_current(const struct wanted *wanted, unsigned long seq)
{
	struct omx_extent *extent = wanted->extent;

	lockdep_assert_held(&extent->lock);
	return !extent->dead && !mmu_interval_read_retry(&extent->notifier, seq);
}

/*
 * Notes which of these entries, and of the one behind them, continue the
 * one before: pages of a folio in a row are copied and sent as one, but for
 * those whose use is to be counted.
 */
static void extent_link_contiguous(struct omx_extent *extent, unsigned int first,
				   unsigned int count)
{
	unsigned int last = min(first + count, OMX_EXTENT_PAGES - 1U), i;

	lockdep_assert_held(&extent->lock);
	for (i = max(first, 1U); i <= last; i++) {
		unsigned long *entry = &extent->entry[i];
		unsigned long pfn = *entry >> OMX_ENTRY_SHIFT;

		if (!*entry)
			continue;
		*entry &= ~OMX_ENTRY_CONTIGUOUS;
		if (entry[-1] && pfn == (entry[-1] >> OMX_ENTRY_SHIFT) + 1 &&
		    PageTail(pfn_to_page(pfn)) && !(*entry & OMX_ENTRY_AHEAD))
			*entry |= OMX_ENTRY_CONTIGUOUS;
	}
}

void omx_extent_use(struct omx_extent *extent, unsigned int i)
{
	extent->entry[i] &= ~OMX_ENTRY_AHEAD;
	extent_link_contiguous(extent, i, 1);
	omx_count(extent->space->board, PAGES_AHEAD_USED);
}

/* ---- pages that the program itself supplies ---- */

static bool is_userfault(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	struct vm_area_struct *vma;

	lockdep_assert_held(&mm->mmap_lock);
	for (vma = find_vma(mm, start); vma && vma->vm_start < end;
	     vma = find_vma(mm, vma->vm_end))
		if (userfaultfd_armed(vma))
			return true;
	return false;
}

/*
 * When a userfaultfd is being closed, get_user_pages() asks for its pages for
 * ever and keeps the mmap lock, for which closing it waits (6.1; mended in
 * 6.15).  This asks once.  Returns how many of the pages, the first ones, are
 * there unless that has happened.
 */
static long fault_each(struct mm_struct *mm, u64 address, unsigned int count,
		       unsigned int flags, bool *unlocked)
{
	long i;
	int error;

	for (i = 0; i < count; i++, address += PAGE_SIZE) {
		error = fixup_user_fault(mm, address, FAULT_FLAG_REMOTE | flags, unlocked);
		if (error)
			return i ? i : error;
	}
	return i;
}

/* ---- unpinned ---- */

/*
 * hmm_range_fault() leaves to us what get_user_pages() refuses: memory that
 * the kernel itself cannot reach.
 */
static bool is_reachable(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	struct vm_area_struct *vma;

	lockdep_assert_held(&mm->mmap_lock);	/* mmap_assert_locked() needs an unexported dump_mm() */
	for (vma = find_vma(mm, start); vma && vma->vm_start < end;
	     vma = find_vma(mm, vma->vm_end))
		if (vma->vm_file &&
		    file_inode(vma->vm_file)->i_sb->s_magic == SECRETMEM_MAGIC)
			return false;
	return true;
}

static int pages_snapshot(const struct wanted *wanted, unsigned long *pfn,
			  unsigned long *seq)
{
	struct omx_extent *extent = wanted->extent;
	struct mm_struct *mm = extent->space->mm;
	struct hmm_range range = {
		.notifier	= &extent->notifier,
		.start		= wanted_address(wanted, 0),
		.end		= wanted_address(wanted, wanted->count),
		.hmm_pfns	= pfn,
	};
	int error;

	memset(pfn, 0, wanted->count * sizeof(*pfn));
	range.notifier_seq = mmu_interval_read_begin(&extent->notifier);
	/* Another program may keep its lock for as long as it likes. */
	if (current->mm == mm)
		error = mmap_read_lock_killable(mm);
	else
		error = mmap_read_trylock(mm) ? 0 : -EBUSY;
	if (error)
		return error;
	error = is_reachable(mm, range.start, range.end) ? hmm_range_fault(&range) :
							   -EFAULT;
	mmap_read_unlock(mm);
	*seq = range.notifier_seq;
	return error == -EBUSY ? -EAGAIN : error;
}

static bool is_usable(const struct wanted *wanted, unsigned long pfn)
{
	return pfn & HMM_PFN_VALID && !(pfn & HMM_PFN_ERROR) &&
	       (!(wanted->how & OMX_PAGES_WRITE) || pfn & HMM_PFN_WRITE);
}

/*
 * Writing through a translation does not make the page table entry dirty, so
 * the page must be, or the kernel may throw away what we receive (tmpfs that
 * was only read before, MADV_FREE).  It stays dirty as long as the translation
 * is valid: all that cleans it notifies first.  These are not, referenced.
 */
static unsigned int pages_ref_clean(const struct wanted *wanted, const unsigned long *pfn,
				    struct page **clean)
{
	unsigned int count = 0, i;

	if (!(wanted->how & OMX_PAGES_WRITE))
		return 0;
	for (i = 0; i < wanted->count; i++) {
		struct page *page = hmm_pfn_to_page(pfn[i]);

		if (!is_usable(wanted, pfn[i]) || PageDirty(page))
			continue;
		get_page(page);
		clean[count++] = page;
	}
	return count;
}

static void make_dirty(struct page **page, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		set_page_dirty_lock(page[i]);
		put_page(page[i]);
	}
}

static void translations_install(const struct wanted *wanted, const unsigned long *pfn)
{
	struct omx_extent *extent = wanted->extent;
	unsigned int installed = 0, i;

	for (i = 0; i < wanted->count; i++) {
		unsigned long *entry = &extent->entry[wanted->first + i];

		/* Others may have it for more than we need. */
		if (!is_usable(wanted, pfn[i]) || is_there(wanted, i) ||
		    *entry & OMX_ENTRY_PINNED)
			continue;
		extent->present += !*entry;
		*entry = omx_entry_make(hmm_pfn_to_page(pfn[i]), new_flags(wanted));
		installed++;
	}
	extent_link_contiguous(extent, wanted->first, wanted->count);
	count_ahead(wanted, installed);
}

/* -EAGAIN: the pages have changed. */
static int translations_install_current(const struct wanted *wanted, const unsigned long *pfn,
					unsigned long seq)
{
	struct omx_extent *extent = wanted->extent;
	struct page *clean[OMX_EXTENT_PAGES];
	unsigned int count = 0, pass;
	bool valid;

	/* The second pass finds dirty what the first has made so. */
	for (pass = 0; pass < 2; pass++) {
		spin_lock_bh(&extent->lock);
		valid = is_current(wanted, seq);
		count = valid ? pages_ref_clean(wanted, pfn, clean) : 0;
		if (valid && !count)
			translations_install(wanted, pfn);
		spin_unlock_bh(&extent->lock);
		if (!count)
			return valid ? 0 : -EAGAIN;
		make_dirty(clean, count);
	}
	return -EAGAIN;
}

/*
 * What is resident becomes present.  -EAGAIN: look again.  -EFAULT: also, the
 * page that was faulted in (or none: wanted->count) is none to look up, as in
 * mappings that may be written but not read: it never will be.
 */
static int pages_translate(const struct wanted *wanted, unsigned int faulted)
{
	unsigned long pfn[OMX_EXTENT_PAGES];
	unsigned long seq;
	int error;

	error = pages_snapshot(wanted, pfn, &seq);
	if (error)
		return error;
	if (faulted < wanted->count && pfn[faulted] & HMM_PFN_ERROR)
		return -EFAULT;
	return translations_install_current(wanted, pfn, seq);
}

static void count_faults(const struct wanted *wanted, unsigned int from,
			 unsigned int got, unsigned int major)
{
	struct omx_board *board = wanted->extent->space->board;
	unsigned int faults = 0, i;

	for (i = from; i < from + got; i++)
		faults += !is_there(wanted, i);
	major = min(major, faults);
	if (wanted->how & OMX_PAGES_WRITE) {
		omx_count_add(board, FAULT_MINOR_DESTINATION, faults - major);
		omx_count_add(board, FAULT_MAJOR_DESTINATION, major);
	} else {
		omx_count_add(board, FAULT_MINOR_SOURCE, faults - major);
		omx_count_add(board, FAULT_MAJOR_SOURCE, major);
	}
}

/*
 * Has the kernel fault the missing ones in.  It may drop the mmap lock while
 * it waits, for the disk or for a userfaultfd.
 */
static int pages_fault_in(const struct wanted *wanted, unsigned int from)
{
	struct mm_struct *mm = wanted->extent->space->mm;
	u64 address = wanted_address(wanted, from);
	unsigned int count = wanted->count - from;
	unsigned long major = current->maj_flt;
	bool write = wanted->how & OMX_PAGES_WRITE, unlocked = false;
	int locked = 1;
	long got;

	mmap_read_lock(mm);
	if (unlikely(is_userfault(mm, address, wanted_address(wanted, wanted->count))))
		got = fault_each(mm, address, count, write ? FAULT_FLAG_WRITE : 0, &unlocked);
	else
		got = omx_get_user_pages_remote(mm, address, count,
						OMX_FOLL_NUMA | (write ? FOLL_WRITE : 0),
						NULL, &locked);
	if (locked)
		mmap_read_unlock(mm);
	if (got > 0) {
		count_faults(wanted, from, got, current->maj_flt - major);
		trace_omx_fault(wanted->extent->space, address, got);
	}
	return got < 0 ? got : got ? 0 : -EFAULT;
}

/* ---- pinned ---- */

/* Of the program, by RLIMIT_MEMLOCK. */
static bool program_may_pin(struct omx_space *space, unsigned int pages)
{
	s64 pinned = atomic64_add_return(pages, &space->mm->pinned_vm);

	if (pinned <= space->pin_limit)
		return true;
	atomic64_sub(pages, &space->mm->pinned_vm);
	return false;
}

static void pins_uncharge(struct omx_space *space, unsigned int pages)
{
	atomic64_sub(pages, &space->mm->pinned_vm);
	omx_lru_unpinned(pages);
}

/* Within the limits, for which other regions may have to give theirs back. */
static int pins_charge(struct omx_space *space, unsigned int pages)
{
	while (!program_may_pin(space, pages))
		if (!omx_lru_evict(space, true))
			return -ENOMEM;
	while (!omx_lru_may_pin(pages)) {
		if (omx_lru_evict(space, false))
			continue;
		atomic64_sub(pages, &space->mm->pinned_vm);
		return -ENOMEM;
	}
	return 0;
}

/* Without waiting for the program. */
static long pin_userfault(struct mm_struct *mm, u64 address, unsigned int count,
			  unsigned int flags, struct page **page)
{
	unsigned int how = flags & FOLL_WRITE ? FAULT_FLAG_WRITE : FAULT_FLAG_UNSHARE;
	long got;

	lockdep_assert_held(&mm->mmap_lock);
	got = fault_each(mm, address, count, how, NULL);
	if (got <= 0)
		return got;
	got = omx_pin_user_pages_remote(mm, address, got, flags | FOLL_NOFAULT, page, NULL);
	return got == -EFAULT ? -EAGAIN : got;
}

static long get_pins(const struct wanted *wanted, unsigned int from,
		     struct page **page)
{
	unsigned int flags = FOLL_LONGTERM |
			     (wanted->how & OMX_PAGES_WRITE ? FOLL_WRITE : 0);
	struct mm_struct *mm = wanted->extent->space->mm;
	unsigned int count = wanted->count - from;
	u64 address = wanted_address(wanted, from);
	long got;

	/* Fast, but it would wait for whoever serves a userfaultfd. */
	if (current->mm == mm) {
		got = pin_user_pages_fast(address, count, flags | FOLL_NOFAULT, page);
		if (got > 0)
			return got;
	}
	mmap_read_lock(mm);
	if (unlikely(is_userfault(mm, address, wanted_address(wanted, wanted->count))))
		got = pin_userfault(mm, address, count, flags, page);
	else
		got = omx_pin_user_pages_remote(mm, address, count, flags, page, NULL);
	mmap_read_unlock(mm);
	return got;
}

/* Returns how many of the pins were installed; the others are the caller's. */
static unsigned int pins_install(const struct wanted *wanted, unsigned int from,
				 struct page **page, unsigned int count,
				 unsigned long seq)
{
	struct omx_extent *extent = wanted->extent;
	unsigned int i, left = 0;

	spin_lock_bh(&extent->lock);
	if (!is_current(wanted, seq)) {
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
		extent->pinned++;
		*entry = omx_entry_make(page[i], new_flags(wanted));
	}
	extent_link_contiguous(extent, wanted->first + from, count);
	count_ahead(wanted, count - left);
	spin_unlock_bh(&extent->lock);
	return count - left;
}

static void count_pins(struct omx_board *board, unsigned int pages)
{
	long now = atomic_long_add_return(pages, &board->pages_pinned);

	omx_count_add(board, PAGES_PINNED, pages);
	/* A statistic: of two at once the lower one may win. */
	if (now > READ_ONCE(board->pages_pinned_peak))
		WRITE_ONCE(board->pages_pinned_peak, now);
}

static int pages_pin(const struct wanted *wanted, unsigned int from)
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
	error = pins_charge(space, count);
	if (error)
		return error;
	seq = mmu_interval_read_begin(&extent->notifier);
	got = get_pins(wanted, from, page);
	if (got > 0)
		installed = pins_install(wanted, from, page, got, seq);
	if (got > installed)
		unpin_user_pages(page, got - installed);
	pins_uncharge(space, count - installed);
	if (installed) {
		omx_lru_pins_changed(extent);
		count_pins(space->board, installed);
		trace_omx_pin(space, wanted_address(wanted, from), installed);
	}
	return got < 0 ? got : installed ? 0 : -EAGAIN;
}

/* ---- both ---- */

static int page_in_extent(const struct wanted *wanted)
{
	unsigned int faulted = wanted->count, tries, missing;
	int error;

	for (tries = 0; tries < TRIES_MAX; tries++) {
		missing = first_missing(wanted);
		if (missing == wanted->count)
			return 0;
		if (READ_ONCE(wanted->extent->dead))
			return -EAGAIN;
		if (wanted->how & OMX_PAGES_PIN) {
			error = pages_pin(wanted, missing);
		} else {
			error = pages_translate(wanted, faulted);
			missing = first_missing(wanted);
			if (!error && missing < wanted->count) {
				if (!(wanted->how & OMX_PAGES_FAULT))
					return 0;
				error = pages_fault_in(wanted, missing);
				faulted = missing;
			}
		}
		if (error && error != -EAGAIN)
			return error;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return -EFAULT;
}

static int page_in_range(struct omx_space *space, u64 address, u64 length,
			 unsigned int how)
{
	u64 end = PAGE_ALIGN(address + length), stop;
	int error = 0;

	address &= PAGE_MASK;
	while (address < end) {
		struct wanted wanted = { .how = how };

		/* What is resident is gone through as well: it may be much. */
		if (fatal_signal_pending(current))
			return -EINTR;
		if (omx_pager_is_closed(space->pager))
			return -EFAULT;
		cond_resched();
		stop = min(end, round_down(address, OMX_EXTENT_SIZE) + OMX_EXTENT_SIZE);
		wanted.extent = omx_extent_make(space, address);
		if (IS_ERR(wanted.extent))
			return PTR_ERR(wanted.extent);
		wanted.first = omx_extent_index(address);
		wanted.count = (stop - address) >> PAGE_SHIFT;
		error = page_in_extent(&wanted);
		omx_extent_put(wanted.extent);
		if (error && error != -EAGAIN)
			return error;
		if (!error)
			address = stop;
	}
	return 0;
}

int omx_space_page_in(struct omx_space *space, u64 address, u64 length,
		      unsigned int how)
{
	int error;

	if (address + length < address || address + length > TASK_SIZE_MAX)
		return -EFAULT;
	if (!mmget_not_zero(space->mm))
		return -EFAULT;
	error = page_in_range(space, address, length, how);
	/*
	 * This may be the last user of another program's memory (local.c).
	 * The files that it has mapped, its endpoint among them, would be closed
	 * when this thread returns to user mode, which one in OMX_IOC_PAGE_IN
	 * may never do.
	 */
	mmput_async(space->mm);
	return error;
}
