// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a small one-sided access at its initiator: it is sent, and ends when
 * the target's ACCESS_RESPONSE arrives, or with the channel; a put that succeeds mostly
 * ends with an ack.
 *
 * access_ioctl.c sends accesses in process context.  The channel passes responses on
 * with its lock held: in softirq as they arrive, or in process context if the ring
 * had no room for the bytes of a GET.
 *
 * An access belongs to whoever takes it out of its channel's list.  The ioctl does
 * not touch it any more once it is in the list: the channel may fail at once.
 */
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "channel/channel.h"
#include "channel/private.h"
#include "channel/send.h"
#include "channel/timer.h"
#include "compat.h"
#include "endpoint/endpoint.h"
#include "endpoint/wakeup.h"
#include "net/board.h"
#include "net/frame.h"
#include "observe/trace.h"
#include "onesided/access.h"
#include "onesided/access_order.h"
#include "onesided/access_queue.h"
#include "pull/pull.h"

/* With more accesses under way than these, one packet of four is acknowledged at once. */
#define STREAM_PUTS	8
#define ACK_EACH	4

#define RESPONSE_HEADER	(sizeof(struct omx_wire_head) + sizeof(struct omx_wire_access_response))

/* ---- the life of an access ---- */

static struct omx_access *access_alloc(struct omx_channel *ch,
				       const struct omx_access_order *order)
{
	struct omx_account *user = omx_endpoint_user(ch->ep);
	struct omx_access *access = omx_account_alloc(user, sizeof(*access),
						      GFP_KERNEL_ACCOUNT);

	if (!access)
		return NULL;
	access->completion = omx_completion_alloc(user, OMX_EVENT_ACCESS_DONE, order->cookie,
						  GFP_KERNEL_ACCOUNT);
	if (!access->completion) {
		omx_account_uncharge_object(user, access);
		kfree(access);
		return NULL;
	}
	access->user = user;
	INIT_LIST_HEAD(&access->in_channel);
	omx_channel_ref(ch);
	access->ch = ch;
	return access;
}

static struct omx_access *access_reuse(struct omx_channel *ch,
				       const struct omx_access_order *order)
{
	struct omx_access *access = NULL;

	if (READ_ONCE(ch->spare_access))
		access = xchg(&ch->spare_access, NULL);
	if (!access)
		return NULL;
	atomic_dec(&ch->ep->accesses_kept);
	/* Whoever has the old number finds it in no list, or compares it. */
	WRITE_ONCE(access->id, omx_table_renumber(access->id));
	omx_completion_reset(access->completion, OMX_EVENT_ACCESS_DONE, order->cookie);
	return access;
}

static struct omx_access *access_get(struct omx_channel *ch, const struct omx_access_order *order)
{
	struct omx_access *access = access_reuse(ch, order) ?: access_alloc(ch, order);

	if (!access)
		return NULL;
	access->type = order->type;
	access->announced = order->announced;
	access->length = order->length;
	return access;
}

/* A response that looks the access up right now finds it in no list. */
static void access_free(struct omx_access *access)
{
	if (access->pull)
		omx_pull_discard(access->pull);
	omx_channel_put(access->ch);
	omx_completion_free(access->completion);
	omx_account_uncharge_object(access->user, access);
	kfree_rcu(access, rcu);
}

void omx_access_unmake(struct omx_access *access)
{
	omx_table_remove(&access->ch->ep->accesses, access->id);
	access_free(access);
}

/*
 * Keeps the access, with its slot in the table and its reference on the channel, for the
 * next one of the channel, or frees it.  Whoever finds it by its old number still finds one
 * of this channel, with another number or in no list.
 */
static void access_keep(struct omx_access *access)
{
	struct omx_channel *ch = access->ch;

	lockdep_assert_held(&ch->lock);
	if (READ_ONCE(ch->spare_access) || ch->dead || !access->completion || access->pull ||
	    access->conditional) {
		omx_access_unmake(access);
		return;
	}
	atomic_inc(&ch->ep->accesses_kept);
	/* What was written to the access comes before it is found. */
	smp_store_release(&ch->spare_access, access);
}

void omx_access_drop_spare(struct omx_channel *ch)
{
	struct omx_access *access = xchg(&ch->spare_access, NULL);

	lockdep_assert_held(&ch->lock);
	if (!access)
		return;
	atomic_dec(&ch->ep->accesses_kept);
	omx_access_unmake(access);	/* its reference on the channel is not the last one */
}

