// SPDX-License-Identifier: GPL-2.0
/*
 * Quotas: what each peer MAC has of an endpoint's channels and memory.
 *
 * Channels join when they are made and leave when they are freed; packets that
 * arrive ahead of their turn are charged, in softirq.
 */
#include <linux/jhash.h>
#include <linux/slab.h>

#include "channel/channel.h"
#include "channel/quota.h"
#include "endpoint/endpoint.h"

static u32 mac_hash(const struct omx_endpoint *ep, u64 mac)
{
	return jhash_2words(lower_32_bits(mac), upper_32_bits(mac), ep->hash_seed);
}

static struct omx_quota *quota_find(struct omx_endpoint *ep, u64 mac)
{
	struct omx_quota *quota;

	lockdep_assert_held(&ep->channels_lock);
	hash_for_each_possible(ep->quotas, quota, node, mac_hash(ep, mac))
		if (quota->mac == mac)
			return quota;
	return NULL;
}

static struct omx_quota *quota_make(struct omx_endpoint *ep, u64 mac)
{
	struct omx_quota *quota = kzalloc(sizeof(*quota), GFP_ATOMIC | __GFP_NOWARN);

	if (!quota)
		return NULL;
	quota->mac = mac;
	INIT_LIST_HEAD(&quota->channels);
	omx_budget_charge(&ep->budget, ksize(quota));
	hash_add(ep->quotas, &quota->node, mac_hash(ep, mac));
	return quota;
}

bool omx_quota_is_full(struct omx_endpoint *ep, u64 mac)
{
	struct omx_quota *quota = quota_find(ep, mac);

	return READ_ONCE(ep->channels.count) >= OMX_CHANNELS_MAX ||
	       (quota && quota->count >= OMX_QUOTA_CHANNELS_MAX);
}

int omx_quota_join(struct omx_endpoint *ep, struct omx_channel *ch)
{
	struct omx_quota *quota;

	if (omx_quota_is_full(ep, ch->mac))
		return -ENOSPC;
	quota = quota_find(ep, ch->mac) ?: quota_make(ep, ch->mac);
	if (!quota)
		return -ENOMEM;
	ch->quota = quota;
	quota->count++;
	list_add_tail(&ch->by_quota, &quota->channels);
	return 0;
}

void omx_quota_leave(struct omx_endpoint *ep, struct omx_channel *ch)
{
	struct omx_quota *quota = ch->quota;

	lockdep_assert_held(&ep->channels_lock);
	list_del(&ch->by_quota);
	if (--quota->count)
		return;
	hash_del(&quota->node);
	omx_budget_uncharge(&ep->budget, ksize(quota));
	kfree(quota);
}

bool omx_quota_charge(struct omx_endpoint *ep, struct omx_quota *quota, int bytes)
{
	int all = atomic_add_return(bytes, &ep->ahead);
	int own = atomic_add_return(bytes, &quota->ahead);

	if (own <= OMX_AHEAD_MAX - all)
		return true;
	omx_quota_uncharge(ep, quota, bytes);
	return false;
}

void omx_quota_add(struct omx_endpoint *ep, struct omx_quota *quota, int bytes)
{
	atomic_add(bytes, &ep->ahead);
	atomic_add(bytes, &quota->ahead);
}

void omx_quota_uncharge(struct omx_endpoint *ep, struct omx_quota *quota, int bytes)
{
	atomic_sub(bytes, &quota->ahead);
	atomic_sub(bytes, &ep->ahead);
}
