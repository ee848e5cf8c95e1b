// SPDX-License-Identifier: GPL-2.0
/*
 * Pages that are not pinned are translated: hmm_range_fault() looks up resident
 * pages, the kernel faults in the others, and they are installed in their
 * extent unless they were invalidated meanwhile.  page_in.c calls this in
 * process context and holds no lock; the mmap lock is taken for reading here.
 */
#include <linux/fs.h>
#include <linux/hmm.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/string.h>

#include "compat.h"
#include "engine/device_engine.h"
#include "memory/translate.h"
#include "memory/userfault.h"
#include "memory/wanted.h"
#include "net/board.h"
#include "observe/trace.h"

/* ---- resident pages ---- */

/*
 * get_user_pages() refuses memory that the kernel itself cannot access.
 * hmm_range_fault() does not, so this checks for it.
 */
static bool pages_are_reachable(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	struct vm_area_struct *vma;

	/* Not mmap_assert_locked(), which needs dump_mm(), which is not exported. */
	lockdep_assert_held(&mm->mmap_lock);
	for (vma = find_vma(mm, start); vma && vma->vm_start < end;
	     vma = find_vma(mm, vma->vm_end))
		if (vma->vm_file &&
		    file_inode(vma->vm_file)->i_sb->s_magic == SECRETMEM_MAGIC)
			return false;
	return true;
}

static int pages_snapshot(const struct omx_wanted *wanted, unsigned long *pfn,
			  unsigned long *seq)
{
	struct omx_extent *extent = wanted->extent;
	struct mm_struct *mm = extent->space->mm;
	struct hmm_range range = {
		.notifier	= &extent->notifier,
		.start		= omx_wanted_address(wanted, 0),
		.end		= omx_wanted_address(wanted, wanted->count),
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
	error = pages_are_reachable(mm, range.start, range.end) ?
		hmm_range_fault(&range) : -EFAULT;
	mmap_read_unlock(mm);
	*seq = range.notifier_seq;
	return error == -EBUSY ? -EAGAIN : error;
}

static bool pfn_is_usable(const struct omx_wanted *wanted, unsigned long pfn)
{
	return pfn & HMM_PFN_VALID && !(pfn & HMM_PFN_ERROR) &&
	       (!(wanted->how & OMX_PAGES_WRITE) || pfn & HMM_PFN_WRITE);
}

/*
 * Collects pages that are to be written to and are not dirty, with references.
 * Writing through a translation does not make the page table entry dirty, so the
 * page itself must be, or else the kernel may discard what is received (into
 * tmpfs pages that were only read before, or after MADV_FREE).  The page stays
 * dirty as long as the translation is valid, because whatever cleans it calls the
 * notifier first.
 */
static unsigned int pages_ref_clean(const struct omx_wanted *wanted, const unsigned long *pfn,
				    struct page **clean)
{
	unsigned int count = 0, i;

	lockdep_assert_held(&wanted->extent->lock);
	if (!(wanted->how & OMX_PAGES_WRITE))
		return 0;
	for (i = 0; i < wanted->count; i++) {
		struct page *page = hmm_pfn_to_page(pfn[i]);

		if (!pfn_is_usable(wanted, pfn[i]) || PageDirty(page))
			continue;
		get_page(page);
		clean[count++] = page;
	}
	return count;
}

static void pages_make_dirty(struct page **page, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		set_page_dirty_lock(page[i]);
		put_page(page[i]);
	}
}

static void translations_install(const struct omx_wanted *wanted, const unsigned long *pfn)
{
	struct omx_extent *extent = wanted->extent;
	unsigned int installed = 0, i;

	lockdep_assert_held(&extent->lock);
	for (i = 0; i < wanted->count; i++) {
		unsigned long *entry = &extent->entry[wanted->first + i];

		/* Others may have installed it for more than is wanted here. */
		if (!pfn_is_usable(wanted, pfn[i]) || omx_wanted_is_there(wanted, i) ||
		    *entry & OMX_ENTRY_PINNED)
			continue;
		extent->present += !*entry;
		*entry = omx_entry_make(hmm_pfn_to_page(pfn[i]), omx_wanted_new_flags(wanted));
		installed++;
	}
	omx_extent_link_contiguous(extent, wanted->first, wanted->count);
	omx_wanted_count_ahead(wanted, installed);
	if (wanted->how & OMX_PAGES_DEVICE)
		omx_device_engine_admit(extent, wanted->first, wanted->count,
					wanted->how & OMX_PAGES_WRITE);
}

/* -EAGAIN: the pages have changed. */
static int translations_install_current(const struct omx_wanted *wanted,
					const unsigned long *pfn, unsigned long seq)
{
	struct omx_extent *extent = wanted->extent;
	struct page *clean[OMX_EXTENT_PAGES];
	unsigned int count = 0, pass;
	bool valid;

	/* The second pass finds those pages dirty that the first has made dirty. */
	for (pass = 0; pass < 2; pass++) {
		spin_lock_bh(&extent->lock);
		valid = omx_wanted_is_current(wanted, seq);
		count = valid ? pages_ref_clean(wanted, pfn, clean) : 0;
		if (valid && !count)
			translations_install(wanted, pfn);
		spin_unlock_bh(&extent->lock);
		if (!count)
			return valid ? 0 : -EAGAIN;
		pages_make_dirty(clean, count);
	}
	return -EAGAIN;
}

int omx_pages_translate(const struct omx_wanted *wanted, unsigned int faulted)
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

/* ---- absent pages ---- */

static void pages_count_faults(const struct omx_wanted *wanted, unsigned int from,
			       unsigned int got, unsigned int major)
{
	struct omx_board *board = wanted->extent->space->board;
	unsigned int faults = 0, i;

	for (i = from; i < from + got; i++)
		faults += !omx_wanted_is_there(wanted, i);
	major = min(major, faults);
	if (wanted->how & OMX_PAGES_WRITE) {
		omx_count_add(board, FAULT_MINOR_DESTINATION, faults - major);
		omx_count_add(board, FAULT_MAJOR_DESTINATION, major);
	} else {
		omx_count_add(board, FAULT_MINOR_SOURCE, faults - major);
		omx_count_add(board, FAULT_MAJOR_SOURCE, major);
	}
}

int omx_pages_fault_in(const struct omx_wanted *wanted, unsigned int from)
{
	struct mm_struct *mm = wanted->extent->space->mm;
	u64 address = omx_wanted_address(wanted, from);
	u64 end = omx_wanted_address(wanted, wanted->count);
	unsigned int count = wanted->count - from;
	unsigned long major = current->maj_flt;
	bool write = wanted->how & OMX_PAGES_WRITE, unlocked = false;
	int locked = 1;
	long got;

	if (mmap_read_lock_killable(mm))
		return -EINTR;
	if (unlikely(omx_userfault_is_armed(mm, address, end)))
		got = omx_userfault_fault_in(mm, address, count,
					     write ? FAULT_FLAG_WRITE : 0, &unlocked);
	else
		got = omx_get_user_pages_remote(mm, address, count,
						OMX_FOLL_NUMA | (write ? FOLL_WRITE : 0),
						NULL, &locked);
	if (locked)
		mmap_read_unlock(mm);
	if (got > 0) {
		pages_count_faults(wanted, from, got, current->maj_flt - major);
		trace_omx_fault(wanted->extent->space, address, got);
	}
	return got < 0 ? got : got ? 0 : -EFAULT;
}
