/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What one host, known by its MAC, has of an endpoint: channels, and memory
 * for packets that arrived ahead of others.  Both are limited, so that one
 * host, whatever it sends, leaves room for the others.
 *
 * A host exists while it has channels.
 */
#ifndef OMX_QUOTA_H
#define OMX_QUOTA_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/types.h>

struct omx_channel;
struct omx_endpoint;

#define OMX_QUOTA_CHANNELS_MAX	1024
#define OMX_AHEAD_MAX		(16 << 20)	/* bytes per endpoint, all hosts */

struct omx_quota {
	struct hlist_node node;		/* in ep->quotas */
	u64 mac;
	struct list_head channels;
	u32 count;			/* of them */
	atomic_t ahead;			/* bytes */
};

/* ---- ep->channels_lock held ---- */
/* Gives the channel to its host.  -ENOSPC: the host has too many; -ENOMEM. */
int omx_quota_join(struct omx_endpoint *ep, struct omx_channel *ch);
/* The channel holds no memory any more. */
void omx_quota_leave(struct omx_endpoint *ep, struct omx_channel *ch);
bool omx_quota_is_full(struct omx_endpoint *ep, u64 mac);

/* ---- any context ---- */
/*
 * A host may have as much memory as is left for all others: one alone half of
 * it, two a third each, and a new one always finds some.  False: no more.
 */
bool omx_quota_charge(struct omx_endpoint *ep, struct omx_quota *quota, int bytes);
/* The same, but never refused. */
void omx_quota_add(struct omx_endpoint *ep, struct omx_quota *quota, int bytes);
void omx_quota_uncharge(struct omx_endpoint *ep, struct omx_quota *quota, int bytes);

#endif
