/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unexpected.h"

#include <stdlib.h>
#include <string.h>

#define FREE_MESSAGES_MAX	1024	/* kept for reuse */

static struct message *alloc_message(struct omx__endpoint *ep)
{
	struct message *message;

	if (list_empty(&ep->free_messages))
		return malloc(sizeof(*message));
	message = list_entry(ep->free_messages.prev, struct message, node);
	list_remove(&message->node);
	ep->free_message_count--;
	return message;
}

static void free_message(struct omx__endpoint *ep, struct message *message)
{
	free(message->memory);
	message->memory = NULL;
	if (ep->free_message_count >= FREE_MESSAGES_MAX) {
		free(message);
		return;
	}
	list_append(&ep->free_messages, &message->node);
	ep->free_message_count++;
}

static bool copy_payload(struct omx__endpoint *ep, struct message *message)
{
	struct arrival *arrival = &message->arrival;
	struct buffer buffer = { 0 };

	if (arrival->rendezvous)
		return true;
	if (arrival->length <= sizeof(message->tiny)) {
		message->memory = NULL;
		omx__buffer_set(&buffer, message->tiny, arrival->length);
	} else {
		message->memory = malloc(arrival->length);
		if (!message->memory)
			return false;
		omx__buffer_set(&buffer, message->memory, arrival->length);
	}

	if (!arrival->medium) {
		omx__buffer_scatter(&buffer, arrival->data, arrival->length);
	} else if (omx__fetch(ep, arrival->medium, &buffer.abi)) {
		free(message->memory);
		message->memory = NULL;
		return false;
	}
	arrival->medium = 0;
	arrival->data = message->memory ? message->memory : message->tiny;
	return true;
}

static void charge(struct omx__endpoint *ep, struct message *message, uint64_t bytes)
{
	message->charge = bytes;
	ep->unexpected_bytes += bytes;
}

/* Makes it independent of the ring, if there is memory for it. */
static bool store(struct omx__endpoint *ep, struct message *message)
{
	uint64_t bytes = sizeof(*message);

	if (!message->arrival.rendezvous)
		bytes += message->arrival.length;
	if (bytes > ep->unexpected_max ||
	    ep->unexpected_bytes > ep->unexpected_max - bytes)
		return false;
	if (!copy_payload(ep, message))
		return false;
	charge(ep, message, bytes);
	return true;
}

static struct message *first_parked(struct omx__endpoint *ep)
{
	return list_entry(ep->parked.next, struct message, parked_node);
}

/* Out of the ring without asking for memory; a medium payload stays with the driver. */
static bool evict(struct omx__endpoint *ep, struct message *message)
{
	uint64_t bytes = sizeof(*message);

	if (!message->arrival.rendezvous && !message->arrival.medium) {
		if (!copy_payload(ep, message))
			return false;
		bytes += message->arrival.length;
	}
	charge(ep, message, bytes);
	message->parked = false;
	list_remove(&message->parked_node);
	return true;
}

static cold void make_room_for_answers(struct omx__endpoint *ep)
{
	uint32_t most = ep->ring.slot_count - ep->ring.slot_count / 32;

	while (!list_empty(&ep->parked) &&
	       ep->ring.head - first_parked(ep)->position > most) {
		if (!evict(ep, first_parked(ep)))
			break;
	}
}

bool omx__unexpected_add(struct omx__endpoint *ep, struct partner *partner,
			 const struct arrival *arrival)
{
	struct message *message = alloc_message(ep);

	if (!message)
		return false;
	message->partner = partner;
	message->arrival = *arrival;
	message->memory = NULL;
	message->charge = 0;
	message->lost = OMX_SUCCESS;
	message->position = ep->ring.head;
	/* Behind a parked one nothing is stored: what came first gets the memory. */
	message->parked = !list_empty(&ep->parked) || !store(ep, message);
	if (message->parked)
		list_append(&ep->parked, &message->parked_node);

	list_append(&ep->unexpected, &message->node);
	list_append(&omx__context_of(ep, arrival->match_info)->unexpected,
		    &message->context_node);
	partner->messages++;
	return true;
}

void omx__unexpected_release_ring(struct omx__endpoint *ep)
{
	uint32_t tail = ep->ring.head;

	if (unlikely(!list_empty(&ep->parked))) {
		make_room_for_answers(ep);
		if (!list_empty(&ep->parked))
			tail = first_parked(ep)->position;
	}
	if (tail != ep->ring.released)
		omx__ring_release(&ep->ring, ep->fd, tail);
}

