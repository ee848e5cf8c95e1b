/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Partners are created with their channels, found by their addresses, and lost and
 * forgotten when their channels die.  See partner.h.
 */
#include "partner.h"

#include <errno.h>
#include <stdlib.h>

#include "driver.h"
#include "endpoint.h"
#include "environment.h"
#include "submit.h"
#include "unexpected.h"

/*
 * An address consists of four numbers of 32 bits, { index, endpoint id } and
 * { magic, generation }.  It contains no pointer: the partner is looked up.
 */
#define ADDRESS_MAGIC		0x4f4d5841u
#define GET_MAX			4096u	/* bytes in a response: OMX_WIRE_GET_MAX */
#define DEAD_PARTNERS_MAX	256	/* kept so that their addresses are recognized */

static omx_endpoint_addr_t partner_make_address(struct omx__endpoint *ep, uint32_t index)
{
	omx_endpoint_addr_t addr = { {
		(uint64_t)ep->id << 32 | index,
		(uint64_t)++ep->partner_generation << 32 | ADDRESS_MAGIC,
	} };

	return addr;
}

omx_return_t omx__partner_by_address(struct omx__endpoint *ep, const omx_endpoint_addr_t *addr,
				     struct partner **found)
{
	uint32_t index = (uint32_t)addr->opaque[0];
	struct partner *partner;

	if (unlikely(addr->opaque[0] >> 32 != ep->id ||
		     (uint32_t)addr->opaque[1] != ADDRESS_MAGIC || index >= ep->partner_room))
		return OMX_REMOTE_ENDPOINT_BAD_ID;
	partner = ep->partners[index];
	if (unlikely(!partner || partner->addr.opaque[1] != addr->opaque[1]))
		return OMX_REMOTE_ENDPOINT_BAD_SESSION;
	*found = partner;
	return OMX_SUCCESS;
}

/* Makes room for at least `count` pointers in a table. */
static bool partners_grow(struct partner ***table, uint32_t *room, uint32_t count)
{
	uint32_t wanted = *room ? *room : 16;
	struct partner **larger;

	if (count <= *room)
		return true;
	while (wanted < count)
		wanted *= 2;
	larger = realloc(*table, wanted * sizeof(*larger));
	if (!larger)
		return false;
	for (uint32_t i = *room; i < wanted; i++)
		larger[i] = NULL;
	*table = larger;
	*room = wanted;
	return true;
}

static bool partners_find_free_index(struct omx__endpoint *ep, uint32_t *index)
{
	uint32_t i;

	for (i = 0; i < ep->partner_room; i++) {
		if (!ep->partners[i])
			break;
	}
	*index = i;
	return partners_grow(&ep->partners, &ep->partner_room, i + 1);
}

static struct partner *partner_create(struct omx__endpoint *ep)
{
	struct partner *partner;
	uint32_t index;

	if (!partners_find_free_index(ep, &index))
		return NULL;
	partner = calloc(1, sizeof(*partner));
	if (!partner)
		return NULL;
	list_init(&partner->queued);
	list_init(&partner->active);
	partner->index = index;
	partner->channel = NO_CHANNEL;
	partner->addr = partner_make_address(ep, index);
	partner->rndv_threshold = OMX_MEDIUM_MAX;
	partner->longest_get = GET_MAX;
	ep->partners[index] = partner;
	return partner;
}

int omx__partner_create_self(struct omx__endpoint *ep, uint32_t session)
{
	struct partner *self = partner_create(ep);

	if (!self)
		return -ENOMEM;
	self->state = PARTNER_IDLE;
	self->rndv_threshold = ep->local_rndv_threshold;
	self->mac = ep->mac;
	self->endpoint = ep->endpoint;
	self->session = session;
	ep->self = self;
	return 0;
}

static bool partner_is_self(const struct omx__endpoint *ep,
			    const struct omx_ioc_channel_info *info)
{
	return ep->self->state == PARTNER_IDLE && info->mac == ep->self->mac &&
	       info->endpoint == ep->self->endpoint;
}

static void partner_enter_channel(struct omx__endpoint *ep, struct partner *partner,
				  uint32_t channel)
{
	struct partner **place = &ep->channels[channel & (CHANNEL_SLOTS - 1)];

	partner->channel = channel;
	partner->next = *place;
	*place = partner;
}

static void partner_leave_channel(struct omx__endpoint *ep, struct partner *partner)
{
	struct partner **place = &ep->channels[partner->channel & (CHANNEL_SLOTS - 1)];

	while (*place != partner)
		place = &(*place)->next;
	*place = partner->next;
	partner->channel = NO_CHANNEL;
}

