/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The unexpected handler is a function of the program that is called with each
 * message that no receive matches.  This file calls it and has the public
 * functions that set it and that stop progress.
 *
 * progress.c calls omx__handler_consumes() with the endpoint's lock held, which
 * is dropped while the handler runs.  PAUSED_BY_HANDLER keeps other threads from
 * making progress in that time, so the ring and the message do not change.
 */
#include "error.h"
#include "match.h"

static uint32_t shown_length(uint64_t length)
{
	return length < UINT32_MAX ? (uint32_t)length : UINT32_MAX;
}

static omx_unexp_handler_action_t handler_call(struct omx__endpoint *ep, struct partner *partner,
					       const struct arrival *arrival)
{
	omx_unexp_handler_t handler = ep->handler;
	void *context = ep->handler_context;
	omx_endpoint_addr_t source = partner->addr;
	omx_unexp_handler_action_t action;

	omx__unlock(&ep->lock);
	action = handler(context, source, arrival->match_info, shown_length(arrival->length),
			 (void *)arrival->data);
	omx__lock(&ep->lock);
	return action;
}

bool omx__handler_consumes(struct omx__endpoint *ep, struct partner *partner,
			   const struct arrival *arrival)
{
	omx_unexp_handler_action_t action;

	ep->paused |= PAUSED_BY_HANDLER;
	ep->handler_thread = pthread_self();
	ep->consuming = false;
	ep->users++;
	partner->messages++;

	action = handler_call(ep, partner, arrival);

	partner->messages--;
	ep->users--;
	ep->paused &= (uint8_t)~PAUSED_BY_HANDLER;
	/* Other threads may sleep until khead changes, with events before it not handled yet. */
	ep->wake = true;
	omx__lock_changed(&ep->lock);
	return action == OMX_UNEXP_HANDLER_RECV_FINISHED;
}

/* Waits until the handler does not run.  Drops the lock while it waits. */
static omx_return_t handler_wait(struct omx__endpoint *ep)
{
	if (omx__in_handler(ep))
		return OMX_NOT_SUPPORTED_IN_HANDLER;
	ep->users++;
	while (ep->paused & PAUSED_BY_HANDLER)
		omx__lock_wait(&ep->lock);
	ep->users--;
	omx__lock_changed(&ep->lock);
	return ep->state == ENDPOINT_OPEN ? OMX_SUCCESS : OMX_BAD_ENDPOINT;
}

omx_return_t omx_register_unexp_handler(omx_endpoint_t ep, omx_unexp_handler_t handler,
					void *context)
{
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	/* If the handler itself calls this, it has effect from the next message on. */
	if (!omx__in_handler(ep))
		ret = handler_wait(ep);
	if (!ret) {
		ep->handler = handler;
		ep->handler_context = context;
	}
	omx__leave(ep);
	return omx__return(ep, ret, __func__);
}

omx_return_t omx_disable_progression(omx_endpoint_t ep)
{
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	ret = handler_wait(ep);
	if (!ret)
		ep->paused |= PAUSED_BY_PROGRAM;
	omx__leave(ep);
	return omx__return(ep, ret, __func__);
}

omx_return_t omx_reenable_progression(omx_endpoint_t ep)
{
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	ep->paused &= (uint8_t)~PAUSED_BY_PROGRAM;
	/* Other threads may sleep until khead changes, with events before it not handled yet. */
	ep->wake = true;
	omx__lock_changed(&ep->lock);
	omx__leave(ep);
	return OMX_SUCCESS;
}
