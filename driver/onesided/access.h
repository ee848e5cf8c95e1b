/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Small one-sided accesses at their initiator, PUT, GET and ATOMIC: from the ioctl
 * to the ACCESS_RESPONSE packet of the target.
 */
#ifndef OMX_ONESIDED_ACCESS_H
#define OMX_ONESIDED_ACCESS_H

#include <linux/types.h>

struct omx_channel;
struct omx_endpoint;
struct sk_buff;

/* ---- process context ---- */
/* OMX_IOC_PUT, OMX_IOC_GET, OMX_IOC_ATOMIC */
long omx_put(struct omx_endpoint *ep, void __user *arg);
long omx_get(struct omx_endpoint *ep, void __user *arg);
long omx_atomic(struct omx_endpoint *ep, void __user *arg);
/* The channels of the endpoint have been destroyed. */
void omx_accesses_destroy(struct omx_endpoint *ep);

/* ---- any context ---- */
/* Ends `most` accesses of the channel at most.  Returns how many. */
unsigned int omx_accesses_fail(struct omx_channel *ch, u8 status, unsigned int most);

/*
 * Softirq, or process context if the packet had to wait for room; in order, with the
 * channel's lock held.  True: skb is consumed; false: there is no room now.
 */
bool omx_receive_access_response(struct omx_channel *ch, struct sk_buff *skb);

#endif
