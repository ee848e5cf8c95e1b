/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What would slow a board down, each with the command that mends it.
 * Judging is apart from asking the system, so that it can be tested.
 */
#ifndef OMX_TOOLS_ADVICE_H
#define OMX_TOOLS_ADVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "device.h"

#define MTU_WANTED 9000		/* fewer, larger frames */
#define RX_USECS_MAX 12		/* more delays each small message by as much */

/* What the system says of the interface, beside the driver's own view. */
struct link_state {
	bool known;		/* false: could not be asked; nothing is said of it */
	bool admin_up;
	bool coalesce_known;
	bool adaptive_rx;
	unsigned int rx_usecs;
};

struct advice {
	char problem[192];
	char command[128];
};

struct advice_list {
	struct advice *advice;
	size_t count;
};

/* Reads it for an interface of this network namespace. */
void link_state_read(const char *ifname, struct link_state *state);

/* Appends what is wrong with the board, and between it and its peers. */
void advise_board(const struct omx_ioc_board *board,
		  const struct link_state *state, struct advice_list *list);
void advise_peers(const struct omx_ioc_board *board,
		  const struct peer_list *peers, struct advice_list *list);
void advice_list_free(struct advice_list *list);

#endif
