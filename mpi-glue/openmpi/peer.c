/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Other processes: each publishes where its endpoint is (Open MPI's modex);
 * who sends to it for the first time connects.  Nobody waits for that: sends
 * to a peer that has not answered yet are queued and posted when it has.
 */
#include "mtl_omx.h"

#include "glue.h"

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "opal/util/output.h"

enum peer_state {
	PEER_UNKNOWN,		/* nothing was sent yet, or it has not answered last time */
	PEER_CONNECTING,
	PEER_CONNECTED,		/* addr is valid */
};

/* What follows the name is guarded by mtl_omx.lock. */
struct mtl_omx_peer {
	struct omx_glue_location location;
	opal_process_name_t name;
	enum peer_state state;
	omx_endpoint_addr_t addr;
	struct mtl_omx_request connect;		/* has no callback, which tells it from others */
	struct mtl_omx_request *first, **end;	/* sends that wait */
};

#define LOCATE_TRIES		200
#define LOCATE_INTERVAL_US	10000

#define PEER(proc) ((proc)->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_MTL])

/* What a job that has just been spawned has published may be on its way. */
static int peer_locate(struct ompi_proc_t *proc, struct omx_glue_location *location)
{
	int tries;

	for (tries = 0; tries < LOCATE_TRIES; tries++) {
		if (omx_glue_locate(&mtl_omx_glue, &proc->super.proc_name, location))
			return OMPI_SUCCESS;
		usleep(LOCATE_INTERVAL_US);
	}
	opal_output(0, "mtl/omx: rank %u of job %x does not use omx",
		    (unsigned int)proc->super.proc_name.vpid,
		    (unsigned int)proc->super.proc_name.jobid);
	return OMPI_ERR_UNREACH;
}

static int add_proc(struct ompi_proc_t *proc)
{
	struct mtl_omx_peer *peer;
	int ret;

	if (PEER(proc))
		return OMPI_SUCCESS;
	/* Lengths, match info and the like are in the order of the host. */
	if (proc->super.proc_arch != ompi_proc_local()->super.proc_arch)
		return OMPI_ERR_UNREACH;
	peer = calloc(1, sizeof(*peer));
	if (!peer)
		return OMPI_ERR_OUT_OF_RESOURCE;
	peer->name = proc->super.proc_name;
	peer->end = &peer->first;
	ret = peer_locate(proc, &peer->location);
	if (ret != OMPI_SUCCESS) {
		free(peer);
		return ret;
	}
	/* Another thread may have been faster. */
	if (!__sync_bool_compare_and_swap(&PEER(proc), NULL, peer))
		free(peer);
	return OMPI_SUCCESS;
}

int mtl_omx_add_procs(struct mca_mtl_base_module_t *mtl, size_t nprocs,
		      struct ompi_proc_t **procs)
{
	(void)mtl;
	for (size_t i = 0; i < nprocs; i++) {
		int ret = add_proc(procs[i]);

		if (ret != OMPI_SUCCESS)
			return ret;
	}
	return OMPI_SUCCESS;
}

struct mtl_omx_peer *mtl_omx_peer_of(struct ompi_communicator_t *comm, int rank)
{
	struct ompi_proc_t *proc = ompi_comm_peer_lookup(comm, rank);

	if (OPAL_UNLIKELY(!PEER(proc)))
		add_proc(proc);
	return PEER(proc);
}

/* ---- connections --------------------------------------------------------- */

const omx_endpoint_addr_t *mtl_omx_address_of(const struct mtl_omx_peer *peer)
{
	return OPAL_LIKELY(peer->state == PEER_CONNECTED) ? &peer->addr : NULL;
}

static void peer_explain(const struct mtl_omx_peer *peer, omx_return_t code)
{
	opal_output(0, "mtl/omx: %s cannot reach rank %u at board %012llx: %s",
		    ompi_process_info.nodename, (unsigned int)peer->name.vpid,
		    (unsigned long long)peer->location.nic_id, omx_strerror(code));
}

static omx_return_t start_connect(struct mtl_omx_peer *peer)
{
	const struct omx_glue_location *there = &peer->location;
	omx_return_t ret;

	ret = omx_iconnect(mtl_omx.endpoint, there->nic_id, there->endpoint, there->key, 0,
			   &peer->connect, &peer->connect.omx);
	if (ret) {
		peer_explain(peer, ret);
		return ret;
	}
	omx_set_request_timeout(mtl_omx.endpoint, peer->connect.omx,
				(uint32_t)mtl_omx.connect_timeout * 1000);
	peer->state = PEER_CONNECTING;
	return OMX_SUCCESS;
}

omx_return_t mtl_omx_send_later(struct mtl_omx_peer *peer, struct mtl_omx_request *request)
{
	omx_return_t ret = OMX_SUCCESS;

	if (peer->state == PEER_UNKNOWN)
		ret = start_connect(peer);
	if (ret)
		return ret;
	request->next = NULL;
	*peer->end = request;
	peer->end = &request->next;
	return OMX_SUCCESS;
}

static struct mtl_omx_request *take_waiting(struct mtl_omx_peer *peer)
{
	struct mtl_omx_request *first = peer->first;

	peer->first = NULL;
	peer->end = &peer->first;
	return first;
}

/* Once posted a send may be finished and freed by whoever makes progress. */
static void finish_all(struct mtl_omx_request *request, const omx_status_t *status)
{
	while (request) {
		struct mtl_omx_request *next = request->next;

		mtl_omx_finish(request, status);
		request = next;
	}
}

/* Returns the sends that cannot be posted, with the reason in *code.  Must hold the lock. */
static struct mtl_omx_request *post_waiting(struct mtl_omx_peer *peer, omx_return_t *code)
{
	struct mtl_omx_request *request = take_waiting(peer);

	while (request) {
		struct mtl_omx_request *next = request->next;

		*code = mtl_omx_post_send(request, peer->addr);
		if (*code)
			break;
		request = next;
	}
	return request;
}

void mtl_omx_connected(struct mtl_omx_request *connect, const omx_status_t *status)
{
	struct mtl_omx_peer *peer =
		(struct mtl_omx_peer *)((char *)connect - offsetof(struct mtl_omx_peer, connect));
	omx_status_t failed = *status;
	struct mtl_omx_request *left;

	OPAL_THREAD_LOCK(&mtl_omx.lock);
	if (status->code == OMX_SUCCESS) {
		peer->addr = status->addr;
		peer->state = PEER_CONNECTED;
		left = post_waiting(peer, &failed.code);
	} else {
		peer->state = PEER_UNKNOWN;
		left = take_waiting(peer);
	}
	OPAL_THREAD_UNLOCK(&mtl_omx.lock);
	if (status->code)
		peer_explain(peer, status->code);
	finish_all(left, &failed);
}

static void free_peer(struct mtl_omx_peer *peer)
{
	const omx_status_t status = { .code = OMX_CANCELLED };
	struct mtl_omx_request *left;

	OPAL_THREAD_LOCK(&mtl_omx.lock);
	if (peer->connect.omx)
		omx_forget(mtl_omx.endpoint, &peer->connect.omx);
	left = take_waiting(peer);
	OPAL_THREAD_UNLOCK(&mtl_omx.lock);
	finish_all(left, &status);
	free(peer);
}

int mtl_omx_del_procs(struct mca_mtl_base_module_t *mtl, size_t nprocs,
		      struct ompi_proc_t **procs)
{
	(void)mtl;
	for (size_t i = 0; i < nprocs; i++) {
		if (PEER(procs[i]))
			free_peer(PEER(procs[i]));
		PEER(procs[i]) = NULL;
	}
	return OMPI_SUCCESS;
}
