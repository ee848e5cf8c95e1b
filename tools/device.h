/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests to the driver through /dev/omx (omx_abi.h), which apply to the
 * network namespace of the caller. These functions print why a request failed
 * and what to do about it; callers only pass the failure on.
 */
#ifndef OMX_TOOLS_DEVICE_H
#define OMX_TOOLS_DEVICE_H

#include "omx_abi.h"
#include "objects.h"

struct device {
	int fd;
	struct omx_ioc_info info;
};

/*
 * Returns 0, or -1 after printing the reason. The functions below do the
 * same.
 */
int device_open(struct device *device);
void device_close(struct device *device);

/* The copy engine of memory mode device.  -1, silently: the driver knows none. */
int device_engine(const struct device *device, struct omx_ioc_engine *engine);

/* Prints "cannot WHAT: reason (hint)" for errno, and returns -1. */
int device_fail(const char *what, ...) __attribute__((format(printf, 1, 2)));

/*
 * Lists the board with the number `only`, or all boards if that is OMX_ANY.
 * It is an error if there is none.
 */
int device_boards(const struct device *device, uint32_t only,
		  struct board_list *list);

/*
 * Appends the peers of a board. The caller frees the list, also after a
 * failure.
 */
int device_peers(const struct device *device, uint32_t board,
		 struct peer_list *list);

#endif