static void access_fill_event(const struct omx_access *access, u8 status)
{
	struct omx_event *event = &access->completion->event;

	event->channel = access->ch->id;
	event->status = status;
	event->length = status == OMX_STATUS_OK ? access->length : 0;
}

/* The caller has taken the access out of its channel's list. */
static void access_post(struct omx_endpoint *ep, struct omx_access *access)
{
	if (omx_ring_try_post(&ep->ring, access->completion)) {
		omx_endpoint_notify(ep);
		return;
	}
	omx_endpoint_post(ep, access->completion);
	access->completion = NULL;
}

void omx_access_finish(struct omx_access *access, u8 status)
{
	struct omx_endpoint *ep = access->ch->ep;

	access_fill_event(access, status);
	access_post(ep, access);
	trace_omx_access_done(access->ch, access->id, status, access->length);
	omx_access_unmake(access);
}

/* The caller owns the access from now on. */
static void access_unlink(struct omx_channel *ch, struct omx_access *access)
{
	lockdep_assert_held(&ch->lock);
	list_del_init(&access->in_channel);
	ch->access_count--;
	if (access->conditional) {
		ch->whens.count--;
		ch->whens.fired_bytes -= access->fired_bytes;
	}
}

static struct omx_access *channel_first_put(struct omx_channel *ch)
{
	return list_first_entry_or_null(&ch->puts, struct omx_access, in_channel);
}

static struct omx_access *channel_pop_access(struct omx_channel *ch)
{
	struct omx_access *access;

	spin_lock_bh(&ch->lock);
	access = channel_first_put(ch) ?:
		 list_first_entry_or_null(&ch->accesses, struct omx_access, in_channel);
	if (access)
		access_unlink(ch, access);
	spin_unlock_bh(&ch->lock);
	return access;
}

unsigned int omx_accesses_fail(struct omx_channel *ch, u8 status, unsigned int most)
{
	struct omx_access *access;
	unsigned int n;

	for (n = 0; n < most; n++) {
		access = channel_pop_access(ch);
		if (!access)
			break;
		omx_access_finish(access, status);
	}
	return n;
}

void omx_accesses_destroy(struct omx_endpoint *ep)
{
	struct omx_access *access;
	u32 slot = 0;

	while ((access = omx_table_next(&ep->accesses, &slot))) {
		omx_table_remove(&ep->accesses, access->id);
		access_free(access);
		cond_resched();
	}
}

/* ---- sending ---- */

/* The caller does not own the access any more, if this succeeds. */
static int access_link(struct omx_access *access, struct list_head *list, u32 most)
{
	struct omx_channel *ch = access->ch;

	lockdep_assert_held(&ch->lock);
	if (ch->dead)
		return -ENOTCONN;
	if (ch->access_count >= most)
		return -EBUSY;
	omx_channel_wake_up(ch);
	list_add_tail(&access->in_channel, list);
	ch->access_count++;
	if (access->conditional) {
		ch->whens.count++;
		ch->whens.fired_bytes += access->fired_bytes;
	}
	omx_channel_watch(ch);
	return 0;
}

static int access_link_again(struct omx_access *access)
{
	struct omx_channel *ch = access->ch;
	int error;

	spin_lock_bh(&ch->lock);
	error = access_link(access, &ch->accesses, U32_MAX);
	spin_unlock_bh(&ch->lock);
	return error;
}

/* A put of a stream need not be acknowledged at once, because later ones will be. */
static void put_allow_delay(const struct omx_channel *ch, const struct sk_buff_head *packets)
{
	struct omx_wire_put *body = omx_packet_body(skb_peek_tail(packets));

	if (ch->access_count > STREAM_PUTS && omx_channel_last_seq(ch) % ACK_EACH &&
	    skb_queue_len(packets) == 1 && !ch->local)
		body->flags |= OMX_PUT_LATER;
}

