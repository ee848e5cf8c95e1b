/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Other processes: each publishes where its endpoint is (Open MPI's modex); who
 * uses it for the first time connects.  What is posted to a peer before it has
 * answered is queued.  A process is a peer of itself, too: osc/rdma accesses all
 * members of a window in the same way.
 */
#include "btl_omx.h"

#include <stddef.h>
#include <stdlib.h>

/* What follows the location is guarded by btl_omx.lock. */
struct mca_btl_base_endpoint_t {
	struct omx_glue_location location;
	bool connected;				/* addr is valid */
	bool connecting;
	omx_endpoint_addr_t addr;
	struct btl_omx_request connect;
	struct btl_omx_request *first, **end;	/* what waits */
};

/* NULL: that process cannot be reached by omx. */
static mca_btl_base_endpoint_t *peer_new(struct opal_proc_t *proc)
{
	struct omx_glue_location location;
	mca_btl_base_endpoint_t *peer;

	/* Words are in the order of the host. */
	if (proc->proc_arch != opal_proc_local_get()->proc_arch ||
	    !omx_glue_locate(&btl_omx_glue, &proc->proc_name, &location))
		return NULL;
	peer = calloc(1, sizeof(*peer));
	if (!peer)
		return NULL;
	peer->location = location;
	peer->end = &peer->first;
	return peer;
}

int btl_omx_add_procs(mca_btl_base_module_t *btl, size_t nprocs, opal_proc_t **procs,
		      mca_btl_base_endpoint_t **peers, opal_bitmap_t *reachable)
{
	size_t i;

	(void)btl;
	btl_omx.used = true;
	for (i = 0; i < nprocs; i++) {
		peers[i] = peer_new(procs[i]);
		if (peers[i] && reachable)
			opal_bitmap_set_bit(reachable, (int)i);
	}
	return OPAL_SUCCESS;
}

static struct btl_omx_request *peer_take_waiting(mca_btl_base_endpoint_t *peer)
{
	struct btl_omx_request *first = peer->first;

	peer->first = NULL;
	peer->end = &peer->first;
	return first;
}

static void peer_queue(mca_btl_base_endpoint_t *peer, struct btl_omx_request *request)
{
	request->next = NULL;
	*peer->end = request;
	peer->end = &request->next;
}

/* Posts what waits, in order.  Must hold the lock. */
static omx_return_t peer_post_waiting(mca_btl_base_endpoint_t *peer)
{
	struct btl_omx_request *request = peer_take_waiting(peer);
	omx_return_t ret = OMX_SUCCESS;

	while (request && !ret) {
		struct btl_omx_request *next = request->next;

		ret = request->post(request, peer->addr);
		request = next;
	}
	return ret;
}

static void peer_connected(struct btl_omx_request *connect, const omx_status_t *status)
{
	mca_btl_base_endpoint_t *peer =
		(mca_btl_base_endpoint_t *)((char *)connect -
					    offsetof(mca_btl_base_endpoint_t, connect));
	omx_return_t ret = status->code;

	OPAL_THREAD_LOCK(&btl_omx.lock);
	peer->connecting = false;
	if (!ret) {
		peer->addr = status->addr;
		peer->connected = true;
		ret = peer_post_waiting(peer);
	}
	OPAL_THREAD_UNLOCK(&btl_omx.lock);
	if (ret)
		btl_omx_abort("connect to", &status->addr, ret);
}

/* Must hold the lock. */
static omx_return_t peer_connect(mca_btl_base_endpoint_t *peer)
{
	const struct omx_glue_location *there = &peer->location;
	omx_return_t ret;

	peer->connect.end = peer_connected;
	ret = omx_iconnect(btl_omx.endpoint, there->nic_id, there->endpoint, there->key, 0,
			   &peer->connect, &peer->connect.omx);
	if (ret)
		return ret;
	omx_set_request_timeout(btl_omx.endpoint, peer->connect.omx,
				(uint32_t)btl_omx.connect_timeout * 1000);
	peer->connecting = true;
	return OMX_SUCCESS;
}

/* Must hold the lock. */
static omx_return_t peer_start(mca_btl_base_endpoint_t *peer, struct btl_omx_request *request)
{
	omx_return_t ret = OMX_SUCCESS;

	if (OPAL_LIKELY(peer->connected))
		return request->post(request, peer->addr);
	if (!peer->connecting)
		ret = peer_connect(peer);
	if (!ret)
		peer_queue(peer, request);
	return ret;
}

int btl_omx_start(mca_btl_base_endpoint_t *peer, struct btl_omx_request *request)
{
	omx_endpoint_addr_t addr;
	omx_return_t ret;

	OPAL_THREAD_LOCK(&btl_omx.lock);
	ret = peer_start(peer, request);
	addr = peer->addr;
	OPAL_THREAD_UNLOCK(&btl_omx.lock);
	if (OPAL_LIKELY(!ret))
		return OPAL_SUCCESS;
	if (ret != OMX_NO_RESOURCES && ret != OMX_NO_SYSTEM_RESOURCES)
		btl_omx_abort("start a request to", &addr, ret);
	return OPAL_ERR_OUT_OF_RESOURCE;
}

/* Requests that still wait belong to Open MPI, which has given up this peer. */
static void peer_free(mca_btl_base_endpoint_t *peer)
{
	OPAL_THREAD_LOCK(&btl_omx.lock);
	if (peer->connecting)
		omx_forget(btl_omx.endpoint, &peer->connect.omx);
	OPAL_THREAD_UNLOCK(&btl_omx.lock);
	free(peer);
}

int btl_omx_del_procs(mca_btl_base_module_t *btl, size_t nprocs, opal_proc_t **procs,
		      mca_btl_base_endpoint_t **peers)
{
	size_t i;

	(void)btl;
	(void)procs;
	/* Open MPI compares the pointers with its copies: they have to stay. */
	for (i = 0; i < nprocs; i++)
		if (peers[i])
			peer_free(peers[i]);
	return OPAL_SUCCESS;
}
