// SPDX-License-Identifier: GPL-2.0
#include <linux/jhash.h>
#include <linux/slab.h>

#include "channel/channel.h"
#include "channel/quota.h"
#include "endpoint/endpoint.h"

static u32 mac_hash(const struct omx_endpoint *ep, u64 mac)
{
	return jhash_2words(lower_32_bits(mac), upper_32_bits(mac), ep->hash_seed);
}

static struct omx_host *find_host(struct omx_endpoint *ep, u64 mac)
{
	struct omx_host *host;

	lockdep_assert_held(&ep->channels_lock);
	hash_for_each_possible(ep->hosts, host, node, mac_hash(ep, mac))
		if (host->mac == mac)
			return host;
	return NULL;
}

static struct omx_host *make_host(struct omx_endpoint *ep, u64 mac)
{
	struct omx_host *host = kzalloc(sizeof(*host), GFP_ATOMIC | __GFP_NOWARN);

	if (!host)
		return NULL;
	host->mac = mac;
	INIT_LIST_HEAD(&host->channels);
	hash_add(ep->hosts, &host->node, mac_hash(ep, mac));
	return host;
}

bool omx_host_is_full(struct omx_endpoint *ep, u64 mac)
{
	struct omx_host *host = find_host(ep, mac);

	return READ_ONCE(ep->channels.count) >= OMX_CHANNELS_MAX ||
	       (host && host->count >= OMX_HOST_CHANNELS_MAX);
}

int omx_host_join(struct omx_endpoint *ep, struct omx_channel *ch)
{
	struct omx_host *host;

	if (omx_host_is_full(ep, ch->mac))
		return -ENOSPC;
	host = find_host(ep, ch->mac) ?: make_host(ep, ch->mac);
	if (!host)
		return -ENOMEM;
	ch->host = host;
	host->count++;
	list_add_tail(&ch->by_host, &host->channels);
	return 0;
}

void omx_host_leave(struct omx_endpoint *ep, struct omx_channel *ch)
{
	struct omx_host *host = ch->host;

	lockdep_assert_held(&ep->channels_lock);
	list_del(&ch->by_host);
	if (--host->count)
		return;
	hash_del(&host->node);
	kfree(host);
}

bool omx_host_charge(struct omx_endpoint *ep, struct omx_host *host, int bytes)
{
	int all = atomic_add_return(bytes, &ep->ahead);
	int own = atomic_add_return(bytes, &host->ahead);

	if (own <= OMX_AHEAD_MAX - all)
		return true;
	omx_host_uncharge(ep, host, bytes);
	return false;
}

void omx_host_uncharge(struct omx_endpoint *ep, struct omx_host *host, int bytes)
{
	atomic_sub(bytes, &host->ahead);
	atomic_sub(bytes, &ep->ahead);
}
