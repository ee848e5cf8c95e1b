/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Storing, finding, delivering and freeing unexpected messages.  See
 * unexpected.h.
 */
#include "unexpected.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

/*
 * Structures are allocated in slabs: malloc() and free() would take as long as all the
 * rest of a short message.
 */
#define MESSAGES_PER_SLAB	64
#define SLABS_KEPT		16	/* when there is no message */

/*
 * What may stay in the driver: programs that post many receives at once, as streams and
 * collective operations do, are soon about to post more.  Frames may take several times the
 * memory of their data; the driver says when they are too much for it.
 */
#define KEPT_MAX		(8 << 20)

struct message_slab {
	struct message_slab *next;
	struct message messages[MESSAGES_PER_SLAB];
};

static cold bool message_slab_add(struct omx__endpoint *ep)
{
	struct message_slab *slab = malloc(sizeof(*slab));
	uint32_t i;

	if (!slab)
		return false;
	slab->next = ep->message_slabs;
	ep->message_slabs = slab;
	ep->message_slab_count++;
	for (i = 0; i < MESSAGES_PER_SLAB; i++)
		list_append(&ep->free_messages, &slab->messages[i].node);
	return true;
}

/* No structure is in use. */
static cold void message_slabs_free(struct omx__endpoint *ep)
{
	while (ep->message_slabs) {
		struct message_slab *slab = ep->message_slabs;

		ep->message_slabs = slab->next;
		free(slab);
	}
	ep->message_slab_count = 0;
	list_init(&ep->free_messages);
}

static struct message *message_alloc(struct omx__endpoint *ep)
{
	struct message *message;

	if (unlikely(list_empty(&ep->free_messages)) && !message_slab_add(ep))
		return NULL;
	message = list_entry(ep->free_messages.prev, struct message, node);
	list_remove(&message->node);
	ep->messages++;
	return message;
}

static void message_free(struct omx__endpoint *ep, struct message *message)
{
	if (message->memory)
		free(message->memory);
	list_append(&ep->free_messages, &message->node);
	if (!--ep->messages && unlikely(ep->message_slab_count > SLABS_KEPT))
		message_slabs_free(ep);
}

/* Tells the driver when the limit is exceeded, and later when half of it is free again. */
static void message_charge(struct omx__endpoint *ep, struct message *message, uint64_t bytes)
{
	message->charge = bytes;
	ep->unexpected_bytes += bytes;
	if (unlikely(ep->unexpected_bytes > ep->unexpected_max))
		omx__ring_set_announce(&ep->ring, true);
}

static void message_uncharge(struct omx__endpoint *ep, const struct message *message)
{
	ep->unexpected_bytes -= message->charge;
	if (unlikely(ep->ring.announce) && ep->unexpected_bytes <= ep->unexpected_max / 2)
		omx__ring_set_announce(&ep->ring, false);
}

static bool message_copy_from_ring(struct message *message)
{
	struct arrival *arrival = &message->arrival;
	struct buffer buffer = { 0 };
	void *copy = message->tiny;

	if (arrival->length > sizeof(message->tiny))
		copy = message->memory = malloc(arrival->length);
	if (!copy)
		return false;
	omx__buffer_set(&buffer, copy, arrival->length);
	omx__buffer_scatter(&buffer, arrival->data, arrival->length);
	arrival->data = copy;
	return true;
}

/* The driver has it. */
static void message_keep(struct omx__endpoint *ep, struct message *message)
{
	list_append(&ep->kept, &message->in_kept);
	ep->kept_bytes += message->arrival.length;
}

static void message_unkeep(struct omx__endpoint *ep, struct message *message)
{
	list_remove(&message->in_kept);
	ep->kept_bytes -= message->arrival.length;
}

/* Of one that is kept.  False: out of memory; the driver keeps it for now. */
static bool message_fetch(struct omx__endpoint *ep, struct message *message)
{
	struct arrival *arrival = &message->arrival;
	struct buffer buffer = { 0 };
	int err;

	message->memory = malloc(arrival->length);
	if (!message->memory)
		return false;
	omx__buffer_set(&buffer, message->memory, arrival->length);
	err = omx__fetch(ep, arrival->medium, &buffer.abi);
	if (unlikely(err)) {
		free(message->memory);
		message->memory = NULL;
		if (err == -ENOMEM)
			return false;
		/* The driver has it no more, so others must not wait for it. */
		message->lost = omx__error_from_errno(err);
	}
	message_unkeep(ep, message);
	arrival->medium = 0;
	arrival->data = message->memory;
	return true;
}

