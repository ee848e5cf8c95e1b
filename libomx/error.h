/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inside the library failures are -errno (from the driver) or omx_return_t;
 * they become the latter, and are shown to the error handler, in the public
 * functions only.
 */
#ifndef OMX_ERROR_H
#define OMX_ERROR_H

#include "open-mx.h"

/*
 * Shows an error to the handler in force; returns what the handler returns.
 * Must not hold any lock.  `call` is the name of the public function.
 */
omx_return_t omx__error_report(struct omx__endpoint *ep, omx_return_t code, const char *call);

/* For the end of each public function: success costs one comparison. */
static inline omx_return_t omx__return(struct omx__endpoint *ep, omx_return_t code,
				       const char *call)
{
	if (__builtin_expect(code == OMX_SUCCESS, 1))
		return code;
	return omx__error_report(ep, code, call);
}

/* What a failed driver call, and the status of an event, mean. */
omx_return_t omx__error_from_errno(int negative_errno);
omx_return_t omx__error_from_status(unsigned int status);

#endif
