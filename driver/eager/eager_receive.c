// SPDX-License-Identifier: GPL-2.0
/*
 * Receiving eager messages: tiny and small ones are copied into the ring, medium
 * ones stay in their frames until the program fetches them.
 *
 * The channel calls omx_receive_eager() in order and with its lock held: in softirq,
 * or in process context for packets that had to wait for room.  chardev.c calls
 * omx_fetch() for OMX_IOC_FETCH, in process context.
 */
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "channel/channel.h"
#include "channel/receive_window.h"
#include "eager/bundle.h"
#include "eager/eager_receive.h"
#include "endpoint/budget.h"
#include "endpoint/endpoint.h"
#include "endpoint/user_buffer.h"
#include "endpoint/wakeup.h"
#include "net/board.h"
#include "net/frame.h"
#include "net/gso_skb.h"

/* Frames that use more memory than so many times their payload are copied. */
#define WASTE_MAX	4
#define MERGED_ROOM	(SKB_WITH_OVERHEAD(4096) - OMX_EAGER_HEADER)

/* Frames that stay until each message that has bytes in them has been fetched. */
struct omx_frames {
	refcount_t users;
	u32 truesize;
	u32 count;
	struct sk_buff *frame[];
};

/* A medium message that waits to be fetched.  Those of a long bundle have the same frames. */
struct omx_message {
	u32 id;				/* first: omx_table_pop() */
	struct rcu_head rcu;
	u32 length;
	u32 first;			/* the frame that has its first byte, */
	u32 offset;			/* ... and where */
	struct omx_frames *frames;
};

static void frames_free(struct sk_buff *skb)
{
	/* With BH off, so that their heads are used for the next frames. */
	local_bh_disable();
	while (skb) {
		struct sk_buff *next = skb->next;

		skb_mark_not_on_list(skb);
		omx_gro_free(skb);
		skb = next;
	}
	local_bh_enable();
}

/* Its channel has no lock yet, or is locked. */
static struct omx_budget *partial_budget(struct omx_partial *partial)
{
	return &container_of(partial, struct omx_channel, partial)->ep->budget;
}

/*
 * A message that has begun to arrive is charged what it will take at least.  What it takes
 * is charged when it is complete.
 */
static void partial_charge(struct omx_partial *partial)
{
	if (partial->charged)
		return;
	partial->charged = partial->length;
	omx_budget_charge(partial_budget(partial), partial->charged);
}

static void partial_uncharge(struct omx_partial *partial)
{
	if (partial->charged)
		omx_budget_uncharge(partial_budget(partial), partial->charged);
	partial->charged = 0;
}

static u32 payload_of(const struct sk_buff *skb)
{
	return skb->len - OMX_EAGER_HEADER;
}

static struct omx_event recv_event(const struct omx_channel *ch, u64 match_info,
				   u32 length, u32 message)
{
	return (struct omx_event){
		.type = OMX_EVENT_RECV,
		.channel = ch->id,
		.match_info = match_info,
		.length = length,
		.message = message,
	};
}

/* Is there room for another message that stays here until it is fetched? */
static bool endpoint_may_keep(struct omx_endpoint *ep)
{
	return atomic_read(&ep->unfetched) < 2 * OMX_UNFETCHED_MAX && omx_endpoint_may_hold(ep);
}

/* ---- messages of one frame ---- */

bool omx_eager_push(struct omx_channel *ch, u64 match_info, const struct sk_buff *skb, int offset,
		    u32 length)
{
	struct omx_event event = recv_event(ch, match_info, length, 0);

	lockdep_assert_held(&ch->lock);
	if (!omx_ring_push(&ch->ep->ring, &event, skb, offset, length))
		return false;
	omx_traffic_add(&ch->received, 1, length);
	omx_endpoint_notify(ch->ep);
	return true;
}

static bool message_push_small(struct omx_channel *ch, struct sk_buff *skb)
{
	const struct omx_wire_eager *eager = omx_packet_body(skb);

	if (!omx_eager_push(ch, be64_to_cpu(eager->match_info), skb, OMX_EAGER_HEADER,
			    be32_to_cpu(eager->msg_length)))
		return false;
	omx_gro_free(skb);
	return true;
}

