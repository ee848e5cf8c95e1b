/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Endpoints are opened with their parameters, closed by the program, and fail when
 * their board is removed.
 *
 * Any thread may call the public functions.  Opening and closing need no lock;
 * what runs in between holds the endpoint's lock, see endpoint.h.
 */
#include "endpoint.h"

#include <errno.h>
#include <stdlib.h>

#include "driver.h"
#include "endpoint_table.h"
#include "environment.h"
#include "error.h"
#include "helper.h"
#include "init.h"
#include "log.h"
#include "omx.h"
#include "pager.h"
#include "put_event.h"
#include "region.h"
#include "unexpected.h"
#include "window.h"

/* What the program and the environment specify for a new endpoint. */
struct endpoint_options {
	omx_error_handler_t error_handler;
	uint64_t unexpected_max;
	uint32_t context_bits;
	uint32_t context_shift;
	uint32_t memory;
};

static omx_return_t options_set_context_id(struct endpoint_options *options, uint32_t bits,
					   uint32_t shift)
{
	if (bits > OMX_ENDPOINT_CONTEXT_ID_BITS_MAX || bits + shift > 64)
		return OMX_ENDPOINT_PARAM_BAD_VALUE;
	options->context_bits = bits;
	options->context_shift = bits ? shift : 0;
	return OMX_SUCCESS;
}

static omx_return_t options_set_memory(struct endpoint_options *options, uint32_t mode)
{
	if (!omx__memory_mode_valid(mode))
		return OMX_ENDPOINT_PARAM_BAD_VALUE;
	options->memory = mode;
	return OMX_SUCCESS;
}

static omx_return_t options_read_param(struct endpoint_options *options,
				       const omx_endpoint_param_t *param)
{
	switch (param->key) {
	case OMX_ENDPOINT_PARAM_ERROR_HANDLER:
		options->error_handler = param->val.error_handler;
		return OMX_SUCCESS;
	case OMX_ENDPOINT_PARAM_UNEXP_QUEUE_MAX:
		options->unexpected_max = param->val.unexp_queue_max;
		return OMX_SUCCESS;
	case OMX_ENDPOINT_PARAM_CONTEXT_ID:
		return options_set_context_id(options, param->val.context_id.bits,
					      param->val.context_id.shift);
	case OMX_ENDPOINT_PARAM_MEMORY:
		return options_set_memory(options, param->val.memory_mode);
	default:
		return OMX_ENDPOINT_PARAM_BAD_KEY;
	}
}

static omx_return_t options_read_params(struct endpoint_options *options,
					const omx_endpoint_param_t *params, uint32_t count)
{
	omx_return_t ret = options_set_context_id(options, (uint32_t)omx__settings.ctxid_bits,
						  (uint32_t)omx__settings.ctxid_shift);
	uint32_t i;

	options->unexpected_max = omx__settings.unexp_queue_max;
	options->memory = (uint32_t)omx__settings.memory;
	if (count && !params)
		return OMX_ENDPOINT_PARAMS_BAD_LIST;
	for (i = 0; i < count && !ret; i++)
		ret = options_read_param(options, &params[i]);
	return ret;
}

static void endpoint_init_queues(struct omx__endpoint *ep)
{
	omx__posted_init(&ep->posted);
	omx__queue_init(&ep->unexpected, OMX_MATCH_LINKS(struct message));
	omx__queue_init(&ep->matched, OMX_MATCH_LINKS(struct message));
	omx__queue_init(&ep->done, OMX_MATCH_LINKS(struct omx__request));
	list_init(&ep->free_messages);
	list_init(&ep->kept);
	list_init(&ep->free_requests);
	list_init(&ep->connecting);
	list_init(&ep->retry);
	list_init(&ep->timers);
	list_init(&ep->dead_partners);
	list_init(&ep->put_events);
	list_init(&ep->refused);
}

static void endpoint_apply(struct omx__endpoint *ep, const struct endpoint_options *options)
{
	endpoint_init_queues(ep);
	ep->error_handler = options->error_handler;
	ep->unexpected_max = options->unexpected_max;
	ep->context_mask = (1u << options->context_bits) - 1;
	ep->context_shift = options->context_shift;
	ep->memory = (uint8_t)options->memory;
	ep->rndv_threshold = omx__settings.rndv_threshold;
	ep->local_rndv_threshold = omx__settings.local_rndv_threshold;
	ep->timeout_ms = omx__settings.timeout_ms ? (uint32_t)omx__settings.timeout_ms :
			 OMX_TIMEOUT_DEFAULT_MS;
}

static omx_return_t check_numbers(uint32_t board, uint32_t endpoint)
{
	struct omx_ioc_info info;
	omx_return_t ret = omx__driver_info(&info);

	if (ret)
		return ret;
	if (board != OMX_ANY && board >= info.board_max)
		return OMX_BOARD_NOT_FOUND;
	if (endpoint != OMX_ANY && endpoint >= info.endpoint_max)
		return OMX_BAD_ENDPOINT;
	return OMX_SUCCESS;
}

/* Makes the file an endpoint of the driver.  0 or -errno. */
static int endpoint_attach(struct omx__endpoint *ep, struct omx_ioc_open *open)
{
	int err = omx__driver_ioctl(ep->fd, OMX_IOC_OPEN, open);

	if (err)
		return err == -ENOENT ? -ENODEV : err;
	ep->board = open->board;
	ep->endpoint = open->endpoint;
	ep->key = open->key;
	ep->mac = open->mac;
	return 0;
}

