/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All system calls of the library on /dev/omx.  The unit tests replace them by a
 * mock driver.
 *
 * Any thread may call them, and no lock is needed; the ioctls that act on an
 * endpoint are called with the endpoint's lock held, except those that sleep.
 */
#ifndef OMX_DRIVER_H
#define OMX_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "omx_abi.h"

/* Returns a new descriptor or -errno. */
int omx__driver_open(void);
void omx__driver_close(int fd);

/* Returns 0 or -errno.  A signal restarts the ioctl, unless that waits. */
int omx__driver_ioctl(int fd, unsigned long command, void *argument);

/* Returns NULL on failure.  A child made by fork() does not inherit the mapping. */
void *omx__driver_map(int fd, uint64_t offset, size_t length, bool writable);
void omx__driver_unmap(const void *map, size_t length);

#endif
