/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the driver itself is, which its device says (omx_abi.h).  Boards, peers and counters
 * are asked of the netlink family: objects.h.
 */
#ifndef OMX_TOOLS_DEVICE_H
#define OMX_TOOLS_DEVICE_H

#include "omx_abi.h"

#define DEVICE_PATH	"/dev/omx"

struct device {
	int fd;
	struct omx_ioc_info info;
};

/* Returns 0, or -1 after printing the reason and what to do about it. */
int device_open(struct device *device);
void device_close(struct device *device);

/* The copy engine of memory mode device.  -1, silently: the driver knows none. */
int device_engine(const struct device *device, struct omx_ioc_engine *engine);

#endif
