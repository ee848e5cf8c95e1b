/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sleeping in the driver, and waking programs when their ring has something for
 * them.
 */
#ifndef OMX_WAKEUP_H
#define OMX_WAKEUP_H

#include <linux/compiler_types.h>

struct omx_completion;
struct omx_endpoint;

/* ---- process context ---- */
void omx_wakeup_init(struct omx_endpoint *ep);
void omx_wakeup_stop(struct omx_endpoint *ep);
/* OMX_IOC_WAIT and OMX_IOC_WAKEUP */
long omx_endpoint_wait(struct omx_endpoint *ep, void __user *arg);
long omx_endpoint_wakeup(struct omx_endpoint *ep);

/* ---- any context ---- */
/* Something was appended to the ring. */
void omx_endpoint_notify(struct omx_endpoint *ep);
/*
 * Messages that the program has left in the driver keep others from arriving: threads that wait
 * are woken though the ring has nothing new, and fetch them.
 */
void omx_endpoint_notify_fetch(struct omx_endpoint *ep);
/* As omx_endpoint_notify(), and a transfer stops until the program or its helper has seen it. */
void omx_endpoint_notify_urgent(struct omx_endpoint *ep);
/* A thread that was `attending` returns to its program. */
void omx_endpoint_leave(struct omx_endpoint *ep);
/* Posts a completion to the ring and wakes the program. */
void omx_endpoint_post(struct omx_endpoint *ep, struct omx_completion *completion);

#endif