int omx_access_send(struct omx_access *access, u64 offset, struct sk_buff_head *packets,
		    u32 most)
{
	struct omx_channel *ch = access->ch;
	bool is_put = access->type == OMX_WIRE_PUT;
	struct sk_buff_head out;
	int error;

	__skb_queue_head_init(&out);
	local_bh_disable();
	spin_lock(&ch->lock);
	error = access_link(access, is_put ? &ch->puts : &ch->accesses, most);
	if (!error) {
		trace_omx_access_send(ch, access->type, access->id, offset, access->length);
		if (is_put)
			put_allow_delay(ch, packets);
		access->last_seq = omx_channel_queue(ch, packets, &out);
	}
	spin_unlock(&ch->lock);
	omx_channel_xmit(ch, &out);
	local_bh_enable();
	return error;
}

/* One that was kept has its number already. */
static int access_number(struct omx_access *access)
{
	int error;

	if (access->id)
		return 0;
	error = omx_table_add(&access->ch->ep->accesses, access, &access->id,
			      GFP_KERNEL_ACCOUNT);
	return error == -ENOSPC ? -EBUSY : error;
}

struct omx_access *omx_access_make(struct omx_channel *ch, const struct omx_access_order *order,
				   struct sk_buff_head *packets)
{
	struct omx_access *access = access_get(ch, order);
	int error;

	if (!access)
		return ERR_PTR(-ENOMEM);
	error = access_number(access);
	if (error) {
		access_free(access);
		return ERR_PTR(error);
	}
	error = order->make_packets(access, order->ioc, packets);
	if (!error)
		return access;
	__skb_queue_purge(packets);
	omx_access_unmake(access);
	return ERR_PTR(error);
}

static long access_start(struct omx_channel *ch, const struct omx_access_order *order)
{
	struct sk_buff_head packets;
	struct omx_access *access;
	int error;

	__skb_queue_head_init(&packets);
	access = omx_access_make(ch, order, &packets);
	if (IS_ERR(access))
		return PTR_ERR(access);
	error = omx_access_send(access, order->offset, &packets, OMX_ACCESSES_MAX);
	if (error) {
		__skb_queue_purge(&packets);
		omx_access_unmake(access);
	}
	return error;
}

long omx_access_run(struct omx_endpoint *ep, const struct omx_access_order *order)
{
	struct omx_channel *ch = omx_channel_get(ep, order->channel);
	long error;

	if (!ch)
		return -ENOENT;
	/* Without the lock, so that most that are refused make no packets. */
	if (READ_ONCE(ch->access_count) >= OMX_ACCESSES_MAX ||
	    !omx_endpoint_takes(ep, &ep->accesses, OMX_ACCOUNT_SEND))
		error = -EBUSY;
	else if (!omx_channel_may_send(ch, order->bytes))
		error = -EAGAIN;
	else
		error = access_start(ch, order);
	omx_channel_put(ch);
	return error;
}

void *omx_access_add_packet(const struct omx_access *access, u32 payload,
			    struct sk_buff_head *packets)
{
	struct sk_buff *skb = omx_channel_packet(access->ch, access->type, payload, GFP_KERNEL);

	if (!skb)
		return NULL;
	__skb_queue_tail(packets, skb);
	return omx_packet_body(skb);
}

/* ---- responses ---- */

static struct omx_access *response_find_access(const struct omx_channel *ch, u32 id)
{
	struct omx_access *access = omx_table_find(&ch->ep->accesses, id);

	lockdep_assert_held(&ch->lock);
	if (!access || READ_ONCE(access->id) != id || access->ch != ch ||
	    list_empty(&access->in_channel))
		return NULL;
	return access;
}

/* A peer that sends other bytes than were requested has not performed the access. */
static u8 response_status(const struct omx_access *access, const struct sk_buff *skb)
{
	const struct omx_wire_access_response *body = omx_packet_body(skb);
	bool has_bytes = access->type == OMX_WIRE_GET && !access->announced;

	if (body->status >= OMX_STATUSES)
		return OMX_STATUS_ABORTED;
	if (body->status == OMX_STATUS_OK &&
	    skb->len - RESPONSE_HEADER != (has_bytes ? access->length : 0))
		return OMX_STATUS_ABORTED;
	return body->status;
}

static void response_fill_event(const struct omx_access *access,
				const struct omx_wire_access_response *body, u8 status)
{
	struct omx_event *event = &access->completion->event;
	u64 value = be64_to_cpu(body->value);

	access_fill_event(access, status);
	if (access->type == OMX_WIRE_ATOMIC || access->type == OMX_WIRE_FLUSH)
		memcpy(event->data, &value, sizeof(value));
	else if (access->announced)
		event->remote_message = value;
}