/* Memory has become free: use it for those that occupy the ring. */
static void unpark(struct omx__endpoint *ep)
{
	while (!list_empty(&ep->parked)) {
		struct message *message = first_parked(ep);

		if (!store(ep, message))
			break;
		message->parked = false;
		list_remove(&message->parked_node);
	}
	if (!ep->consuming)
		omx__unexpected_release_ring(ep);
}

static void unlink_message(struct omx__endpoint *ep, struct message *message)
{
	list_remove(&message->node);
	list_remove(&message->context_node);
	ep->unexpected_bytes -= message->charge;
	message->partner->messages--;
}

/* Its payload is not needed any more. */
static void dispose(struct omx__endpoint *ep, struct message *message)
{
	bool was_parked = message->parked;

	if (was_parked)
		list_remove(&message->parked_node);
	free_message(ep, message);
	if (unlikely(was_parked || !list_empty(&ep->parked)))
		unpark(ep);
}

static struct message *find_in_context(struct list *messages, uint64_t match_info,
				       uint64_t match_mask)
{
	struct list *node;

	for (node = messages->next; node != messages; node = node->next) {
		struct message *message = list_entry(node, struct message, context_node);

		if (omx__matches(message->arrival.match_info, match_info, match_mask))
			return message;
	}
	return NULL;
}

static struct message *find_in_all(struct list *messages, uint64_t match_info,
				   uint64_t match_mask)
{
	struct list *node;

	for (node = messages->next; node != messages; node = node->next) {
		struct message *message = list_entry(node, struct message, node);

		if (omx__matches(message->arrival.match_info, match_info, match_mask))
			return message;
	}
	return NULL;
}

struct message *omx__unexpected_find(struct omx__endpoint *ep, uint64_t match_info,
				     uint64_t match_mask)
{
	if (!omx__context_named(ep, match_mask))
		return find_in_all(&ep->unexpected, match_info, match_mask);
	return find_in_context(&omx__context_of(ep, match_info)->unexpected,
			       match_info, match_mask);
}

static cold void fail(struct omx__request *req, const struct message *message)
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

	unlink_message(ep, message);
	if (likely(!message->lost))
		omx__deliver(req, message->partner, &message->arrival);
	else
		fail(req, message);
	dispose(ep, message);
}

omx_message_t omx__unexpected_hold(struct omx__endpoint *ep, struct message *message)
{
	list_remove(&message->context_node);
	list_init(&message->context_node);
	list_remove(&message->node);
	list_append(&ep->held, &message->node);
	return (omx_message_t)message;
}

struct message *omx__unexpected_held(struct omx__endpoint *ep, omx_message_t handle)
{
	struct list *node, *next;

	list_for_each(node, next, &ep->held) {
		struct message *message = list_entry(node, struct message, node);

		if ((omx_message_t)message == handle)
			return message;
	}
	return NULL;
}

static void lose_held(struct omx__endpoint *ep, struct partner *partner, omx_return_t reason)
{
	struct list *node, *next;

	list_for_each(node, next, &ep->held) {
		struct message *message = list_entry(node, struct message, node);

		if (message->partner == partner && message->arrival.rendezvous)
			message->lost = reason;
	}
}

void omx__unexpected_purge(struct omx__endpoint *ep, struct partner *partner,
			   omx_return_t reason)
{
	struct list *node, *next;

	lose_held(ep, partner, reason);
	list_for_each(node, next, &ep->unexpected) {
		struct message *message = list_entry(node, struct message, node);

		if (message->partner != partner || !message->arrival.rendezvous)
			continue;
		unlink_message(ep, message);
		dispose(ep, message);
	}
}

static void free_list(struct list *messages)
{
	struct list *node, *next;

	list_for_each(node, next, messages) {
		struct message *message = list_entry(node, struct message, node);

		free(message->memory);
		free(message);
	}
	list_init(messages);
}

void omx__unexpected_free_all(struct omx__endpoint *ep)
{
	struct list *node, *next;

	free_list(&ep->unexpected);
	free_list(&ep->held);
	list_init(&ep->parked);
	list_for_each(node, next, &ep->free_messages)
		free(list_entry(node, struct message, node));
	list_init(&ep->free_messages);
	ep->free_message_count = 0;
	ep->unexpected_bytes = 0;
}
