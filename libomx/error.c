/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Return codes have a text, are reported to error handlers, and are translated from
 * errno and from the driver's statuses.
 *
 * Any thread may call the public functions.  Error handlers are called without
 * any lock and replaced atomically.
 */
#include "error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "endpoint.h"
#include "environment.h"
#include "omx_abi.h"

static omx_error_handler_t default_handler;	/* NULL: the environment decides */

static const char *const texts[OMX_RETURN_CODE_MAX] = {
	[OMX_SUCCESS] = "Success",
	[OMX_BAD_ERROR] = "Unexpected error of the driver",
	[OMX_ALREADY_INITIALIZED] = "Library is already initialized",
	[OMX_NOT_INITIALIZED] = "Library is not initialized",
	[OMX_NO_DEVICE_FILE] = "Device file /dev/omx does not exist",
	[OMX_NO_DRIVER] = "No driver behind /dev/omx",
	[OMX_ACCESS_DENIED] = "No permission to use /dev/omx",
	[OMX_BOARD_NOT_FOUND] = "Board does not exist (any more)",
	[OMX_BAD_ENDPOINT] = "Not an open endpoint",
	[OMX_SEGMENTS_BAD_COUNT] = "Bad list of segments",
	[OMX_BAD_REQUEST] = "Not a request, or not of the right kind",
	[OMX_BAD_MATCH_MASK] = "Match info has bits outside of the match mask",
	[OMX_NO_RESOURCES] = "Out of resources",
	[OMX_BUSY] = "Endpoint is open already, or region or log in use",
	[OMX_BAD_INFO_KEY] = "Bad info key",
	[OMX_BAD_INFO_ADDRESS] = "Info buffer is missing",
	[OMX_ENDPOINT_PARAMS_BAD_LIST] = "Bad list of endpoint parameters",
	[OMX_ENDPOINT_PARAM_BAD_KEY] = "Bad endpoint parameter key",
	[OMX_ENDPOINT_PARAM_BAD_VALUE] = "Bad endpoint parameter value",
	[OMX_PEER_NOT_FOUND] = "No such peer",
	[OMX_TIMEOUT] = "Timed out",
	[OMX_REMOTE_ENDPOINT_BAD_ID] = "No such remote endpoint",
	[OMX_REMOTE_ENDPOINT_CLOSED] = "Remote endpoint was closed",
	[OMX_REMOTE_ENDPOINT_BAD_CONNECTION_KEY] = "Remote endpoint has another connection key",
	[OMX_BAD_INFO_LENGTH] = "Info buffer is too short",
	[OMX_NIC_ID_NOT_FOUND] = "No local board has this address",
	[OMX_BAD_KERNEL_ABI] = "Driver does not match the library",
	[OMX_BAD_LIB_ABI] = "Library does not match the program",
	[OMX_BAD_MATCHING_FOR_CONTEXT_ID_MASK] = "Match mask leaves out the context id",
	[OMX_CANCELLED] = "Cancelled",
	[OMX_REMOTE_RDMA_WINDOW_BAD_ID] = "Remote memory is not there any more",
	[OMX_REMOTE_ENDPOINT_UNREACHABLE] = "Remote endpoint is unreachable",
	[OMX_REMOTE_ENDPOINT_BAD_SESSION] = "Remote endpoint is not the one addressed any more",
	[OMX_MESSAGE_ABORTED] = "Message aborted",
	[OMX_MESSAGE_TRUNCATED] = "Message truncated",
	[OMX_NOT_SUPPORTED_IN_HANDLER] = "Not supported in a handler",
	[OMX_NO_SYSTEM_RESOURCES] =
		"Out of system resources, or of the user's share (user_memory_mb)",
	[OMX_NOT_IMPLEMENTED] = "Not implemented",
};

const char *omx_strerror(omx_return_t ret)
{
	unsigned int code = (unsigned int)ret;

	if (code >= OMX_RETURN_CODE_MAX || !texts[code])
		return "Unknown code";
	return texts[code];
}

omx_return_t omx__errors_are_fatal(char *str, omx_return_t ret)
{
	fprintf(stderr, "omx: fatal error %d: %s\n", (int)ret, str);
	exit(EXIT_FAILURE);
}

omx_return_t omx__errors_return(char *str, omx_return_t ret)
{
	omx__verbose("error %d: %s", (int)ret, str);
	return ret;
}

