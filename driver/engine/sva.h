/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared virtual addressing: the function walks the page tables of programs by
 * itself.  A program's address space has a PASID, which a descriptor names.  A page
 * that is absent raises a page request, which the kernel serves [Psistakis22]; the
 * kernel also keeps the function's TLB up to date, so the driver neither maps nor
 * invalidates anything.
 */
#ifndef OMX_SVA_H
#define OMX_SVA_H

#include <linux/list.h>
#include <linux/types.h>

struct device;
struct iommu_sva;
struct omx_function;
struct omx_space;

/* A program's space, bound to the function. */
struct omx_sva {
	struct list_head node;		/* in use, or waiting to be unbound */
	struct omx_space *space;	/* not referenced: it leaves before it ends */
	struct iommu_sva *bond;
	u32 pasid;
	unsigned long rings;		/* that may still wait for a page, once it leaves */
};

/* ---- process context, omx_function_lock held ---- */
/* Can programs be bound to this function at all?  If not, it says why in an error. */
int omx_sva_begin(struct device *dev);
/*
 * The current program's space.  Releases the lock meanwhile, after which the function may
 * have gone.  An error of the IOMMU's driver.
 */
int omx_sva_join(struct omx_space *space);
/* No program is bound, or being bound or unbound. */
bool omx_sva_is_unused(void);
/* No copy of the space is under way. */
void omx_sva_leave(struct omx_space *space);
/* All that are bound, for omx_sva_end(); their spaces have no SVA when this returns. */
void omx_sva_take_all(struct list_head *list);

/* ---- process context; the function rests ---- */
/*
 * Waits until all page requests are answered, whoever has left is unbound, and nobody is
 * being bound; but not for ever.
 */
void omx_sva_settle(struct omx_function *function);
/* The function can be accessed again. */
void omx_sva_resume(void);
/* Nobody is bound to the function any more when this returns. */
void omx_sva_end(struct omx_function *function, struct list_head *list);
/* Its work is not running and will not run; nothing is bound. */
void omx_sva_cancel(void);

#endif
