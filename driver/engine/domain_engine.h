/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The engine that is a function of the PCI bus (function.h) behind an IOMMU.  It has
 * the addresses of one program at a time, those of the domain that is attached to it.
 * The driver chooses the domain, by the region that a frame is for; no frame does.
 * Copies for the other programs wait for their turn.
 *
 * Kernels without PCI or IOMMU build without it.
 */
#ifndef OMX_DOMAIN_ENGINE_H
#define OMX_DOMAIN_ENGINE_H

#include <linux/types.h>

struct omx_extent;
struct omx_function;
struct omx_space;

#ifdef OMX_PCI_ENGINE

/* ---- process context, for function.c ---- */
/* Begins to use the function.  -ENODEV, -ENOMEM, or what attaching a domain returns. */
int omx_domain_engine_begin(struct omx_function *function);
/* The function may be reset now: nothing is under way, and copies are refused. */
void omx_domain_engine_halt(const char *why);
void omx_domain_engine_resume(void);
/* After halting: the function is not used any more, and no interrupt comes. */
void omx_domain_engine_end(const char *why);
void omx_domain_engine_exit(void);
/* Why there is none, unless omx_domain_engine_begin() has said more. */
void omx_domain_engine_explain(const char *why);

/* ---- hard interrupts ---- */
void omx_domain_engine_interrupt(void);

/* ---- process context ---- */
/* Gives the space a domain if the engine works and the space has none yet. */
void omx_domain_engine_join(struct omx_space *space);
/* The space ends; it has no extents any more. */
void omx_domain_engine_leave(struct omx_space *space);
/* The name of the function, empty if there is none, and why it is not used, or NULL. */
const char *omx_domain_engine_state(char *name, size_t size);

/* ---- any context ---- */
/* Does the engine work, and can it copy to the space? */
bool omx_domain_engine_is_for(const struct omx_space *space);

/* ---- extent->lock held ---- */
/* Pages that were paged in for an engine enter the domain, if there is one. */
void omx_domain_engine_admit(struct omx_extent *extent, unsigned int first,
			     unsigned int count);
/* The engine writes no more to these pages when it returns. */
void omx_domain_engine_invalidate(struct omx_extent *extent, unsigned int first,
				  unsigned int last);

#else

static inline void omx_domain_engine_join(struct omx_space *space) { }
static inline void omx_domain_engine_leave(struct omx_space *space) { }

static inline bool omx_domain_engine_is_for(const struct omx_space *space)
{
	return false;
}

static inline void omx_domain_engine_admit(struct omx_extent *extent, unsigned int first,
					   unsigned int count)
{
}

static inline void omx_domain_engine_invalidate(struct omx_extent *extent, unsigned int first,
						unsigned int last)
{
}

static inline const char *omx_domain_engine_state(char *name, size_t size)
{
	*name = 0;
	return "the driver was built without engines";
}

#endif
#endif
