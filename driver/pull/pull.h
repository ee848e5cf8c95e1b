/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Large messages are pulled by the side that receives them [Goglin09].
 * request.c requests frames, respond.c responds to requests at the sender,
 * response.c receives the responses.  None of them waits for a page: a request or
 * a frame whose page is absent is kept until page-in has brought it (pager.h).
 * Beyond the limits there it is dropped, and requested again later.
 */
#ifndef OMX_PULL_H
#define OMX_PULL_H

#include <linux/types.h>

/* Of silence before frames are requested again, at least. */
#define OMX_PULL_TIMEOUT_MIN_US	10000U

struct omx_channel;
struct omx_endpoint;
struct omx_board;
struct omx_ioc_pull;
struct omx_pull;
struct omx_rndv;
struct omx_window;
struct omx_wire_put_rndv;
struct sk_buff;
struct omx_pager_work;

/* Process context. */
/* Of a message that is pulled: brings the pages that requests wait for. */
void omx_rndv_page_in(struct omx_pager_work *work);
long omx_pull(struct omx_endpoint *ep, void __user *arg);
void omx_pulls_destroy(struct omx_endpoint *ep);
/*
 * Ends the pulls into this window with BAD_WINDOW; none can begin any more.  They
 * put their references on the window when they write to its memory no more.
 */
void omx_pulls_revoke(struct omx_endpoint *ep, const struct omx_window *window);

/* Any context. */
/* Ends `most` pulls of the channel at most.  Returns how many. */
unsigned int omx_pulls_fail(struct omx_channel *ch, u8 status, unsigned int most);
/* rndv->lock held: the message has ended, its requests need not wait. */
void omx_rndv_drop_deferred(struct omx_rndv *rndv);

/*
 * Pulls a put of a peer into a window.  BH off, within the read-side section of RCU in
 * which the window was found; ch->lock not held.  After 0 the NOTIFY tells the peer how
 * the put ends, and OMX_EVENT_PUT the program if the packet says so.  -ENOMEM, -ENOSPC,
 * -ENOTCONN; -ENOENT: the window is revoked.
 */
int omx_pull_into_window(struct omx_channel *ch, struct omx_window *window,
			 const struct omx_wire_put_rndv *put);

/*
 * A get whose bytes the driver pulls by itself, in two steps.  Process context: makes
 * the pull, with its memory prepared as its mode demands; ERR_PTR.
 */
struct omx_pull *omx_pull_make_get(struct omx_channel *ch, const struct omx_ioc_pull *ioc);
/*
 * BH off, RCU read lock held, ch->lock not held: the peer has announced the bytes.  After
 * 0 the pull ends with its completion and its NOTIFY.  -ENOMEM, -ENOSPC, -ENOTCONN.
 */
int omx_pull_start_get(struct omx_pull *pull, u32 message);
/* A pull that has not been started. */
void omx_pull_discard(struct omx_pull *pull);

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
