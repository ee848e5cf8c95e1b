/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All endpoints of the process, and what fork() does to them.
 */
#ifndef OMX_TABLE_H
#define OMX_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct omx__endpoint;

/*
 * A structure for a new endpoint, with its lock, its id and state CLOSED,
 * else zero; NULL: out of memory or of ids.
 */
struct omx__endpoint *omx__table_alloc(void);

/* Gives it back; its state is CLOSED or (in a child) FORKED. */
void omx__table_free(struct omx__endpoint *ep);

/* Closes its descriptor, ep->fd, which is -1 then. */
void omx__table_close_fd(struct omx__endpoint *ep);

/* The structure with this id, NULL if it is gone.  It has to be entered to be used. */
struct omx__endpoint *omx__table_find(uint32_t id);

/* Does the calling thread run an unexpected handler? */
bool omx__table_in_handler(void);

/* Closes all that are open. */
void omx__table_close_all(void);

/* For pthread_atfork, see init.c. */
void omx__table_before_fork(void);
void omx__table_after_fork(void);
void omx__table_in_child(void);

#endif
