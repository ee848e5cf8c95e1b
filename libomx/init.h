/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state of the library as a whole is one descriptor of the driver that needs
 * no endpoint, open between omx_init and omx_finalize.
 *
 * Any thread may call these functions; they acquire a lock of their own.
 */
#ifndef OMX_INIT_H
#define OMX_INIT_H

#include "omx_abi.h"
#include "open-mx.h"

/*
 * Calls an ioctl that needs no endpoint.  0 or -errno; -ENOTCONN: before
 * omx_init.
 */
int omx__query_driver(unsigned long command, void *argument);

/* What OMX_IOC_INFO returned to omx_init.  NOT_INITIALIZED. */
omx_return_t omx__driver_info(struct omx_ioc_info *info);

#endif
