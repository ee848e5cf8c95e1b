/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What omx offers beyond the interface of Open-MX.
 */
#ifndef OMX_H
#define OMX_H

#include <open-mx.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* The release of the library, "0.1.0". */
const char *omx_version(void);

/*
 * A descriptor that poll() reports readable when the endpoint has something
 * for omx_progress to do.  For poll and its like only, and only as long as
 * the endpoint is open.
 */
omx_return_t omx_get_endpoint_fd(omx_endpoint_t ep, int *fd);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
