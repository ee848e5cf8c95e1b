/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program announces that it is going to use some memory for communication.
 */
#ifndef OMX_PREFETCH_H
#define OMX_PREFETCH_H

#include <linux/compiler.h>

struct omx_endpoint;

/* OMX_IOC_PREFETCH.  Process context, of the program that owns the memory. */
long omx_prefetch(struct omx_endpoint *ep, void __user *arg);

#endif
