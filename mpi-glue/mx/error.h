/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Errors are shown to the handlers of MX here, under the names of its calls.
 * The endpoints of MX have a handler of omx that returns, so that nobody sees
 * an error twice.
 */
#ifndef MX_ERROR_H
#define MX_ERROR_H

#include "convert.h"

/* `code` is not SUCCESS, `call` the name of the public function. */
mx_return_t mx__error_report(mx_endpoint_t ep, mx_return_t code, const char *call);

/* For the end of each public function: success costs one comparison. */
static inline mx_return_t mx__return(mx_endpoint_t ep, omx_return_t code, const char *call)
{
	if (__builtin_expect(code == OMX_SUCCESS, 1))
		return MX_SUCCESS;
	return mx__error_report(ep, mx__return_code(code), call);
}

/*
 * The handler of an endpoint that was just opened; NULL: that of the process.
 * NO_RESOURCES.
 */
mx_return_t mx__error_handler_of(mx_endpoint_t ep, mx_error_handler_t handler);

#endif
