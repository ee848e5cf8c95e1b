// SPDX-License-Identifier: GPL-2.0
/*
 * The active pages of windows are set by the program, in process context.
 *
 * Flags are kept for ranges of pages, so that a window of any length, even the whole
 * address space, costs memory for what is active only.  The array of ranges is replaced
 * under ep->active_lock; accesses read it under RCU (active.c).
 */
#include <linux/jump_label.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "endpoint/endpoint.h"
#include "onesided/active.h"
#include "onesided/log.h"

#define PLAIN	(OMX_PAGE_W | OMX_PAGE_R)

/* ---- ranges ---- */

static unsigned long pages_bytes(const struct omx_active_pages *pages)
{
	return struct_size(pages, range, pages->count);
}

static struct omx_active_pages *pages_of(struct omx_endpoint *ep, struct omx_window *window)
{
	return rcu_dereference_protected(window->active, lockdep_is_held(&ep->active_lock));
}

/* As `range`, from `first` up to `end`; merged with the one before it if they are alike. */
static void pages_append(struct omx_active_pages *pages, const struct omx_active_range *range,
			 u64 first, u64 end)
{
	struct omx_active_range *last = pages->count ? &pages->range[pages->count - 1] : NULL;

	if (first >= end || range->flags == PLAIN)
		return;
	if (last && last->end == first && last->flags == range->flags &&
	    last->log == range->log) {
		last->end = end;
		return;
	}
	pages->range[pages->count++] = (struct omx_active_range){
		.first = first,
		.end = end,
		.flags = range->flags,
		.log = range->log,
	};
}

/* What was there before the pages, the pages, and what was there behind them. */
static void pages_merge(struct omx_active_pages *pages, const struct omx_active_pages *old,
			const struct omx_active_range *new)
{
	u32 count = old ? old->count : 0, i;

	for (i = 0; i < count; i++)
		pages_append(pages, &old->range[i], old->range[i].first,
			     min(old->range[i].end, new->first));
	pages_append(pages, new, new->first, new->end);
	for (i = 0; i < count; i++)
		pages_append(pages, &old->range[i], max(old->range[i].first, new->end),
			     old->range[i].end);
}

static void pages_count_logs(struct omx_endpoint *ep, const struct omx_active_pages *pages,
			     int change)
{
	struct omx_log *log;
	u32 i;

	lockdep_assert_held(&ep->active_lock);
	for (i = 0; pages && i < pages->count; i++) {
		if (!(pages->range[i].flags & OMX_PAGE_E))
			continue;
		log = rcu_dereference_protected(ep->logs.log[pages->range[i].log],
						lockdep_is_held(&ep->active_lock));
		log->ranges += change;
	}
}

/* ---- windows ---- */

/* NULL: it has none. */
static void window_replace_pages(struct omx_endpoint *ep, struct omx_window *window,
				 struct omx_active_pages *pages)
{
	struct omx_active_pages *old = pages_of(ep, window);

	if (pages)
		omx_account_charge(window->user, pages_bytes(pages));
	pages_count_logs(ep, pages, 1);
	pages_count_logs(ep, old, -1);
	rcu_assign_pointer(window->active, pages);
	if (!old)
		return;
	omx_account_uncharge(window->user, pages_bytes(old));
	kvfree_rcu(old, rcu);
}

static long window_set_pages(struct omx_endpoint *ep, struct omx_window *window,
			     const struct omx_active_range *range)
{
	struct omx_active_pages *old, *pages;

	lockdep_assert_held(&ep->active_lock);
	if (window->has_ended)
		return -ENOENT;
	if (range->flags & OMX_PAGE_E && !rcu_access_pointer(ep->logs.log[range->log]))
		return -ENOENT;
	old = pages_of(ep, window);
	/* At most one more at either side of the pages, and the pages. */
	pages = kvzalloc(struct_size(pages, range, (old ? old->count : 0) + 2),
			 GFP_KERNEL_ACCOUNT);
	if (!pages)
		return -ENOMEM;
	pages_merge(pages, old, range);
	if (pages->count > OMX_ACTIVE_RANGES_MAX) {
		kvfree(pages);
		return -ENOSPC;
	}
	if (!pages->count) {
		kvfree(pages);
		pages = NULL;
	}
	window_replace_pages(ep, window, pages);
	return 0;
}

void omx_window_deactivate(struct omx_endpoint *ep, struct omx_window *window)
{
	mutex_lock(&ep->active_lock);
	window->has_ended = true;
	window_replace_pages(ep, window, NULL);
	mutex_unlock(&ep->active_lock);
}

/*
 * The key stays raised until the endpoint closes: the packets of a put that has an entry
 * may still come when the window has no such page any more.
 */
static long window_activate(struct omx_endpoint *ep, struct omx_window *window,
			    const struct omx_active_range *range)
{
	long error;

	mutex_lock(&ep->active_lock);
	if (!ep->logs.are_used)
		static_branch_inc(&omx_active_windows);
	ep->logs.are_used = true;
	error = window_set_pages(ep, window, range);
	mutex_unlock(&ep->active_lock);
	return error;
}

void omx_active_close(struct omx_endpoint *ep)
{
	if (ep->logs.are_used)
		static_branch_dec(&omx_active_windows);
}

/* ---- the ioctl ---- */

/* Whole pages, of which only the window's last one may be shorter. */
static bool range_set(struct omx_active_range *range, const struct omx_ioc_activate *ioc,
		      const struct omx_window *window)
{
	if (!ioc->length || ioc->length > window->length ||
	    ioc->offset > window->length - ioc->length || ioc->offset % OMX_ACTIVE_PAGE)
		return false;
	if (ioc->length % OMX_ACTIVE_PAGE && ioc->offset + ioc->length != window->length)
		return false;
	*range = (struct omx_active_range){
		.first = ioc->offset / OMX_ACTIVE_PAGE,
		.end = (ioc->offset + ioc->length - 1) / OMX_ACTIVE_PAGE + 1,
		.flags = ioc->flags,
		.log = ioc->log,
	};
	return true;
}

static bool arguments_are_valid(const struct omx_ioc_activate *ioc)
{
	return !ioc->reserved && !(ioc->flags & ~OMX_PAGE_FLAGS) && ioc->log < OMX_LOGS_MAX &&
	       (!ioc->log || ioc->flags & OMX_PAGE_E);
}

/* Referenced. */
static struct omx_window *window_get(struct omx_endpoint *ep, u32 number)
{
	struct omx_window *window;

	rcu_read_lock();
	window = omx_table_find(&ep->windows, number);
	if (window && (window->id != number || !omx_window_ref(window)))
		window = NULL;
	rcu_read_unlock();
	return window;
}

long omx_window_activate(struct omx_endpoint *ep, void __user *arg)
{
	struct omx_active_range range;
	struct omx_ioc_activate ioc;
	struct omx_window *window;
	long error = -EINVAL;

	if (copy_from_user(&ioc, arg, sizeof(ioc)))
		return -EFAULT;
	if (!arguments_are_valid(&ioc))
		return -EINVAL;
	if (!omx_budget_has_room(&ep->budget, OMX_ACCOUNT_REGION))
		return -EDQUOT;
	window = window_get(ep, ioc.window);
	if (!window)
		return -ENOENT;
	if (!(window->rights & OMX_WINDOW_ACTIVE))
		error = -EACCES;
	else if (range_set(&range, &ioc, window))
		error = window_activate(ep, window, &range);
	omx_window_put(window);
	/* Accesses that have begun with the old flags end. */
	if (!error)
		synchronize_rcu();
	return error;
}
