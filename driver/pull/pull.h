/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The pull engine: large messages are fetched by the side that receives them.
 * request.c asks, respond.c answers, response.c takes the replies in.  None
 * waits for a page: what lacks one is put aside until page-in brings it (pager.h).
 *
 * Every interface lets a bounded number of frames be on their way to it, over
 * all pulls: senders cannot overrun a switch port together (incast).  A pull
 * that must wait queues behind the others and gets its turn when frames
 * arrive.
 */
#ifndef OMX_PULL_H
#define OMX_PULL_H

#include <linux/types.h>

#define OMX_PULL_TIMEOUT_MIN_US	10000	/* silence after which one asks again */

struct omx_channel;
struct omx_endpoint;
struct omx_board;
struct omx_rndv;
struct sk_buff;
struct omx_pager_work;

/* Process context. */
/* Of a message that is pulled: brings the pages that requests wait for. */
void omx_rndv_page_in(struct omx_pager_work *work);
long omx_pull(struct omx_endpoint *ep, void __user *arg);
void omx_pulls_destroy(struct omx_endpoint *ep);

/* Any context. */
/* Ends `most` pulls of the channel at most.  Returns how many. */
unsigned int omx_pulls_fail(struct omx_channel *ch, u8 status, unsigned int most);
/* rndv->lock held: the message has ended, its requests need not wait. */
void omx_rndv_drop_deferred(struct omx_rndv *rndv);

/* Softirq, RCU read lock held. */
void omx_pull_refused(struct omx_channel *ch, u32 id, u8 status);
/* Validated frames; consume skb. */
void omx_pull_request_pkt(struct omx_board *board, struct omx_endpoint *ep,
			  struct sk_buff *skb);
void omx_pull_hold_pkt(struct omx_board *board, struct omx_endpoint *ep,
		       struct sk_buff *skb);
void omx_pull_response_pkt(struct omx_board *board, struct omx_endpoint *ep,
			   struct sk_buff *skb);

#endif