/* Makes the message independent of the ring.  False: out of memory. */
static bool message_store(struct omx__endpoint *ep, struct message *message)
{
	const struct arrival *arrival = &message->arrival;
	uint64_t bytes = sizeof(*message);

	if (arrival->medium) {
		message_keep(ep, message);
		if (arrival->fetch_soon || ep->kept_bytes > KEPT_MAX)
			message_fetch(ep, message);
	} else if (!arrival->rendezvous && !message_copy_from_ring(message)) {
		return false;
	}
	if (!arrival->rendezvous)
		bytes += arrival->length;
	message_charge(ep, message, bytes);
	return true;
}

bool omx__unexpected_add(struct omx__endpoint *ep, struct partner *partner,
			 const struct arrival *arrival)
{
	struct message *message = message_alloc(ep);

	if (!message)
		return false;
	message->partner = partner;
	message->arrival = *arrival;
	message->memory = NULL;
	message->lost = OMX_SUCCESS;
	if (!message_store(ep, message)) {
		message_free(ep, message);
		return false;
	}
	message->item.match_info = arrival->match_info;
	message->queue = &ep->unexpected;
	omx__queue_append(message->queue, &message->item);
	partner->messages++;
	return true;
}

static void message_unlink(struct omx__endpoint *ep, struct message *message)
{
	omx__queue_remove(message->queue, &message->item);
	message_uncharge(ep, message);
	if (message->arrival.medium)
		message_unkeep(ep, message);
	message->partner->messages--;
}

static struct message *item_message(struct match_item *item)
{
	return item ? list_entry(item, struct message, item) : NULL;
}

struct message *omx__unexpected_find(struct omx__endpoint *ep, uint64_t match_info,
				     uint64_t match_mask)
{
	return item_message(omx__queue_find(&ep->unexpected, match_info, match_mask));
}

static cold void message_fail(struct omx__request *req, const struct message *message)
{
	req->status.addr = message->partner->addr;
	req->status.match_info = message->arrival.match_info;
	req->status.msg_length = message->arrival.length;
	req->status.xfer_length = 0;
	omx__request_done(req, message->lost);
}

void omx__unexpected_deliver(struct message *message, struct omx__request *req)
{
	struct omx__endpoint *ep = req->ep;

	message_unlink(ep, message);
	if (likely(!message->lost))
		omx__deliver(req, message->partner, &message->arrival);
	else
		message_fail(req, message);
	message_free(ep, message);
}

omx_message_t omx__unexpected_match(struct omx__endpoint *ep, struct message *message)
{
	omx__queue_remove(&ep->unexpected, &message->item);
	message->item.match_info = (uintptr_t)message;
	omx__queue_append(&ep->matched, &message->item);
	message->queue = &ep->matched;
	return (omx_message_t)message;
}

struct message *omx__unexpected_matched(struct omx__endpoint *ep, omx_message_t handle)
{
	return item_message(omx__queue_find(&ep->matched, (uintptr_t)handle, UINT64_MAX));
}

cold bool omx__unexpected_fetch(struct omx__endpoint *ep)
{
	struct list *node, *next;

	list_for_each(node, next, &ep->kept) {
		if (!message_fetch(ep, list_entry(node, struct message, in_kept)))
			return false;
	}
	return true;
}

static void matched_fail(struct omx__endpoint *ep, struct partner *partner, omx_return_t reason)
{
	struct list *node, *next;

	list_for_each(node, next, &ep->matched.items) {
		struct message *message = list_entry(node, struct message, node);

		if (message->partner == partner && message->arrival.rendezvous)
			message->lost = reason;
	}
}

void omx__unexpected_purge(struct omx__endpoint *ep, struct partner *partner,
			   omx_return_t reason)
{
	struct list *node, *next;

	if (!partner->messages)
		return;
	matched_fail(ep, partner, reason);
	list_for_each(node, next, &ep->unexpected.items) {
		struct message *message = list_entry(node, struct message, node);

		if (message->partner != partner || !message->arrival.rendezvous)
			continue;
		message_unlink(ep, message);
		message_free(ep, message);
	}
}

static void messages_free(struct match_queue *messages)
{
	struct list *node, *next;

	list_for_each(node, next, &messages->items)
		free(list_entry(node, struct message, node)->memory);
	omx__queue_free(messages);
}

void omx__unexpected_free_all(struct omx__endpoint *ep)
{
	messages_free(&ep->unexpected);
	messages_free(&ep->matched);
	message_slabs_free(ep);
	ep->messages = 0;
	ep->unexpected_bytes = 0;
	list_init(&ep->kept);
	ep->kept_bytes = 0;
}
