/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Conditional accesses [Ou06]: puts and gets that the program posts before it knows
 * where they go.  They wait in their channel, all made but for the address, until the
 * peer posts a key with their tag.  A key that comes first waits in the same place.
 */
#ifndef OMX_WHEN_H
#define OMX_WHEN_H

#include <linux/list.h>
#include <linux/types.h>

struct omx_channel;
struct omx_endpoint;
struct omx_wire_post_key;

/* Part of a channel, under its lock. */
struct omx_when_queue {
	struct list_head waiting;	/* struct omx_when, in the order of posting */
	struct list_head keys;		/* of the peer, in the order of their packets */
	/* Those that wait, and small ones that have fired and wait for their response. */
	u32 count;
	unsigned long fired_bytes;	/* of memory, of the packets of those that have fired */
	u32 key_count;
	bool used;			/* accesses have been posted; set once */
};

static inline void omx_when_queue_init(struct omx_when_queue *whens)
{
	INIT_LIST_HEAD(&whens->waiting);
	INIT_LIST_HEAD(&whens->keys);
}

/* ---- process context ---- */
/* OMX_IOC_PUT_WHEN, OMX_IOC_GET_WHEN, OMX_IOC_POST_KEY */
long omx_put_when(struct omx_endpoint *ep, void __user *arg);
long omx_get_when(struct omx_endpoint *ep, void __user *arg);
long omx_post_key(struct omx_endpoint *ep, void __user *arg);
/* OMX_IOC_WITHDRAW with OMX_WITHDRAW_WHEN */
long omx_when_withdraw(struct omx_endpoint *ep, u32 channel, u64 cookie);
/*
 * The endpoint closes: nobody posts accesses or receives keys any more.  Timers that
 * run have returned a grace period later.
 */
void omx_whens_destroy(struct omx_endpoint *ep);

/* ---- any context, ch->lock not held ---- */
/* Ends `most` accesses that wait, at most.  Returns how many. */
unsigned int omx_whens_fail(struct omx_channel *ch, u8 status, unsigned int most);
/*
 * A POST_KEY of the peer: fires an access, or keeps the key.  RCU read lock held, BH
 * off.  Returns OMX_STATUS_*, for the response.
 */
u8 omx_when_receive_key(struct omx_channel *ch, const struct omx_wire_post_key *key);

/* ---- any context, ch->lock held ---- */
/* The channel ends: frees the peer's keys, of which there are OMX_KEYS_MAX at most. */
void omx_keys_drop(struct omx_channel *ch);

#endif
