/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The engine of memory mode `device`: a function of the PCI bus (function.h) behind an
 * IOMMU, to which it gives the addresses of programs.  The driver says of which
 * program, by the region that a frame is for; no frame does.
 *
 * Kernels without PCI or IOMMU build without it.
 */
#ifndef OMX_DEVICE_ENGINE_H
#define OMX_DEVICE_ENGINE_H

#include <linux/types.h>

struct omx_extent;
struct omx_function;
struct omx_space;

#ifdef OMX_PCI_ENGINE

/* ---- process context, for function.c ---- */
/* Begins to use the function.  -ENODEV, -ENOMEM, or what attaching a domain returns. */
int omx_device_engine_begin(struct omx_function *function);
/* Nothing is under way when this returns, and copies are refused. */
void omx_device_engine_halt(const char *why);
/* After halting: the function may be reset from then on, until it resumes. */
void omx_device_engine_suspend(struct omx_function *function);
void omx_device_engine_resume(void);
/* After halting: the function is not used any more, and no interrupt comes. */
void omx_device_engine_end(struct omx_function *function, const char *why);
/* Its works are not running. */
void omx_device_engine_rest(void);
void omx_device_engine_exit(void);
/* Why there is none, unless omx_device_engine_begin() has said more. */
void omx_device_engine_explain(const char *why);

/* ---- hard interrupts ---- */
void omx_device_engine_interrupt(void);

/* ---- process context ---- */
/*
 * The current program's space: the engine can copy to it from now on, if the engine
 * works.
 */
void omx_device_engine_join(struct omx_space *space);
/* The space ends; it has no extents any more. */
void omx_device_engine_leave(struct omx_space *space);
/* The name of the function, empty if there is none, and why it is not used, or NULL. */
const char *omx_device_engine_state(char *name, size_t size);

/* ---- any context ---- */
/* Does the engine work, and can it copy to the space? */
bool omx_device_engine_is_for(const struct omx_space *space);
/* Is it now also to read what the space sends? */
bool omx_device_engine_reads(const struct omx_space *space);
/* Does it also bring absent pages by itself?  The driver then needs none. */
bool omx_device_engine_pages_in(const struct omx_space *space);

/* ---- extent->lock held ---- */
/* Pages that were paged in for an engine enter the domain, if there is one. */
void omx_device_engine_admit(struct omx_extent *extent, unsigned int first,
			     unsigned int count, bool write);
/* The engine uses these pages no more when it returns. */
void omx_device_engine_invalidate(struct omx_extent *extent, unsigned int first,
				  unsigned int last);

#else

static inline void omx_device_engine_join(struct omx_space *space) { }
static inline void omx_device_engine_leave(struct omx_space *space) { }

static inline bool omx_device_engine_is_for(const struct omx_space *space)
{
	return false;
}

static inline bool omx_device_engine_reads(const struct omx_space *space)
{
	return false;
}

static inline bool omx_device_engine_pages_in(const struct omx_space *space)
{
	return false;
}

static inline void omx_device_engine_admit(struct omx_extent *extent, unsigned int first,
					   unsigned int count, bool write)
{
}

static inline void omx_device_engine_invalidate(struct omx_extent *extent, unsigned int first,
						unsigned int last)
{
}

static inline const char *omx_device_engine_state(char *name, size_t size)
{
	*name = 0;
	return "the driver was built without engines";
}

#endif
#endif