static uint64_t partner_longest_eager(const struct omx__endpoint *ep,
				      const struct omx_ioc_channel_info *info)
{
	return info->flags & OMX_CHANNEL_LOCAL ? ep->local_rndv_threshold : ep->rndv_threshold;
}

struct partner *omx__partner_introduce(struct omx__endpoint *ep, uint32_t channel)
{
	struct omx_ioc_channel_info info = { .channel = channel };
	struct partner *partner;

	if (!partners_grow(&ep->channels, &ep->channel_room, (channel & (CHANNEL_SLOTS - 1)) + 1))
		return NULL;
	/* If this fails, the channel is dead already; the number is enough then. */
	omx__driver_ioctl(ep->fd, OMX_IOC_CHANNEL_INFO, &info);
	partner = partner_is_self(ep, &info) ? ep->self : partner_create(ep);
	if (!partner)
		return NULL;
	partner->state = PARTNER_LIVE;
	partner->mac = info.mac;
	partner->endpoint = info.endpoint;
	partner->session = info.session;
	partner->rndv_threshold = partner_longest_eager(ep, &info);
	partner->local = info.flags & OMX_CHANNEL_LOCAL;
	partner_enter_channel(ep, partner, channel);
	omx__partner_flush(ep, partner);
	return partner;
}

static void partner_destroy(struct omx__endpoint *ep, struct partner *partner)
{
	ep->partners[partner->index] = NULL;
	free(partner);
}

void omx__partners_free_all(struct omx__endpoint *ep)
{
	uint32_t i;

	for (i = 0; i < ep->partner_room; i++)
		free(ep->partners[i]);
	free(ep->partners);
	free(ep->channels);
	ep->partners = NULL;
	ep->channels = NULL;
	ep->partner_room = 0;
	ep->channel_room = 0;
	ep->self = NULL;
}

void omx__partner_flush(struct omx__endpoint *ep, struct partner *partner)
{
	while (!list_empty(&partner->queued)) {
		struct omx__request *req =
			list_entry(partner->queued.next, struct omx__request, node);

		list_remove(&req->node);
		if (!omx__submit_queued(ep, req))
			break;
	}
}

/* Of all partners' requests in this list. */
static void partner_abort_in(const struct partner *partner, struct list *requests,
			     omx_return_t code)
{
	struct list *node, *next;

	list_for_each(node, next, requests) {
		struct omx__request *req = list_entry(node, struct omx__request, node);

		if (req->partner == partner)
			omx__request_abort(req, code);
	}
}

void omx__partner_abort(struct omx__endpoint *ep, struct partner *partner, omx_return_t code)
{
	omx__requests_abort(&partner->queued, code);
	omx__requests_abort(&partner->active, code);
	partner_abort_in(partner, &ep->retry, code);
	partner_abort_in(partner, &ep->refused, code);
}

/* Forgets the partners that have been dead for longest, except those that messages refer to. */
static void partners_bury(struct omx__endpoint *ep)
{
	struct list *node, *next;

	list_for_each(node, next, &ep->dead_partners) {
		struct partner *partner = list_entry(node, struct partner, dead_node);

		if (ep->dead_partner_count <= DEAD_PARTNERS_MAX)
			break;
		if (partner->messages)
			continue;
		list_remove(node);
		ep->dead_partner_count--;
		partner_destroy(ep, partner);
	}
}

void omx__partner_die(struct omx__endpoint *ep, struct partner *partner, omx_return_t reason)
{
	if (!reason)
		reason = OMX_REMOTE_ENDPOINT_CLOSED;
	partner_leave_channel(ep, partner);
	omx__partner_abort(ep, partner, reason);
	omx__unexpected_purge(ep, partner, reason);
	if (partner == ep->self) {
		partner->state = PARTNER_IDLE;
		return;
	}
	partner->state = PARTNER_DEAD;
	partner->reason = reason;
	list_append(&ep->dead_partners, &partner->dead_node);
	ep->dead_partner_count++;
	partners_bury(ep);
}

void omx__partner_disconnect(struct omx__endpoint *ep, struct partner *partner)
{
	struct omx_ioc_disconnect disconnect = { .channel = partner->channel };

	/* Before the requests are aborted: then none has to be withdrawn one by one. */
	if (partner->state == PARTNER_LIVE)
		omx__driver_ioctl(ep->fd, OMX_IOC_DISCONNECT, &disconnect);
	omx__partner_abort(ep, partner, OMX_MESSAGE_ABORTED);
	if (partner == ep->self)
		return;
	partner->context = NULL;
	if (partner->state == PARTNER_DEAD && !partner->messages) {
		list_remove(&partner->dead_node);
		ep->dead_partner_count--;
		partner_destroy(ep, partner);
	} else {
		partner->addr = partner_make_address(ep, partner->index);
	}
}
