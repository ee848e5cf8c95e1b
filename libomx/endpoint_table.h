/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of all endpoints of the process, by the low bits of their ids, and
 * what fork() does to them.
 *
 * Called when endpoints are opened and closed (endpoint.c), by public functions
 * that name an endpoint by an address only (address.c), and by omx_init,
 * omx_finalize and fork() (init.c).  The table has a lock of its own, which is
 * acquired before the locks of endpoints.
 */
#ifndef OMX_ENDPOINT_TABLE_H
#define OMX_ENDPOINT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct omx__endpoint;

/*
 * A structure for a new endpoint, with its lock, its id and state CLOSED,
 * else zero; NULL: out of memory or of ids.
 */
struct omx__endpoint *omx__endpoint_table_alloc(void);

/* Frees the slot; the endpoint is CLOSED or (in a child) FORKED. */
void omx__endpoint_table_free(struct omx__endpoint *ep);

/* Closes ep->fd and sets it to -1. */
void omx__endpoint_table_close_fd(struct omx__endpoint *ep);

/*
 * The structure in the slot of this id, NULL if there is none.  It may belong to
 * another endpoint by now: the caller must enter it and compare the id.
 */
struct omx__endpoint *omx__endpoint_table_find(uint32_t id);

/* Does the calling thread run an unexpected handler? */
bool omx__endpoint_table_in_handler(void);

/* Closes every open endpoint. */
void omx__endpoint_table_close_all(void);

/* For pthread_atfork, see init.c. */
void omx__endpoint_table_before_fork(void);
void omx__endpoint_table_after_fork(void);
void omx__endpoint_table_in_child(void);

#endif
