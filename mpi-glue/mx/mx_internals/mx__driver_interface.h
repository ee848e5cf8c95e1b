/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Of the inside of Myricom's MX: what MPI libraries use.
 */
#ifndef MX__DRIVER_INTERFACE_H
#define MX__DRIVER_INTERFACE_H

#include <stddef.h>

#include <mx_io.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* What a mapper, which Ethernet needs none, has found out about the network. */
typedef struct mx_mapper_state {
	uint32_t board_number;
	uint8_t mapper_mac[6];		/* tells networks apart; 0: they are all one */
	uint16_t iport;
	uint32_t map_version;		/* 0: there is no map */
	uint32_t num_hosts;		/* 0: not counted */
	uint32_t network_configured;	/* 1 */
	uint32_t routes_valid;		/* 1 */
	uint32_t level;
	uint32_t flags;
} mx_mapper_state_t;

/*
 * Fills the whole structure, board_number and iport included.
 * BOARD_UNKNOWN: not a handle, or the board was removed.  Does not block.
 */
mx_return_t mx__get_mapper_state(mx_endpt_handle_t handle, mx_mapper_state_t *state);

/*
 * "The program is about to unmap this memory": does nothing and returns 0,
 * at any time, in any thread.  The driver is told by the kernel itself before
 * memory goes, so nothing that the library keeps can be stale.
 */
int mx__regcache_clean(void *ptr, size_t length);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
