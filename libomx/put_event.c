/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The list of put events, and the public function that takes the oldest.  See
 * put_event.h.
 *
 * Any thread may call the public function, which acquires the endpoint's lock.
 */
#include "put_event.h"

#include <stdlib.h>

#include "error.h"
#include "omx.h"
#include "progress.h"
#include "window.h"

struct put_event {
	struct list node;		/* ep->put_events */
	omx_put_event_t event;
};

bool omx__put_event_add(struct omx__endpoint *ep, const struct partner *partner,
			const struct omx_event *event)
{
	struct put_event *put = malloc(sizeof(*put));

	if (!put)
		return false;
	put->event = (omx_put_event_t){
		.addr = partner->addr,
		.immediate = event->immediate,
		.length = event->length,
		.window = omx__window_numbered(ep, event->window),
	};
	list_append(&ep->put_events, &put->node);
	return true;
}

void omx__put_events_free_all(struct omx__endpoint *ep)
{
	struct list *node, *next;

	list_for_each(node, next, &ep->put_events)
		free(list_entry(node, struct put_event, node));
	list_init(&ep->put_events);
}

static void put_event_take(struct omx__endpoint *ep, omx_put_event_t *event)
{
	struct put_event *put = list_entry(ep->put_events.next, struct put_event, node);

	list_remove(&put->node);
	*event = put->event;
	free(put);
	if (!omx__window_exists(ep, event->window))
		event->window = NULL;
}

omx_return_t omx_ipoll_put(omx_endpoint_t ep, omx_put_event_t *event, uint32_t *result)
{
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	if (list_empty(&ep->put_events))
		omx__progress(ep);
	*result = !list_empty(&ep->put_events);
	if (*result)
		put_event_take(ep, event);
	omx__leave(ep);
	return OMX_SUCCESS;
}
