/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The library as a whole.
 */
#ifndef OMX_INIT_H
#define OMX_INIT_H

#include "omx_abi.h"
#include "open-mx.h"

/*
 * Asks the driver a question that needs no endpoint.  0 or -errno;
 * -ENOTCONN before omx_init.
 */
int omx__query_driver(unsigned long command, void *argument);

/* NOT_INITIALIZED, or what the driver has said about itself. */
omx_return_t omx__driver_info(struct omx_ioc_info *info);

#endif
