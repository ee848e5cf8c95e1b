/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inside the library an error is -errno (from the driver) or an omx_return_t.
 * Only the public functions convert it to the latter and report it to the error
 * handler, just before they return.
 */
#ifndef OMX_ERROR_H
#define OMX_ERROR_H

#include "open-mx.h"

/*
 * Calls the error handler of the endpoint, or the default one, and returns what
 * the handler returns.  Must not hold any lock.  `call` is the name of the public
 * function.
 */
omx_return_t omx__error_report(struct omx__endpoint *ep, omx_return_t code, const char *call);

/* Public functions return with this; success costs one comparison. */
static inline omx_return_t omx__return(struct omx__endpoint *ep, omx_return_t code,
				       const char *call)
{
	if (__builtin_expect(code == OMX_SUCCESS, 1))
		return code;
	return omx__error_report(ep, code, call);
}

/* Return codes for the error of an ioctl and for the status of an event. */
omx_return_t omx__error_from_errno(int negative_errno);
omx_return_t omx__error_from_status(unsigned int status);

#endif
