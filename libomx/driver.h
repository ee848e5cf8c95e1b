/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every system call that the library makes on /dev/omx.  The unit tests put
 * a driver of their own behind these functions.
 */
#ifndef OMX_DRIVER_H
#define OMX_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "omx_abi.h"

/* A new descriptor or -errno. */
int omx__driver_open(void);
void omx__driver_close(int fd);

/* 0 or -errno.  Restarted after signals, except OMX_IOC_WAIT. */
int omx__driver_ioctl(int fd, unsigned long command, void *argument);

/* NULL if it failed.  Children made by fork() do not inherit the mapping. */
void *omx__driver_map(int fd, uint64_t offset, size_t length, bool writable);
void omx__driver_unmap(const void *map, size_t length);

#endif
