/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Advice: what would make a board slow, each with the command that corrects
 * it. Reading the state of the system (link_state.c) and judging it
 * (advice.c) are separate, so that unit tests can judge any state.
 */
#ifndef OMX_TOOLS_ADVICE_H
#define OMX_TOOLS_ADVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "objects.h"

#define MTU_WANTED 9000		/* fewer, larger frames */
#define RX_USECS_MAX 12		/* a longer delay is added to the latency of each small message */

/*
 * The state of the interface as the kernel reports it, in addition to what
 * the driver reports.
 */
struct link_state {
	bool known;		/* false: it could not be read; no advice about it */
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

/* Reads the state of an interface of the caller's network namespace. */
void link_state_read(const char *ifname, struct link_state *state);

/* Append advice about the board, and about the board and its peers. */
void advise_board(const struct omx_ioc_board *board,
		  const struct link_state *state, struct advice_list *list);
void advise_peers(const struct omx_ioc_board *board,
		  const struct peer_list *peers, struct advice_list *list);
void advice_list_free(struct advice_list *list);

#endif