/* The bytes go into the ring with the event.  False: there is no room for them now. */
static bool response_push_bytes(struct omx_endpoint *ep, struct omx_access *access,
				const struct sk_buff *skb)
{
	if (!omx_ring_push(&ep->ring, &access->completion->event, skb, RESPONSE_HEADER,
			   access->length))
		return false;
	omx_endpoint_notify(ep);
	return true;
}

/* True: the access has ended. */
static bool response_deliver(struct omx_endpoint *ep, struct omx_access *access,
			     const struct sk_buff *skb)
{
	u8 status = response_status(access, skb);

	response_fill_event(access, omx_packet_body(skb), status);
	if (status == OMX_STATUS_OK && skb->len > RESPONSE_HEADER) {
		if (!response_push_bytes(ep, access, skb))
			return false;
	} else {
		access_post(ep, access);
		/* It is to be pulled, or posted again. */
		if (access->announced || status == OMX_STATUS_LOG_FULL)
			omx_endpoint_notify_urgent(ep);
	}
	access_unlink(access->ch, access);
	trace_omx_access_done(access->ch, access->id, status, access->length);
	access_keep(access);
	return true;
}

bool omx_receive_access_response(struct omx_channel *ch, struct sk_buff *skb)
{
	const struct omx_wire_access_response *body = omx_packet_body(skb);
	struct omx_access *access = response_find_access(ch, be32_to_cpu(body->access));

	if (access && access->pull && response_status(access, skb) == OMX_STATUS_OK)
		return omx_receive_access(ch, skb);
	if (!access)
		omx_count(ch->ep->board, DROP_ACCESS_RESPONSE);
	else if (!response_deliver(ch->ep, access, skb))
		return false;
	consume_skb(skb);
	return true;
}

/* ---- acks ---- */

static void put_end_well(struct omx_endpoint *ep, struct omx_access *put)
{
	access_fill_event(put, OMX_STATUS_OK);
	access_post(ep, put);
	trace_omx_access_done(put->ch, put->id, OMX_STATUS_OK, put->length);
	access_keep(put);
}

/* At most OMX_ACCESSES_MAX, and as many conditional ones that have fired. */
static bool puts_end(struct omx_channel *ch, u32 performed)
{
	struct omx_access *put;
	bool some = false;

	lockdep_assert_held(&ch->lock);
	while ((put = channel_first_put(ch)) && (s32)(performed - put->last_seq) >= 0) {
		access_unlink(ch, put);
		put_end_well(ch->ep, put);
		omx_count(ch->ep->board, ACCESS_ACKED);
		some = true;
	}
	return some;
}

void omx_receive_performed(struct omx_channel *ch, u32 ack, u8 field)
{
	const struct omx_access *put;
	u32 performed;

	if (omx_performed_decode(field, ack, &performed) && puts_end(ch, performed))
		ch->put_lags = false;
	put = channel_first_put(ch);
	if (put && (s32)(ch->tx.acked - put->last_seq) >= 0)
		omx_channel_watch_put(ch);
}

/* ---- responses to gets that the driver pulls ---- */

/* The caller owns the access from now on. */
static struct omx_access *response_claim_access(struct omx_channel *ch, u32 id)
{
	struct omx_access *access;

	spin_lock(&ch->lock);
	access = response_find_access(ch, id);
	if (access && access->pull)
		access_unlink(ch, access);
	else
		access = NULL;
	spin_unlock(&ch->lock);
	return access;
}

int omx_access_pull(struct omx_channel *ch, const struct sk_buff *skb)
{
	const struct omx_wire_access_response *body = omx_packet_body(skb);
	struct omx_access *access = response_claim_access(ch, be32_to_cpu(body->access));
	int error;

	if (!access) {
		omx_count(ch->ep->board, DROP_ACCESS_RESPONSE);
		return 0;
	}
	error = omx_pull_start_get(access->pull, be64_to_cpu(body->value));
	if (!error) {
		access->pull = NULL;
		omx_access_unmake(access);	/* the pull has a completion of its own */
		return 0;
	}
	/* Only the peer ends its message: try again, unless the channel has ended. */
	if (error != -ENOTCONN && !access_link_again(access))
		return -EAGAIN;
	omx_access_finish(access, READ_ONCE(ch->dead));
	return 0;
}
