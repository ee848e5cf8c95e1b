/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For a test of isolation (make module OMX_UNCHECKED=1): the driver has the engine of
 * memory mode device write without looking whether the page is there, and, with the
 * parameter unchecked_shift, to a wrong address.  Only the IOMMU protects memory then.
 * After a fault it does look before the copy is resumed, as it always does.
 */
#ifndef OMX_UNCHECKED_H
#define OMX_UNCHECKED_H

#include "engine/copies.h"
#include "engine/engine.h"

#if defined(OMX_UNCHECKED) && defined(OMX_PCI_ENGINE)

extern long omx_unchecked_shift;

static inline bool omx_is_unchecked_job(const struct omx_copy_job *job)
{
	return !job->out;
}

static inline long omx_shift_of_job(const struct omx_copy_job *job)
{
	return job->out ? 0 : omx_unchecked_shift;
}

static inline bool omx_is_unchecked(const struct omx_copies *copies)
{
	return copies && copies->engine == &omx_device_engine && !copies->tries;
}

#else

static inline bool omx_is_unchecked_job(const struct omx_copy_job *job)
{
	return false;
}

static inline long omx_shift_of_job(const struct omx_copy_job *job)
{
	return 0;
}

static inline bool omx_is_unchecked(const struct omx_copies *copies)
{
	return false;
}

#endif
#endif