/* Builds everything but the lock and the descriptor.  0 or -errno. */
static int endpoint_build(struct omx__endpoint *ep, struct omx_ioc_open *open)
{
	int err = endpoint_attach(ep, open);

	if (err)
		return err;
	err = omx__partner_create_self(ep, open->session);
	if (err)
		return err;
	err = omx__ring_map(&ep->ring, ep->fd, open->ring_slots);
	if (err) {
		omx__partners_free_all(ep);
		return err;
	}
	omx__ring_set_poll(&ep->ring, (uint32_t)omx__settings.poll_us);
	return 0;
}

static void endpoint_set_state(struct omx__endpoint *ep, enum endpoint_state state)
{
	omx__lock(&ep->lock);
	ep->state = (uint8_t)state;
	omx__unlock(&ep->lock);
}

static omx_return_t endpoint_open(struct omx_ioc_open *open, const struct endpoint_options *options,
				  struct omx__endpoint **opened)
{
	struct omx__endpoint *ep = omx__endpoint_table_alloc();
	int err;

	if (!ep)
		return OMX_NO_SYSTEM_RESOURCES;
	endpoint_apply(ep, options);
	open->timeout_ms = ep->timeout_ms;
	ep->fd = omx__driver_open();
	if (ep->fd < 0) {
		err = ep->fd;
		goto out_table;
	}
	err = endpoint_build(ep, open);
	if (err)
		goto out_fd;
	endpoint_set_state(ep, ENDPOINT_OPEN);
	*opened = ep;
	return OMX_SUCCESS;

out_fd:
	omx__driver_close(ep->fd);
out_table:
	omx__endpoint_table_free(ep);
	return omx__error_from_errno(err);
}

omx_return_t omx_open_endpoint(uint32_t board, uint32_t endpoint, uint32_t key,
			       omx_endpoint_param_t *params, uint32_t count,
			       omx_endpoint_t *ep)
{
	struct omx_ioc_open open = { .board = board, .endpoint = endpoint, .key = key };
	struct endpoint_options options = { 0 };
	omx_return_t ret;

	if (endpoint == OMX_ANY_ENDPOINT)
		open.endpoint = (uint32_t)omx__settings.any_endpoint;
	ret = check_numbers(board, open.endpoint);
	if (!ret)
		ret = options_read_params(&options, params, count);
	if (!ret)
		ret = endpoint_open(&open, &options, ep);
	/* A program that ignores the error gets BAD_ENDPOINT from its next call. */
	if (ret)
		*ep = NULL;
	return omx__return(NULL, ret, __func__);
}

void omx__endpoint_wake(struct omx__endpoint *ep)
{
	ep->wake = false;
	if (ep->sleepers)
		omx__driver_ioctl(ep->fd, OMX_IOC_WAKEUP, NULL);
}

void omx__endpoint_fail(struct omx__endpoint *ep, omx_return_t code)
{
	uint32_t i;

	ep->failed = code;
	ep->wake = true;
	omx__requests_abort(&ep->posted.receives, code);
	for (i = 0; i < ep->partner_room; i++) {
		if (ep->partners[i])
			omx__partner_abort(ep, ep->partners[i], code);
	}
	omx__requests_abort(&ep->connecting, code);
	omx__requests_abort(&ep->retry, code);
	ep->stalled = false;
	/* The helper thread must end; it may be waiting for the handler to return. */
	omx__lock_changed(&ep->lock);
}

/* No other thread is in a call on the endpoint any more. */
static void endpoint_tear_down(struct omx__endpoint *ep)
{
	omx__helper_join(ep);
	omx__log_handlers_join(ep);
	/* The mappings keep the file: the driver's endpoint ends when both are gone. */
	omx__endpoint_table_close_fd(ep);
	omx__ring_unmap(&ep->ring);
	/* The pager threads can end only now that the driver has closed the endpoint. */
	omx__pager_stop(ep);
	omx__unexpected_free_all(ep);
	omx__posted_free(&ep->posted);
	omx__queue_free(&ep->done);
	omx__requests_free_all(ep);
	omx__put_events_free_all(ep);
	omx__windows_free_all(ep);
	omx__logs_free_all(ep);
	omx__regions_free_all(ep);
	omx__partners_free_all(ep);
}

/* Makes other threads return from their calls.  On success the state is CLOSING. */
static omx_return_t endpoint_evacuate(struct omx__endpoint *ep)
{
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return ret;
	if (omx__in_handler(ep) || omx__in_log_handler(ep)) {
		omx__leave(ep);
		return OMX_NOT_SUPPORTED_IN_HANDLER;
	}
	ep->state = ENDPOINT_CLOSING;
	omx__lock_changed(&ep->lock);
	omx__driver_ioctl(ep->fd, OMX_IOC_WAKEUP, NULL);
	while (ep->users)
		omx__lock_wait(&ep->lock);
	omx__unlock(&ep->lock);
	return OMX_SUCCESS;
}

omx_return_t omx__endpoint_close(struct omx__endpoint *ep)
{
	omx_return_t ret = endpoint_evacuate(ep);

	if (ret)
		return ret;
	endpoint_tear_down(ep);
	endpoint_set_state(ep, ENDPOINT_CLOSED);
	omx__endpoint_table_free(ep);
	return OMX_SUCCESS;
}

omx_return_t omx_close_endpoint(omx_endpoint_t ep)
{
	omx_return_t ret = omx__endpoint_close(ep);

	/* The endpoint's own error handler may be gone with the endpoint. */
	return omx__return(ret == OMX_NOT_SUPPORTED_IN_HANDLER ? ep : NULL, ret, __func__);
}

omx_return_t omx_get_endpoint_fd(omx_endpoint_t ep, int *fd)
{
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	*fd = ep->fd;
	omx__leave(ep);
	return OMX_SUCCESS;
}
