/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Eager messages out: copied from the program into frames at once.
 */
#ifndef OMX_SEND_EAGER_H
#define OMX_SEND_EAGER_H

struct omx_endpoint;

long omx_send_eager(struct omx_endpoint *ep, void __user *arg);

#endif