/* ---- frames of longer ones ---- */

/* Refers to the frames of a complete message, or bundle.  NULL: out of memory. */
static struct omx_frames *frames_make(const struct omx_partial *partial)
{
	struct omx_frames *frames;
	struct sk_buff *skb;
	u32 count = 0;

	for (skb = partial->head; skb; skb = skb->next)
		count++;
	frames = kmalloc(struct_size(frames, frame, count), GFP_ATOMIC | __GFP_NOWARN);
	if (!frames)
		return NULL;
	refcount_set(&frames->users, 1);
	frames->truesize = 0;
	frames->count = 0;
	for (skb = partial->head; skb; skb = skb->next) {
		frames->frame[frames->count++] = skb;
		frames->truesize += skb->truesize;
	}
	return frames;
}

static void frames_charge(struct omx_endpoint *ep, const struct omx_frames *frames)
{
	atomic_add(frames->truesize, &ep->unfetched);
	omx_budget_charge(&ep->budget, frames->truesize);
}

static void frames_uncharge(struct omx_endpoint *ep, const struct omx_frames *frames)
{
	atomic_sub(frames->truesize, &ep->unfetched);
	omx_budget_uncharge(&ep->budget, frames->truesize);
}

/* Whoever puts them last frees them, in any context. */
static void frames_put(struct omx_endpoint *ep, struct omx_frames *frames)
{
	u32 i;

	if (!refcount_dec_and_test(&frames->users))
		return;
	/* skb->next stays: the channel may still have a frame, and what follows it. */
	local_bh_disable();
	for (i = 0; i < frames->count; i++)
		omx_gro_free(frames->frame[i]);
	local_bh_enable();
	frames_uncharge(ep, frames);
	kfree(frames);
}

/* The channel goes on with its frames alone; messages that have been delivered keep theirs. */
static void partial_unshare(struct omx_partial *partial)
{
	if (partial->shared)
		frames_put(container_of(partial, struct omx_channel, partial)->ep,
			   partial->shared);
	partial->shared = NULL;
}

/* Those of a complete bundle, which messages share with the channel.  NULL: no room, or memory. */
static struct omx_frames *partial_share(struct omx_endpoint *ep, struct omx_partial *partial)
{
	struct omx_frames *frames = partial->shared;
	u32 i;

	if (frames)
		return frames;
	frames = endpoint_may_keep(ep) ? frames_make(partial) : NULL;
	if (!frames)
		return NULL;
	for (i = 0; i < frames->count; i++)
		skb_get(frames->frame[i]);
	frames_charge(ep, frames);
	partial->shared = frames;
	return frames;
}

void omx_partial_drop(struct omx_partial *partial)
{
	partial_uncharge(partial);
	partial_unshare(partial);
	frames_free(partial->head);
	memset(partial, 0, sizeof(*partial));
}

/* ---- longer ones ---- */

/*
 * A message that begins at `offset` of this one of the frames, and gets the caller's reference to
 * them.  False: there is no room, or no memory.
 *
 * From omx_table_add() on the program may guess the number and fetch the message.
 * RCU keeps `message`; its frames belong to whoever removes it from the table.
 */
static bool message_push(struct omx_channel *ch, u64 match_info, struct omx_frames *frames,
			 u32 first, u32 offset, u32 length)
{
	struct omx_endpoint *ep = ch->ep;
	struct omx_message *message;
	struct omx_event event;
	bool pushed;

	message = kmalloc(sizeof(*message), GFP_ATOMIC | __GFP_NOWARN);
	if (!message)
		return false;
	message->length = length;
	message->first = first;
	message->offset = offset;
	message->frames = frames;
	if (omx_table_add(&ep->messages, message, &message->id, GFP_ATOMIC | __GFP_NOWARN)) {
		kfree(message);
		return false;
	}
	event = recv_event(ch, match_info, length, message->id);
	if (!omx_endpoint_may_keep(ep))
		event.status = OMX_STATUS_NO_MEMORY;
	pushed = omx_ring_push(&ep->ring, &event, NULL, 0, 0);
	if (!pushed && omx_table_claim(&ep->messages, message->id, message)) {
		kfree_rcu(message, rcu);
		return false;
	}
	omx_traffic_add(&ch->received, 1, length);
	if (pushed)
		omx_endpoint_notify(ep);
	return true;
}

