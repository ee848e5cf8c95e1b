/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sending eager messages: OMX_IOC_SEND.
 */
#ifndef OMX_EAGER_SEND_H
#define OMX_EAGER_SEND_H

struct omx_endpoint;

long omx_send_eager(struct omx_endpoint *ep, void __user *arg);

#endif