static omx_error_handler_t handler_in_force(struct omx__endpoint *ep)
{
	omx_error_handler_t handler = NULL;

	if (ep)
		handler = __atomic_load_n(&ep->error_handler, __ATOMIC_RELAXED);
	if (!handler)
		handler = __atomic_load_n(&default_handler, __ATOMIC_RELAXED);
	if (!handler)
		handler = omx__settings.fatal_errors ? OMX_ERRORS_ARE_FATAL : OMX_ERRORS_RETURN;
	return handler;
}

omx_return_t omx__error_report(struct omx__endpoint *ep, omx_return_t code, const char *call)
{
	char text[128];

	snprintf(text, sizeof(text), "%s: %s", call, omx_strerror(code));
	return handler_in_force(ep)(text, code);
}

omx_error_handler_t omx_set_error_handler(omx_endpoint_t ep, omx_error_handler_t handler)
{
	omx_error_handler_t *place = ep ? &ep->error_handler : &default_handler;
	omx_error_handler_t old = handler_in_force(ep);

	__atomic_store_n(place, handler, __ATOMIC_RELAXED);
	return old;
}

omx_return_t omx__error_from_errno(int negative_errno)
{
	switch (-negative_errno) {
	case 0:
		return OMX_SUCCESS;
	case ENOMEM:
	case ENOSPC:
	case EMFILE:
	case ENFILE:
	case EAGAIN:
	case EDQUOT:
		return OMX_NO_SYSTEM_RESOURCES;
	case ENODEV:
	case ENXIO:
		return OMX_BOARD_NOT_FOUND;
	case EACCES:
	case EPERM:
		return OMX_ACCESS_DENIED;
	case EBUSY:
		return OMX_BUSY;
	case ENOENT:
	case EHOSTUNREACH:
		return OMX_PEER_NOT_FOUND;
	case EHOSTDOWN:
		return OMX_REMOTE_ENDPOINT_UNREACHABLE;
	case ENOTCONN:
		return OMX_REMOTE_ENDPOINT_CLOSED;
	case EFAULT:
		return OMX_MESSAGE_ABORTED;
	/* The driver is older than the library. */
	case ENOTTY:
		return OMX_NOT_IMPLEMENTED;
	default:
		return OMX_BAD_ERROR;
	}
}

omx_return_t omx__error_from_status(unsigned int status)
{
	static const omx_return_t codes[OMX_STATUSES] = {
		[OMX_STATUS_OK] = OMX_SUCCESS,
		[OMX_STATUS_BAD_ENDPOINT] = OMX_REMOTE_ENDPOINT_BAD_ID,
		[OMX_STATUS_CLOSED] = OMX_REMOTE_ENDPOINT_CLOSED,
		[OMX_STATUS_BAD_SESSION] = OMX_REMOTE_ENDPOINT_BAD_SESSION,
		[OMX_STATUS_BAD_KEY] = OMX_REMOTE_ENDPOINT_BAD_CONNECTION_KEY,
		[OMX_STATUS_BAD_REGION] = OMX_REMOTE_RDMA_WINDOW_BAD_ID,
		[OMX_STATUS_UNREACHABLE] = OMX_REMOTE_ENDPOINT_UNREACHABLE,
		[OMX_STATUS_FAULT] = OMX_MESSAGE_ABORTED,
		[OMX_STATUS_ABORTED] = OMX_MESSAGE_ABORTED,
		[OMX_STATUS_TRUNCATED] = OMX_MESSAGE_TRUNCATED,
		[OMX_STATUS_NO_MEMORY] = OMX_NO_SYSTEM_RESOURCES,
		[OMX_STATUS_BOARD_REMOVED] = OMX_BOARD_NOT_FOUND,
		[OMX_STATUS_BAD_WINDOW] = OMX_REMOTE_RDMA_WINDOW_BAD_ID,
		[OMX_STATUS_BAD_RANGE] = OMX_MESSAGE_ABORTED,
		[OMX_STATUS_NO_RIGHT] = OMX_MESSAGE_ABORTED,
		[OMX_STATUS_TIMEOUT] = OMX_TIMEOUT,
		[OMX_STATUS_LOG_FULL] = OMX_NO_SYSTEM_RESOURCES,
	};

	return status < OMX_STATUSES ? codes[status] : OMX_BAD_ERROR;
}
