/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files that respond to pull requests share:
 *
 *   respond.c           sends what the request asks for
 *   respond_page_in.c   keeps requests that wait for pages
 *   respond_copies.c    has an engine fill the frames
 *
 * BH off unless stated otherwise.
 */
#ifndef OMX_PULL_RESPOND_H
#define OMX_PULL_RESPOND_H

#include <linux/ktime.h>
#include <linux/skbuff.h>

#include "memory/cursor.h"
#include "net/frame.h"
#include "omx_wire.h"

struct omx_board;
struct omx_channel;
struct omx_rndv;

/* A request, in the processor's byte order, and what it takes to respond. */
struct omx_request {
	struct omx_rndv *rndv;
	struct omx_cursor cursor;
	u64 offset;
	u32 length;
	u32 wanted;			/* bit i: frame i has not been sent */
	u32 frame_length;
	struct omx_packet_response header;
	s32 credit;			/* bytes that may be sent although the device is busy */
	u32 sent;			/* bytes */
	bool scatter;			/* the device sends page fragments as they are */
	u32 frames_max;			/* in one skb */
};

/* In the control block of a request while this host works on it. */
struct omx_request_state {
	u32 wanted;			/* bit i: frame i has not been sent */
	u8 tries;			/* of an engine, whose pages had gone */
	bool early;			/* served before the message was prepared */
	ktime_t received;
};

static inline struct omx_request_state *omx_request_state(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct omx_request_state) > sizeof(skb->cb));
	return (struct omx_request_state *)skb->cb;
}

/* ---- respond.c ---- */
/* A request that has been checked; its cursor is the caller's to end. */
void omx_request_init(struct omx_request *request, struct omx_rndv *rndv,
		      const struct omx_wire_pull_request *body, u32 wanted);
/*
 * Sends the frames that are wanted, at most OMX_BLOCK_FRAMES.  -EAGAIN: what is still wanted
 * has no pages; -EBUSY: the device has enough to send.  RCU read lock held, BH off.
 */
int omx_respond_with_frames(struct omx_request *request);
/*
 * A request that has been checked.  If the queue of the device is full, no more than
 * `credit` bytes and one frame are sent, and the rest waits.  Returns how many were sent.
 * Consumes skb.  RCU read lock held.
 */
u32 omx_respond(struct omx_rndv *rndv, struct sk_buff *skb, s32 credit);
/* The turn of a request that waits for the device's queue.  The same. */
u32 omx_pull_request_turn(struct omx_board *board, struct sk_buff *skb, s32 credit);
/*
 * Sends a response, which counts for the queue of the device until that has sent it.  RCU
 * read lock held.
 */
void omx_response_xmit(struct omx_channel *ch, struct sk_buff *skb);
/* Tells the puller that its message has failed. */
void omx_respond_nack(struct omx_channel *ch, __be32 pull, u8 status);
/* Tells the puller to be patient.  False: it will request again, too early. */
bool omx_respond_hold(struct omx_channel *ch, const struct omx_wire_pull_request *request,
		      u8 flags);

/* Have both requests asked for the same block? */
bool omx_request_is_same(const struct sk_buff *a, const struct sk_buff *b);

/* ---- respond_copies.c ---- */
#ifdef OMX_DMA
/*
 * Has an engine fill the frames, which are sent then.  False: none can, now or for this
 * message.  Consumes skb unless it returns false.  RCU read lock held.
 */
bool omx_respond_by_engine(struct omx_rndv *rndv, struct sk_buff *skb);
#else
static inline bool omx_respond_by_engine(struct omx_rndv *rndv, struct sk_buff *skb)
{
	return false;
}
#endif

/* ---- respond_page_in.c ---- */
/* Keeps a request until its pages are there.  Consumes skb.  RCU read lock held. */
void omx_rndv_defer(struct omx_rndv *rndv, struct sk_buff *skb);
/*
 * Resident pages have been translated: serves the requests that came before.  Process
 * context.
 */
void omx_rndv_resume(struct omx_rndv *rndv);

#endif
