/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Our accesses to windows of peers: puts, gets and atomics that fit packets of the
 * channel.  Each ends with its response or its channel, puts that succeed also with an
 * ack.
 */
#ifndef OMX_ONESIDED_ACCESS_H
#define OMX_ONESIDED_ACCESS_H

#include <linux/types.h>

struct omx_channel;
struct omx_endpoint;
struct sk_buff;

/*
 * How many accesses of a channel may be without a response (-EBUSY beyond).  The
 * target queues that many responses behind its own messages, whatever our window:
 * with more, two endpoints that access each other could wait for ever.
 */
#define OMX_ACCESSES_MAX	256

/* ---- process context ---- */
/* OMX_IOC_PUT, OMX_IOC_PUT_RNDV, OMX_IOC_GET, OMX_IOC_ATOMIC, OMX_IOC_FLUSH_ACTIVE */
long omx_put(struct omx_endpoint *ep, void __user *arg);
long omx_put_rndv(struct omx_endpoint *ep, void __user *arg);
long omx_get(struct omx_endpoint *ep, void __user *arg);
long omx_atomic(struct omx_endpoint *ep, void __user *arg);
long omx_flush_active(struct omx_endpoint *ep, void __user *arg);
/* OMX_IOC_PUT_LOCAL, OMX_IOC_GET_LOCAL */
long omx_put_local(struct omx_endpoint *ep, void __user *arg);
long omx_get_local(struct omx_endpoint *ep, void __user *arg);
/* The endpoint closes; its channels are gone. */
void omx_accesses_destroy(struct omx_endpoint *ep);

/* ---- any context ---- */
/* Ends `most` accesses of the channel at most.  Returns how many. */
unsigned int omx_accesses_fail(struct omx_channel *ch, u8 status, unsigned int most);

/* The channel ends, ch->lock held: frees the access that is kept for the next one. */
void omx_access_drop_spare(struct omx_channel *ch);

/*
 * Softirq, or process context if the packet had to wait for room; in order, with the
 * channel's lock held.  True: skb is consumed; false: there is no room now.
 */
bool omx_receive_access_response(struct omx_channel *ch, struct sk_buff *skb);

/* The same; an ack of what we have sent, which says in this field what was performed. */
void omx_receive_performed(struct omx_channel *ch, u32 ack, u8 field);

/*
 * The same response again, if the bytes of the get are to be pulled by the driver: it
 * was put into the queue of the peer's accesses, because this needs ch->lock not held.
 * BH off, RCU read lock held.  -EAGAIN: there is no memory now.
 */
int omx_access_pull(struct omx_channel *ch, const struct sk_buff *skb);

#endif
