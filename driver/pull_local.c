// SPDX-License-Identifier: GPL-2.0
/* Large messages whose sender is on this host. */
#include "channel.h"
#include "endpoint.h"
#include "iface.h"
#include "pull_private.h"
#include "rndv.h"

/* The message of a sender on this host, referenced, or NULL. */
static struct omx_rndv *local_source(struct omx_pull *pull)
{
	struct omx_endpoint *ep = pull->ep, *peer;
	struct omx_rndv *rndv = NULL;
	struct omx_channel *ch = pull->ch, *back;
	struct omx_iface *iface;

	iface = omx_iface_get_by_mac(ep->net, ch->mac);
	if (!iface)
		return NULL;
	rcu_read_lock();
	peer = omx_endpoint_find(iface, ch->peer_endpoint);
	if (peer && peer->session == ch->peer_session) {
		back = omx_channel_find(peer, ep->iface->mac, ep->index, ep->session);
		if (back)
			rndv = omx_rndv_get(peer, pull->message, back);
		if (rndv && pull->length > rndv->length) {
			omx_rndv_put(rndv);
			rndv = NULL;
		}
	}
	rcu_read_unlock();
	omx_iface_put(iface);
	return rndv;
}

void omx_pull_locally(struct omx_pull *pull)
{
	struct omx_rndv *source = local_source(pull);
	u8 status = OMX_STATUS_BAD_REGION;

	if (source) {
		int error = omx_region_copy_to_user(source->region, pull->region,
						    pull->length);

		omx_count(pull->ep->iface, LOCAL_COPY);
		if (error != -ENOENT && !READ_ONCE(source->withdrawn))
			status = error ? OMX_STATUS_FAULT : OMX_STATUS_OK;
		omx_rndv_put(source);
	}
	pull->state = OMX_PULL_DONE;
	omx_pull_conclude(pull, status);
}
