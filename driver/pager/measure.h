/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For measurements that compare ways to resume a transfer after page-in (module
 * parameter fault_resume).  Only a measurement build (OMX_MEASURE=1) has them, and
 * both hosts must run one.
 */
#ifndef OMX_MEASURE_H
#define OMX_MEASURE_H

#include <linux/ktime.h>
#include <linux/types.h>

/* In the flags of a HOLD: the pages are there by now, request again. */
#define OMX_MEASURE_REQUEST_AGAIN	0x01

#ifdef OMX_MEASURE

static inline ktime_t omx_measure_now(void)
{
	return ktime_get();
}

static inline bool omx_measure_requests_again(u8 hold_flags)
{
	return hold_flags & OMX_MEASURE_REQUEST_AGAIN;
}

/*
 * Asked when the pages of a request are present that arrived at `asked`.  Returns
 * true if the sender may respond now, false if the puller has to request again.
 * May sleep until a puller with a timeout would have requested again.  Process
 * context.
 */
bool omx_measure_may_resume(ktime_t asked);

#else

static inline ktime_t omx_measure_now(void)
{
	return 0;
}

static inline bool omx_measure_requests_again(u8 hold_flags)
{
	return false;
}

static inline bool omx_measure_may_resume(ktime_t asked)
{
	return true;
}

#endif

#endif
