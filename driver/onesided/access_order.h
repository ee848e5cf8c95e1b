/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What access.c and access_ioctl.c share and no other file uses: an access at its
 * initiator, and what an ioctl wants of it.  Process context.
 */
#ifndef OMX_ACCESS_ORDER_H
#define OMX_ACCESS_ORDER_H

#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/skbuff.h>

#include "omx_abi.h"
#include "omx_wire.h"

struct omx_account;
struct omx_channel;
struct omx_completion;
struct omx_endpoint;

struct omx_access {
	u32 id;				/* first: see table.h */
	u8 type;			/* OMX_WIRE_PUT, _GET, _ATOMIC */
	bool announced;			/* a GET whose bytes are pulled */
	struct rcu_head rcu;
	struct omx_account *user;	/* charged for it */
	struct list_head in_channel;	/* ch->accesses, under ch->lock */
	struct omx_channel *ch;		/* referenced */
	u64 length;
	struct omx_completion *completion;	/* of whoever unlinks it from the channel */
};

/* One ioctl: what all three have in common, and how it makes its packets. */
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

/* Makes the access, has its packets made, and sends them. */
long omx_access_run(struct omx_endpoint *ep, const struct omx_access_order *order);
/* Returns the body of a new packet at the end of the list, or NULL. */
void *omx_access_add_packet(const struct omx_access *access, u32 payload,
			    struct sk_buff_head *packets);

static inline void omx_key_write(struct omx_wire_key *to, const struct omx_key *from)
{
	unsigned int i;

	to->window = cpu_to_be32(from->window);
	for (i = 0; i < ARRAY_SIZE(to->secret); i++)
		to->secret[i] = cpu_to_be32(from->secret[i]);
}

#endif
