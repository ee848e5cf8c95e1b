/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "error.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "push.h"

/* ---- texts ------------------------------------------------------------------ */

static const char *const texts[] = {
	[MX_SUCCESS] = "Success",
	[MX_BAD_BAD_BAD] = "Impossible",
	[MX_FAILURE] = "Failed, or not supported",
	[MX_ALREADY_INITIALIZED] = "Library is already initialized",
	[MX_NOT_INITIALIZED] = "Library is not initialized",
	[MX_NO_DEV] = "Device file /dev/omx does not exist",
	[MX_NO_DRIVER] = "No driver behind /dev/omx",
	[MX_NO_PERM] = "No permission to use /dev/omx",
	[MX_BOARD_UNKNOWN] = "Board does not exist (any more)",
	[MX_BAD_ENDPOINT] = "Not an open endpoint",
	[MX_BAD_SEG_LIST] = "No list of segments, or one of 4 GiB or more",
	[MX_BAD_SEG_MEM] = "Segment without address",
	[MX_BAD_SEG_CNT] = "Too many segments",
	[MX_BAD_REQUEST] = "Not a request that this can be asked of",
	[MX_BAD_MATCH_MASK] = "Match info has bits outside of the match mask",
	[MX_NO_RESOURCES] = "Out of resources",
	[MX_BAD_ADDR_LIST] = "Bad list of addresses",
	[MX_BAD_ADDR_COUNT] = "Bad number of addresses",
	[MX_BAD_ROOT] = "Bad root",
	[MX_NOT_COMPLETED] = "Not done yet",
	[MX_BUSY] = "Endpoint is open already",
	[MX_BAD_INFO_KEY] = "Bad info key",
	[MX_BAD_INFO_VAL] = "Info buffer is missing",
	[MX_BAD_NIC] = "Bad nic id",
	[MX_BAD_PARAM_LIST] = "Bad list of endpoint parameters",
	[MX_BAD_PARAM_NAME] = "Bad endpoint parameter key",
	[MX_BAD_PARAM_VAL] = "Bad endpoint parameter value",
	[MX_BAD_HOSTNAME_ARGS] = "Host name is missing",
	[MX_HOST_NOT_FOUND] = "No such peer",
	[MX_REQUEST_PENDING] = "Request is pending",
	[MX_TIMEOUT] = "Timed out",
	[MX_NO_MATCH] = "No message matches",
	[MX_BAD_ENDPOINT_ID] = "No such remote endpoint",
	[MX_CONNECTION_FAILED] = "Remote endpoint is gone or unreachable",
	[MX_BAD_CONNECTION_KEY] = "Remote endpoint has another connection key",
	[MX_BAD_INFO_LENGTH] = "Info buffer is too short",
	[MX_NIC_NOT_FOUND] = "No local board has this address",
	[MX_BAD_KERNEL_VERSION] = "Driver does not match the library",
	[MX_BAD_LIB_VERSION] = "Library does not match the program",
	[MX_NIC_DEAD] = "Board is dead",
	[MX_CANCEL_NOT_SUPPORTED] = "Sends cannot be cancelled",
	[MX_CLOSE_IN_HANDLER] = "Not supported in the unexpected handler",
	[MX_BAD_MATCHING_FOR_CONTEXT_ID_MASK] = "Match mask leaves out the context id",
	[MX_NOT_SUPPORTED_WITH_CONTEXT_ID] = "Not supported with context ids",
};

static const char *const status_texts[] = {
	[MX_STATUS_SUCCESS] = "Success",
	[MX_STATUS_PENDING] = "Pending",
	[MX_STATUS_BUFFERED] = "Buffered",
	[MX_STATUS_REJECTED] = "Unexpected error of the driver",
	[MX_STATUS_TIMEOUT] = "Timed out",
	[MX_STATUS_TRUNCATED] = "Message truncated",
	[MX_STATUS_CANCELLED] = "Cancelled",
	[MX_STATUS_ENDPOINT_UNKNOWN] = "No such peer",
	[MX_STATUS_ENDPOINT_CLOSED] = "Remote endpoint was closed",
	[MX_STATUS_ENDPOINT_UNREACHABLE] = "Remote endpoint is unreachable",
	[MX_STATUS_BAD_SESSION] = "Remote endpoint is not the one addressed any more",
	[MX_STATUS_BAD_KEY] = "Remote endpoint has another connection key",
	[MX_STATUS_BAD_ENDPOINT] = "No such remote endpoint",
	[MX_STATUS_BAD_RDMAWIN] = "Remote memory is not there any more",
	[MX_STATUS_ABORTED] = "Message aborted",
	[MX_STATUS_EVENTQ_FULL] = "Event queue is full",
	[MX_STATUS_NO_RESOURCES] = "Out of resources",
};

