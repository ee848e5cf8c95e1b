/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests of the parts that need no peer, run in the kernel they will serve
 * when a debug build (make module OMX_DEBUG=1) is loaded.
 */
#ifndef OMX_SELFTEST_H
#define OMX_SELFTEST_H

#ifdef OMX_DEBUG
/* 0, or -EINVAL: the log says which check failed. */
int omx_selftest(void);
#else
static inline int omx_selftest(void)
{
	return 0;
}
#endif

#endif