bool omx_eager_keep(struct omx_channel *ch, u64 match_info, const struct sk_buff *frame,
		    u32 offset, u32 length)
{
	struct omx_frames *frames;
	u32 first = 0;

	lockdep_assert_held(&ch->lock);
	frames = partial_share(ch->ep, &ch->partial);
	if (!frames)
		return false;
	while (frames->frame[first] != frame)
		first++;
	refcount_inc(&frames->users);
	if (message_push(ch, match_info, frames, first, offset, length))
		return true;
	frames_put(ch->ep, frames);
	return false;
}

/* Its frames become the message's. */
static bool partial_push_message(struct omx_channel *ch, struct omx_partial *partial)
{
	struct omx_frames *frames = frames_make(partial);

	if (!frames)
		return false;
	frames_charge(ch->ep, frames);
	if (!message_push(ch, partial->match_info, frames, 0, OMX_EAGER_HEADER, partial->length)) {
		frames_uncharge(ch->ep, frames);
		kfree(frames);
		return false;
	}
	partial_uncharge(partial);
	memset(partial, 0, sizeof(*partial));
	return true;
}

static bool eager_is_bundle(const struct omx_wire_eager *eager)
{
	return eager->sequence.flags & OMX_SEQUENCE_BUNDLE;
}

/* Fragments arrive in order: each must continue the previous one. */
static bool partial_continues(const struct omx_partial *partial,
			      const struct omx_wire_eager *eager)
{
	if (be32_to_cpu(eager->offset) != partial->received)
		return false;
	return !partial->received ||
	       (partial->is_bundle == eager_is_bundle(eager) &&
		partial->length == be32_to_cpu(eager->msg_length) &&
		partial->match_info == be64_to_cpu(eager->match_info));
}

static void partial_append(struct omx_partial *partial, struct sk_buff *skb)
{
	skb->next = NULL;
	if (partial->last)
		partial->last->next = skb;
	else
		partial->head = skb;
	partial->last = skb;
	partial->received += payload_of(skb);
}

/*
 * Copies a small fragment behind others.  A channel keeps the fragments of a
 * message even if memory is short, so they must use little more than their bytes.
 * False: out of memory.
 */
static bool partial_merge(struct omx_partial *partial, struct sk_buff *skb)
{
	struct sk_buff *last = partial->last;
	u32 payload = payload_of(skb);

	if (!last || skb_shared(last) || skb_cloned(last) || skb_tailroom(last) < payload) {
		last = alloc_skb(OMX_EAGER_HEADER + MERGED_ROOM, GFP_ATOMIC | __GFP_NOWARN);
		if (!last)
			return false;
		skb_put_zero(last, OMX_EAGER_HEADER);
		partial_append(partial, last);
	}
	skb_copy_bits(skb, OMX_EAGER_HEADER, skb_put(last, payload), payload);
	partial->received += payload;
	consume_skb(skb);
	return true;
}

bool omx_eager_is_wasteful(const struct sk_buff *skb)
{
	return skb->truesize > WASTE_MAX * payload_of(skb);
}

static bool fragment_is_to_be_copied(const struct sk_buff *skb)
{
	return payload_of(skb) <= MERGED_ROOM && omx_eager_is_wasteful(skb);
}

/* Removes the newest frame again: it stays in the channel for now. */
static void partial_unappend(struct omx_channel *ch, struct sk_buff *skb)
{
	struct omx_partial *partial = &ch->partial;
	struct sk_buff **link = &partial->head;

	partial->last = NULL;
	while (*link != skb) {
		partial->last = *link;
		link = &(*link)->next;
	}
	*link = NULL;
	partial->received -= payload_of(skb);
	partial_unshare(partial);
}

