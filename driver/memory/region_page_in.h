/* SPDX-License-Identifier: GPL-2.0 */
/*
 * These functions make the pages of a region accessible: pinned or only
 * translated, as its mode demands, and either before they are needed or when a
 * transfer finds one absent.
 */
#ifndef OMX_REGION_PAGE_IN_H
#define OMX_REGION_PAGE_IN_H

#include <linux/errno.h>
#include <linux/types.h>

#include "omx_abi.h"

struct omx_region;

/* ---- process context, of the program that owns the memory ---- */
/*
 * Before the first packet of a message is sent: pins the region if that is its
 * mode.  Regions of other modes are paged in when they are accessed, see
 * pager.h.  -EFAULT, -ENOMEM.
 */
int omx_region_prepare(struct omx_region *region, u64 length, u8 access);
/*
 * After the first packet was sent: pins the region if its mode is overlap;
 * otherwise translates the first pages, as far as they are resident.  Errors
 * are reported later, when a transfer needs the pages.
 */
void omx_region_prepare_more(struct omx_region *region, u64 length, u8 access);

/* ---- process context, any process or kernel thread ---- */
/* Makes these bytes accessible.  Sleeps and returns as omx_space_page_in(). */
int omx_region_page_in(struct omx_region *region, u64 offset, u64 length,
		       u8 access);
/* The same for bytes that no transfer needs yet. */
int omx_region_read_ahead(struct omx_region *region, u64 offset, u64 length,
			  u8 access);
/*
 * Makes these bytes accessible without pinning them, whatever the mode: a copy
 * within this host keeps no page after it has ended.  Without `fault`, only
 * resident pages.
 */
int omx_region_translate(struct omx_region *region, u64 offset, u64 length,
			 u8 access, bool fault);

/* ---- any context ---- */
/* The status that both sides of a transfer report if paging in fails. */
static inline u8 omx_page_in_status(int error)
{
	return error == -ENOMEM ? OMX_STATUS_NO_MEMORY : OMX_STATUS_FAULT;
}

#endif
