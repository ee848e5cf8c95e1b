/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>

#include "error.h"
#include "memory.h"
#include "mx_extensions.h"

/* ---- opening and closing ------------------------------------------------------ */

static mx_return_t convert_param(omx_endpoint_param_t *to, const mx_param_t *from,
				 mx_error_handler_t *handler)
{
	switch (from->key) {
	case MX_PARAM_ERROR_HANDLER:
		*handler = from->val.error_handler;
		to->key = OMX_ENDPOINT_PARAM_ERROR_HANDLER;
		to->val.error_handler = OMX_ERRORS_RETURN;
		return MX_SUCCESS;
	case MX_PARAM_UNEXP_QUEUE_MAX:
		to->key = OMX_ENDPOINT_PARAM_UNEXP_QUEUE_MAX;
		to->val.unexp_queue_max = from->val.unexp_queue_max;
		return MX_SUCCESS;
	case MX_PARAM_CONTEXT_ID:
		to->key = OMX_ENDPOINT_PARAM_CONTEXT_ID;
		to->val.context_id.bits = from->val.context_id.bits;
		to->val.context_id.shift = from->val.context_id.shift;
		return MX_SUCCESS;
	}
	return MX_BAD_PARAM_NAME;
}

/* The list has one entry more: errors of the endpoint are shown by us. */
static mx_return_t convert_params(omx_endpoint_param_t **list, const mx_param_t *params,
				  uint32_t count, mx_error_handler_t *handler)
{
	omx_endpoint_param_t *to;
	mx_return_t ret = MX_SUCCESS;
	uint32_t i;

	if (count && !params)
		return MX_BAD_PARAM_LIST;
	to = calloc((size_t)count + 1, sizeof(*to));
	if (!to)
		return MX_NO_RESOURCES;
	for (i = 0; i < count && !ret; i++)
		ret = convert_param(&to[i], &params[i], handler);
	if (ret) {
		free(to);
		return ret;
	}
	to[count].key = OMX_ENDPOINT_PARAM_ERROR_HANDLER;
	to[count].val.error_handler = OMX_ERRORS_RETURN;
	*list = to;
	return MX_SUCCESS;
}

static mx_return_t open_endpoint(uint32_t board, uint32_t endpoint, uint32_t key,
				 mx_param_t *params, uint32_t count, mx_endpoint_t *ep)
{
	mx_error_handler_t handler = NULL;
	omx_endpoint_param_t *list;
	mx_endpoint_t opened;
	mx_return_t ret = convert_params(&list, params, count, &handler);

	if (ret)
		return ret;
	ret = mx__return_code(omx_open_endpoint(board, endpoint, key, list, count + 1, &opened));
	free(list);
	if (ret)
		return ret;
	ret = mx__error_handler_of(opened, handler);
	if (ret) {
		omx_close_endpoint(opened);
		return ret;
	}
	mx__memory_forget(opened);
	*ep = opened;
	return MX_SUCCESS;
}

mx_return_t mx_open_endpoint(uint32_t board, uint32_t endpoint, uint32_t key,
			     mx_param_t *params, uint32_t count, mx_endpoint_t *ep)
{
	mx_return_t ret = open_endpoint(board, endpoint, key, params, count, ep);

	if (!ret)
		return MX_SUCCESS;
	*ep = NULL;
	return mx__error_report(NULL, ret, __func__);
}

mx_return_t mx_close_endpoint(mx_endpoint_t ep)
{
	return mx__return(ep, omx_close_endpoint(ep), __func__);
}

/* ---- progress -------------------------------------------------------------------- */

mx_return_t mx_wakeup(mx_endpoint_t ep)
{
	return mx__return(ep, omx_wakeup(ep), __func__);
}

mx_return_t mx_progress(mx_endpoint_t ep)
{
	return mx__return(ep, omx_progress(ep), __func__);
}

mx_return_t mx_disable_progression(mx_endpoint_t ep)
{
	return mx__return(ep, omx_disable_progression(ep), __func__);
}

mx_return_t mx_reenable_progression(mx_endpoint_t ep)
{
	return mx__return(ep, omx_reenable_progression(ep), __func__);
}
