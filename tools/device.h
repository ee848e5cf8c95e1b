/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The questions that an open /dev/omx answers (omx_abi.h), asked in the
 * network namespace of the caller.  What goes wrong is printed here, with
 * what to do about it; callers only pass the failure on.
 */
#ifndef OMX_TOOLS_DEVICE_H
#define OMX_TOOLS_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "omx_abi.h"

struct device {
	int fd;
	struct omx_ioc_info info;
};

struct board_list {
	struct omx_ioc_board board[OMX_BOARD_MAX];
	unsigned int count;
};

struct peer_list {
	struct omx_ioc_peer *peer;
	size_t count;
};

/* 0, or -1 once the reason is printed; so do all below. */
int device_open(struct device *device);
void device_close(struct device *device);

/* Prints "cannot WHAT: reason (hint)" for errno; -1. */
int device_fail(const char *what, ...) __attribute__((format(printf, 1, 2)));

/* The board called `only`, or with OMX_ANY all there are: at least one. */
int device_boards(const struct device *device, uint32_t only,
		  struct board_list *list);

/* Appends the peers of a board; peer_list_free() in any case. */
int device_peers(const struct device *device, uint32_t board,
		 struct peer_list *list);
int peer_list_append(struct peer_list *list,
		     const struct omx_ioc_peer *peer);
void peer_list_free(struct peer_list *list);

#endif
