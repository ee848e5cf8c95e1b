/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What access.c, access_ioctl.c, large.c and when*.c share and no other file uses: an
 * access at its initiator, and what an ioctl wants of it.  Process context unless
 * noted.
 */
#ifndef OMX_ACCESS_ORDER_H
#define OMX_ACCESS_ORDER_H

#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/skbuff.h>

#include "omx_abi.h"
#include "omx_wire.h"
#include "pull/rndv.h"

struct omx_account;
struct omx_channel;
struct omx_completion;
struct omx_endpoint;
struct omx_pull;

struct omx_access {
	u32 id;				/* first: see table.h */
	u8 type;			/* OMX_WIRE_PUT, _GET, _ATOMIC, _POST_KEY, _FLUSH */
	bool announced;			/* a GET whose bytes are pulled */
	bool conditional;		/* a key of the peer has fired it; see when.h */
	u32 fired_bytes;		/* then: of memory, of its packets */
	u32 last_seq;			/* of its packets; valid in ch->puts */
	struct rcu_head rcu;
	struct omx_account *user;	/* charged for it */
	struct list_head in_channel;	/* ch->accesses or ch->puts, under ch->lock */
	struct omx_channel *ch;		/* referenced */
	u64 length;
	struct omx_pull *pull;		/* a GET whose bytes the driver pulls itself, or NULL */
	struct omx_completion *completion;	/* of whoever unlinks it from the channel */
};

/* One ioctl: what all of them have in common, and how it makes its packets. */
struct omx_access_order {
	const void *ioc;
	int (*make_packets)(const struct omx_access *access, const void *ioc,
			    struct sk_buff_head *packets);
	u64 offset;
	u64 length;
	u64 cookie;
	u32 channel;
	u32 bytes;			/* that travel to the target */
	u8 type;
	bool announced;
};

/* The ioctl of a large put. */
struct omx_put_order {
	struct omx_rndv_order order;	/* first */
	struct omx_ioc_put_rndv ioc;
};

/* ---- access_ioctl.c, large.c ---- */
/* Fill in the order of an ioctl.  -EINVAL: no target would accept it. */
int omx_access_order_put(struct omx_access_order *order, const struct omx_ioc_put *ioc);
int omx_access_order_get(struct omx_access_order *order, const struct omx_ioc_get *ioc);
int omx_put_order_init(struct omx_put_order *put);

/* ---- access.c ---- */
/* Makes the access, has its packets made, and sends them. */
long omx_access_run(struct omx_endpoint *ep, const struct omx_access_order *order);
/*
 * Makes an access that is in no list yet, and its packets.  ERR_PTR: -ENOMEM, -EBUSY,
 * and what make_packets() returns.
 */
struct omx_access *omx_access_make(struct omx_channel *ch, const struct omx_access_order *order,
				   struct sk_buff_head *packets);
/* Frees an access that is in no list, of which nobody is told. */
void omx_access_unmake(struct omx_access *access);
/* Returns the body of a new packet at the end of the list, or NULL. */
void *omx_access_add_packet(const struct omx_access *access, u32 payload,
			    struct sk_buff_head *packets);

/* ---- access.c, any context, ch->lock not held ---- */
/*
 * From now on the access ends with its response, an ack or its channel, perhaps at once.
 * Takes its packets.  -ENOTCONN: the channel has ended; -EBUSY: `most` accesses are under
 * way on it.
 */
int omx_access_send(struct omx_access *access, u64 offset, struct sk_buff_head *packets,
		    u32 most);
/* Ends an access that is in no list. */
void omx_access_finish(struct omx_access *access, u8 status);

static inline void omx_key_write(struct omx_wire_key *to, const struct omx_key *from)
{
	unsigned int i;

	to->window = cpu_to_be32(from->window);
	for (i = 0; i < ARRAY_SIZE(to->secret); i++)
		to->secret[i] = cpu_to_be32(from->secret[i]);
}

#endif