static const char *text_of(const char *const *list, size_t count, unsigned int code)
{
	return code < count ? list[code] : "Unknown code";
}

const char *mx_strerror(mx_return_t ret)
{
	return text_of(texts, sizeof(texts) / sizeof(texts[0]), (unsigned int)ret);
}

const char *mx_strstatus(mx_status_code_t code)
{
	return text_of(status_texts, sizeof(status_texts) / sizeof(status_texts[0]),
		       (unsigned int)code);
}

/* ---- handlers ----------------------------------------------------------------- */

mx_return_t mx__errors_are_fatal(char *str, mx_return_t ret)
{
	fprintf(stderr, "mx: fatal error %d: %s\n", (int)ret, str);
	exit(EXIT_FAILURE);
}

mx_return_t mx__errors_return(char *str, mx_return_t ret)
{
	(void)str;
	return ret;
}

static mx_error_handler_t process_handler;	/* NULL: as the environment says */

/*
 * Endpoints with a handler of their own.  libomx never frees an endpoint but
 * opens it again, and so are these kept: they are looked up without a lock,
 * by threads that may be late, and in the children of fork().
 */
struct own_handler {
	struct own_handler *next;
	mx_endpoint_t ep;
	mx_error_handler_t handler;	/* NULL: not as it was opened last */
};

static struct own_handler *own_handlers;

static struct own_handler *error_find(mx_endpoint_t ep)
{
	struct own_handler *own = __atomic_load_n(&own_handlers, __ATOMIC_ACQUIRE);

	while (own && own->ep != ep)
		own = own->next;
	return own;
}

mx_return_t mx__error_handler_of(mx_endpoint_t ep, mx_error_handler_t handler)
{
	struct own_handler *own = error_find(ep);

	if (!own && handler) {
		own = malloc(sizeof(*own));
		if (!own)
			return MX_NO_RESOURCES;
		own->ep = ep;
		own->handler = handler;
		mx__push(&own_handlers, own);
	} else if (own) {
		__atomic_store_n(&own->handler, handler, __ATOMIC_RELAXED);
	}
	return MX_SUCCESS;
}

static bool fatal_by_default(void)
{
	const char *said = getenv("MX_ERRORS_ARE_FATAL");

	return !said || strcmp(said, "0");
}

static mx_error_handler_t handler_in_force(mx_endpoint_t ep)
{
	struct own_handler *own = ep ? error_find(ep) : NULL;
	mx_error_handler_t handler = NULL;

	if (own)
		handler = __atomic_load_n(&own->handler, __ATOMIC_RELAXED);
	if (!handler)
		handler = __atomic_load_n(&process_handler, __ATOMIC_RELAXED);
	if (!handler)
		handler = fatal_by_default() ? MX_ERRORS_ARE_FATAL : MX_ERRORS_RETURN;
	return handler;
}

mx_return_t mx__error_report(mx_endpoint_t ep, mx_return_t code, const char *call)
{
	char text[MX_MAX_STR_LEN];

	/* What is not open has no handler, or not this one any more. */
	if (code == MX_BAD_ENDPOINT)
		ep = NULL;
	snprintf(text, sizeof(text), "%s: %s", call, mx_strerror(code));
	return handler_in_force(ep)(text, code);
}

mx_error_handler_t mx_set_error_handler(mx_error_handler_t handler)
{
	mx_error_handler_t old = handler_in_force(NULL);

	__atomic_store_n(&process_handler, handler, __ATOMIC_RELAXED);
	return old;
}
