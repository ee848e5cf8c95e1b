/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Unexpected messages: handlers and callbacks of MX as handlers of omx.
 */
#include <limits.h>
#include <stdlib.h>

#include "error.h"
#include "mx_extensions.h"
#include "push.h"

/*
 * What omx's handler needs to know.  These are kept, one of each that the
 * program has registered: another thread may be about to run the last one.
 */
struct closure {
	struct closure *next;
	mx_unexp_handler_t handler;	/* one of the two */
	mx_matching_callback_t callback;
	void *context;
};

static struct closure *closures;

static omx_unexp_handler_action_t handler_run(void *context, omx_endpoint_addr_t source,
					      uint64_t match_info, uint32_t length, void *data)
{
	const struct closure *closure = context;

	if (closure->handler)
		return closure->handler(closure->context, mx__address_out(source), match_info,
					length, data) == MX_RECV_FINISHED ?
		       OMX_UNEXP_HANDLER_RECV_FINISHED : OMX_UNEXP_HANDLER_RECV_CONTINUE;
	closure->callback(closure->context, match_info, length < INT_MAX ? (int)length : INT_MAX);
	return OMX_UNEXP_HANDLER_RECV_CONTINUE;
}

static struct closure *handler_find(const struct closure *wanted)
{
	struct closure *closure = __atomic_load_n(&closures, __ATOMIC_ACQUIRE);

	for (; closure; closure = closure->next) {
		if (closure->handler == wanted->handler &&
		    closure->callback == wanted->callback &&
		    closure->context == wanted->context)
			break;
	}
	return closure;
}

static struct closure *find_or_make(const struct closure *wanted)
{
	struct closure *closure = handler_find(wanted);

	if (closure)
		return closure;
	closure = malloc(sizeof(*closure));
	if (!closure)
		return NULL;
	*closure = *wanted;
	mx__push(&closures, closure);
	return closure;
}

static omx_return_t handler_install(mx_endpoint_t ep, const struct closure *wanted)
{
	struct closure *closure;

	if (!wanted->handler && !wanted->callback)
		return omx_register_unexp_handler(ep, NULL, NULL);
	closure = find_or_make(wanted);
	if (!closure)
		return OMX_NO_SYSTEM_RESOURCES;
	return omx_register_unexp_handler(ep, handler_run, closure);
}

mx_return_t mx_register_unexp_handler(mx_endpoint_t ep, mx_unexp_handler_t handler,
				      void *context)
{
	const struct closure wanted = { .handler = handler, .context = context };

	return mx__return(ep, handler_install(ep, &wanted), __func__);
}

mx_return_t mx_register_unexp_callback(mx_endpoint_t ep, mx_matching_callback_t callback,
				       void *context)
{
	const struct closure wanted = { .callback = callback, .context = context };

	return mx__return(ep, handler_install(ep, &wanted), __func__);
}
