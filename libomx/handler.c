/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The unexpected handler: a function of the program's, called from within
 * progress without the lock.  HOLD_HANDLER keeps everybody else from making
 * progress meanwhile, so the ring and the message stay as they are.
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
	/* Others have gone to sleep with a khead that we have not reached yet. */
	ep->wake = true;
	omx__lock_changed(&ep->lock);
	return action == OMX_UNEXP_HANDLER_RECV_FINISHED;
}

/* The lock may be dropped. */
static omx_return_t wait_for_handler(struct omx__endpoint *ep)
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
	/* From within the handler it holds from the next message on. */
	if (!omx__in_handler(ep))
		ret = wait_for_handler(ep);
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
	ret = wait_for_handler(ep);
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
	/* What has come meanwhile is behind the khead that sleepers wait for. */
	ep->wake = true;
	omx__lock_changed(&ep->lock);
	omx__leave(ep);
	return OMX_SUCCESS;
}