/* False: there is no room for the message, or for some of the bundle's. */
static bool partial_push(struct omx_channel *ch, struct omx_partial *partial)
{
	if (!partial->is_bundle)
		return partial_push_message(ch, partial);
	if (!omx_receive_long_bundle(ch, partial->head, partial->length, &partial->delivered))
		return false;
	omx_partial_drop(partial);
	return true;
}

static bool partial_add(struct omx_channel *ch, struct sk_buff *skb)
{
	const struct omx_wire_eager *eager = omx_packet_body(skb);
	struct omx_partial *partial = &ch->partial;

	if (!partial_continues(partial, eager)) {
		/* The peer violates the protocol: drop this message only. */
		omx_count(ch->ep->board, DROP_FRAGMENT);
		omx_partial_drop(partial);
		kfree_skb(skb);
		return true;
	}
	partial->length = be32_to_cpu(eager->msg_length);
	partial->match_info = be64_to_cpu(eager->match_info);
	partial->is_bundle = eager_is_bundle(eager);
	if (partial->received + payload_of(skb) < partial->length)
		partial_charge(partial);
	/* Not the last one, which may have to be removed again. */
	if (partial->received + payload_of(skb) < partial->length && fragment_is_to_be_copied(skb))
		return partial_merge(partial, skb);
	partial_append(partial, skb);
	if (partial->received < partial->length)
		return true;
	if (partial_push(ch, partial))
		return true;
	partial_unappend(ch, skb);
	return false;
}

/* Once a bundle is complete, whether it stays is a question for each of its messages. */
static bool eager_may_begin(const struct omx_channel *ch, const struct sk_buff *skb)
{
	const struct omx_wire_eager *eager = omx_packet_body(skb);

	if (!eager_is_bundle(eager))
		return endpoint_may_keep(ch->ep);
	return be32_to_cpu(eager->msg_length) == payload_of(skb) || omx_endpoint_may_hold(ch->ep);
}

bool omx_receive_eager(struct omx_channel *ch, struct sk_buff *skb)
{
	const struct omx_wire_eager *eager = omx_packet_body(skb);
	u32 length = be32_to_cpu(eager->msg_length);

	lockdep_assert_held(&ch->lock);
	/* A message that has begun is always completed: others may wait behind it. */
	if (ch->partial.received)
		return partial_add(ch, skb);
	if (length == payload_of(skb) && length <= OMX_SMALL_MAX && !eager_is_bundle(eager))
		return message_push_small(ch, skb);
	return eager_may_begin(ch, skb) && partial_add(ch, skb);
}

/* ---- fetching ---- */

static int message_copy_out(const struct omx_message *message, struct omx_buffer_iter *to)
{
	struct sk_buff *const *frame = message->frames->frame + message->first;
	u32 left = min_t(u64, message->length, omx_buffer_left(to));
	u32 offset = message->offset;

	while (left) {
		u32 n = min(left, (*frame)->len - offset);
		int error = omx_buffer_write_skb(to, *frame, offset, n);

		if (error)
			return error;
		left -= n;
		frame++;
		offset = OMX_EAGER_HEADER;
	}
	return 0;
}

long omx_fetch(struct omx_endpoint *ep, void __user *arg)
{
	struct omx_message *message;
	struct omx_ioc_fetch fetch;
	struct omx_buffer_iter to;
	long error;

	if (copy_from_user(&fetch, arg, sizeof(fetch)))
		return -EFAULT;
	if (fetch.reserved)
		return -EINVAL;
	error = omx_buffer_start(&to, &fetch.buffer, ITER_DEST);
	if (error)
		return error;
	error = -ENOENT;
	message = omx_table_pop(&ep->messages, fetch.message);
	if (message) {
		error = message_copy_out(message, &to);
		frames_put(ep, message->frames);
		kfree_rcu(message, rcu);
		omx_channels_reopen(ep);
	}
	omx_buffer_end(&to);
	return error;
}

void omx_messages_destroy(struct omx_endpoint *ep)
{
	struct omx_message *message;
	u32 slot = 0;

	while ((message = omx_table_next(&ep->messages, &slot))) {
		frames_put(ep, message->frames);
		kfree(message);
	}
}
