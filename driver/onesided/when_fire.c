// SPDX-License-Identifier: GPL-2.0
/*
 * A conditional access and its key are both there: from here on the access is one like
 * any other.  It enters the list of accesses or of messages that its channel has, and
 * must not be touched any more.
 *
 * Keys arrive in the queue of the peer's accesses (perform.c), mostly in softirq: no
 * process takes part in what they fire.  If the key was there first, when.c fires in
 * process context.
 */
#include <linux/stddef.h>

#include "channel/channel.h"
#include "channel/close.h"
#include "channel/send.h"
#include "endpoint/endpoint.h"
#include "net/board.h"
#include "net/frame.h"
#include "observe/trace.h"
#include "onesided/when.h"
#include "onesided/when_private.h"
#include "pull/rndv.h"

/* What the packets of all these accesses have in the same place. */
struct addressed {
	struct omx_wire_sequence sequence;
	struct omx_wire_key key;
	__be64 offset;
} __packed;

static_assert(offsetof(struct omx_wire_put, key) == offsetof(struct addressed, key));
static_assert(offsetof(struct omx_wire_put, offset) == offsetof(struct addressed, offset));
static_assert(offsetof(struct omx_wire_put_rndv, key) == offsetof(struct addressed, key));
static_assert(offsetof(struct omx_wire_put_rndv, offset) == offsetof(struct addressed, offset));
static_assert(offsetof(struct omx_wire_get, key) == offsetof(struct addressed, key));
static_assert(offsetof(struct omx_wire_get, offset) == offsetof(struct addressed, offset));

/* Why the access cannot be performed.  Its packets are as old as its ioctl. */
static u8 when_check(const struct omx_when *when, const struct omx_wire_post_key *key)
{
	if (when->length > be64_to_cpu(key->length))
		return OMX_STATUS_BAD_RANGE;
	/* The path has become shorter: the packets would be lost again and again. */
	if (skb_peek(&when->packets)->len - ETH_HLEN > omx_channel_mtu(when->ch))
		return OMX_STATUS_ABORTED;
	return OMX_STATUS_OK;
}

/* The packets of a put name their place in it so far. */
static void when_address(struct omx_when *when, const struct omx_wire_post_key *key)
{
	struct sk_buff *skb;

	skb_queue_walk(&when->packets, skb) {
		struct addressed *body = omx_packet_body(skb);

		body->key = key->key;
		body->offset = cpu_to_be64(be64_to_cpu(body->offset) + be64_to_cpu(key->offset));
	}
}

static int when_send_access(struct omx_when *when, const struct omx_wire_post_key *key)
{
	struct omx_access *access = when->access;
	int error;

	access->conditional = true;
	access->fired_bytes = when->charged;
	error = omx_access_send(access, be64_to_cpu(key->offset), &when->packets, U32_MAX);
	if (!error)
		when->access = NULL;
	return error;
}

/* If the channel fails meanwhile, the completion says so. */
static int when_send_rndv(struct omx_when *when)
{
	struct omx_channel *ch = when->ch;
	struct omx_rndv *rndv = when->rndv;
	int error;

	refcount_inc(&rndv->ref);	/* once in its channel it may end */
	WRITE_ONCE(rndv->held, false);
	error = omx_channel_enlist(ch, &rndv->in_channel, &ch->rndvs);
	if (!error) {
		when->rndv = NULL;
		trace_omx_rndv_send(ch, rndv->id, rndv->cookie, rndv->length, rndv->region);
		omx_channel_send(ch, &when->packets);
	}
	omx_rndv_put(rndv);
	return error;
}

void omx_when_fire(struct omx_when *when, const struct omx_wire_post_key *key)
{
	struct omx_channel *ch = when->ch;
	u8 status = when_check(when, key);
	int error;

	if (status) {
		omx_when_end(when, status);
		return;
	}
	when_address(when, key);
	error = when->access ? when_send_access(when, key) : when_send_rndv(when);
	if (error) {
		omx_when_end(when, READ_ONCE(ch->dead));
		return;
	}
	omx_count(ch->ep->board, WHEN_FIRED);
	omx_when_free(when);
}

/* At most OMX_WHENS_MAX are looked at. */
static struct omx_when *when_find(const struct omx_channel *ch, u64 tag)
{
	struct omx_when *when;

	lockdep_assert_held(&ch->lock);
	list_for_each_entry(when, &ch->whens.waiting, in_channel)
		if (when->tag == tag)
			return when;
	return NULL;
}

u8 omx_when_receive_key(struct omx_channel *ch, const struct omx_wire_post_key *key)
{
	u8 status = OMX_STATUS_ABORTED;
	struct omx_when *when = NULL;

	spin_lock_bh(&ch->lock);
	if (!ch->dead) {
		when = when_find(ch, be64_to_cpu(key->tag));
		if (when)
			omx_when_unlink(when);
		status = when ? OMX_STATUS_OK : omx_key_keep(ch, key);
	}
	spin_unlock_bh(&ch->lock);
	if (when)
		omx_when_fire(when, key);
	return status;
}
