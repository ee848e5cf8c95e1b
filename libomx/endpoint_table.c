/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A slot of the table of endpoints keeps its structure when the endpoint is
 * closed, and the next endpoint in that slot uses it again.  endpoint.h has the
 * reason.
 *
 * After fork() the rings are not mapped in the child, and its descriptors would
 * keep the endpoints open after the parent has closed them.  So the child
 * closes the descriptors and forgets its endpoints.  Other threads of the
 * parent may have held the endpoints' locks at the time of the fork; the child
 * initializes these locks again.
 */
#include "endpoint_table.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "endpoint.h"
#include "init.h"
#include "log.h"
#include "omx_abi.h"
#include "pager.h"

#define SLOTS		8192		/* endpoints of one process */
#define SLOT_BITS	16

_Static_assert(SLOTS <= 1 << SLOT_BITS, "the low bits of an id must hold any slot");

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct omx__endpoint *table[SLOTS];
static bool in_use[SLOTS];

static struct omx__endpoint *table_make_entry(uint32_t slot)
{
	struct omx__endpoint *ep = calloc(1, sizeof(*ep));

	if (!ep)
		return NULL;
	ep->id = slot;
	/* Release: pairs with the acquire of omx__endpoint_table_find. */
	__atomic_store_n(&table[slot], ep, __ATOMIC_RELEASE);
	return ep;
}

/* Gives the structure a new id, and zeroes what does not outlive an endpoint. */
static void table_renew(struct omx__endpoint *ep)
{
	const size_t kept = offsetof(struct omx__endpoint, state);

	omx__lock(&ep->lock);
	ep->id += 1u << SLOT_BITS;
	memset((char *)ep + kept, 0, sizeof(*ep) - kept);
	omx__unlock(&ep->lock);
}

struct omx__endpoint *omx__endpoint_table_alloc(void)
{
	struct omx__endpoint *ep = NULL;
	uint32_t slot;

	pthread_mutex_lock(&table_lock);
	for (slot = 0; slot < SLOTS; slot++) {
		if (!in_use[slot])
			break;
	}
	if (slot < SLOTS) {
		ep = table[slot] ? table[slot] : table_make_entry(slot);
		in_use[slot] = ep;
	}
	pthread_mutex_unlock(&table_lock);
	if (ep)
		table_renew(ep);
	return ep;
}

static uint32_t slot_of(uint32_t id)
{
	return id & ((1u << SLOT_BITS) - 1);
}

void omx__endpoint_table_free(struct omx__endpoint *ep)
{
	pthread_mutex_lock(&table_lock);
	in_use[slot_of(ep->id)] = false;
	pthread_mutex_unlock(&table_lock);
}

struct omx__endpoint *omx__endpoint_table_find(uint32_t id)
{
	uint32_t slot = slot_of(id);

	return slot < SLOTS ? __atomic_load_n(&table[slot], __ATOMIC_ACQUIRE) : NULL;
}

/*
 * The lock keeps a fork() from happening between close() and fd = -1: the
 * child would close the number once more, and it may be another file of the
 * program's by then.
 */
void omx__endpoint_table_close_fd(struct omx__endpoint *ep)
{
	pthread_mutex_lock(&table_lock);
	omx__driver_close(ep->fd);
	ep->fd = -1;
	pthread_mutex_unlock(&table_lock);
}

static bool in_handler_of(struct omx__endpoint *ep)
{
	bool in_handler;

	if (omx__enter(ep))
		return false;
	in_handler = omx__in_handler(ep) || omx__in_log_handler(ep);
	omx__leave(ep);
	return in_handler;
}

bool omx__endpoint_table_in_handler(void)
{
	uint32_t slot;

	for (slot = 0; slot < SLOTS; slot++) {
		if (in_handler_of(omx__endpoint_table_find(slot)))
			return true;
	}
	return false;
}

void omx__endpoint_table_close_all(void)
{
	uint32_t slot;

	for (slot = 0; slot < SLOTS; slot++) {
		struct omx__endpoint *ep = omx__endpoint_table_find(slot);

		if (ep)
			omx__endpoint_close(ep);
	}
}

void omx__endpoint_table_before_fork(void)
{
	pthread_mutex_lock(&table_lock);
}

void omx__endpoint_table_after_fork(void)
{
	pthread_mutex_unlock(&table_lock);
}

static void table_orphan(struct omx__endpoint *ep)
{
	ep->lock = (struct lock){ 0 };
	if (ep->state != ENDPOINT_OPEN && ep->state != ENDPOINT_CLOSING)
		return;
	ep->state = ENDPOINT_FORKED;
	if (ep->fd >= 0)
		omx__driver_close(ep->fd);
	omx__pager_orphan(ep);
}

void omx__endpoint_table_in_child(void)
{
	uint32_t slot;

	for (slot = 0; slot < SLOTS; slot++) {
		if (table[slot])
			table_orphan(table[slot]);
	}
	pthread_mutex_unlock(&table_lock);
}
