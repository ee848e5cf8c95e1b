/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The pages of a program that a function of the PCI bus may read or write: an IOMMU
 * domain of the program's space, in which addresses are those of the program.  It
 * begins empty.  A page enters it when page-in brings the page for a region of mode
 * `device`, or when a copy of it is started, with the access that is needed.  It leaves
 * when its extent forgets it, before the memory changes [Psistakis22].  The frames of
 * copies are there as well, at addresses of their own, each for as long as it is being
 * copied.
 *
 * extent->readable and extent->writable say which pages of an extent are in the domain,
 * under extent->lock.  A space that loses its domain may get another one, which is empty
 * again: the bits are of the domain whose number is extent->domain.
 */
#ifndef OMX_DOMAIN_H
#define OMX_DOMAIN_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

/* Of one copy; domain.c has room for as much at twice the addresses. */
#define OMX_DEVICE_COPY_MAX	(64U << 10)

struct device;
struct iommu_domain;
struct omx_copy;
struct omx_extent;
struct omx_space;

struct omx_domain {
	struct omx_space *space;	/* not referenced: it unlinks the domain first; or NULL */
	u64 number;			/* no other domain has or had it */
	struct iommu_domain *iommu;
	struct list_head reserved;	/* struct iommu_resv_region: no memory is there */
	struct list_head in_function;	/* all domains, under omx_function_lock */

	/*
	 * Drivers of IOMMUs do not expect that a domain is changed while it is attached or
	 * detached, which sleeps.  Meanwhile the function is at rest, pages do not enter
	 * the domain, and one that should leave spoils it: it is not used any more.
	 */
	spinlock_t lock;		/* changes of the domain */
	bool is_switching;
	bool is_spoiled;

	struct list_head in_waiting;	/* has copies, but another one is attached */
	struct list_head queue;		/* copies that are on no ring; both under engine->lock */
};

/* ---- process context; omx_function_lock held, except for freeing it ---- */
/* NULL: out of memory, or the device is behind no IOMMU. */
struct omx_domain *omx_domain_alloc(struct omx_space *space, struct device *dev);
/*
 * The space does not have the domain any more.  The engine copies nothing to its pages:
 * the domain is spoiled, the function is at rest, or the space ends.  Whoever has found
 * the domain in the space uses it until a grace period has passed.
 */
void omx_domain_unlink(struct omx_domain *domain);
/* Before and after the domain is attached or detached.  The function is at rest. */
void omx_domain_begin_switch(struct omx_domain *domain);
void omx_domain_end_switch(struct omx_domain *domain);
/* Nothing refers to it. */
void omx_domain_free(struct omx_domain *domain);

/* ---- extent->lock held ---- */
/*
 * Makes these pages readable, or writable, as far as they are present for that.  Returns
 * how many were not before; -ENOMEM; -ENXIO: the space has no domain; -EBUSY: not now.
 */
int omx_domain_map(struct omx_extent *extent, unsigned int first, unsigned int last, bool write);
/* Are all of them readable, or writable? */
bool omx_domain_has(struct omx_extent *extent, unsigned int first, unsigned int last, bool write);
/*
 * They are accessible no more, but the engine may still be at work with what it has
 * translated before.  Returns how many were accessible.
 */
unsigned int omx_domain_unmap(struct omx_extent *extent, unsigned int first, unsigned int last);

/* ---- engine->lock held ---- */
/* Makes the frame accessible as the copy needs it, at copy->device.frame.  -ENOMEM, -EBUSY. */
int omx_domain_map_frame(struct omx_domain *domain, struct omx_copy *copy,
			 unsigned int slot);
void omx_domain_unmap_frame(struct omx_domain *domain, const struct omx_copy *copy);

#endif
