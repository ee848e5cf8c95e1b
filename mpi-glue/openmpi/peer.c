/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Other processes: each publishes where its endpoint is (Open MPI's modex);
 * who sends to it for the first time connects.
 */
#include "mtl_omx.h"

#include <stdlib.h>
#include <unistd.h>

#include "opal/util/output.h"

/* As published; all hosts of a job have the same byte order (see publish). */
struct location {
	uint64_t nic_id;
	uint32_t endpoint;
	uint32_t key;
};

struct peer {
	struct location location;
	omx_endpoint_addr_t addr;
	bool connected;		/* addr is valid; written last */
};

#define LOCATE_TRIES		200
#define LOCATE_INTERVAL_US	10000

#define PEER(proc) ((proc)->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_MTL])

uint32_t mtl_omx_key(void)
{
	return OMPI_PROC_MY_NAME->jobid * 0x9e3779b1u ^ OMPI_PROC_MY_NAME->vpid;
}

int mtl_omx_publish(uint32_t key)
{
	struct location location = { .key = key };
	omx_endpoint_addr_t own;
	int ret;

	if (omx_get_endpoint_addr(mtl_omx.endpoint, &own) ||
	    omx_decompose_endpoint_addr(own, &location.nic_id, &location.endpoint))
		return OMPI_ERROR;
	OPAL_MODEX_SEND(ret, PMIX_GLOBAL, &mca_mtl_omx_component.mtl_version, &location,
			sizeof(location));
	return ret == OPAL_SUCCESS ? OMPI_SUCCESS : OMPI_ERROR;
}

static bool find_published(struct ompi_proc_t *proc, struct location *location)
{
	struct location *published = NULL;
	size_t size = 0;
	bool found;
	int ret;

	OPAL_MODEX_RECV(ret, &mca_mtl_omx_component.mtl_version, &proc->super.proc_name,
			(void **)&published, &size);
	found = ret == OPAL_SUCCESS && size == sizeof(*published);
	if (found)
		*location = *published;
	free(published);
	return found;
}

/* What a job that has just been spawned has published may be on its way. */
static int locate(struct ompi_proc_t *proc, struct location *location)
{
	int tries;

	for (tries = 0; tries < LOCATE_TRIES; tries++) {
		if (find_published(proc, location))
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
	struct peer *peer;
	int ret;

	if (PEER(proc))
		return OMPI_SUCCESS;
	/* Lengths, match info and the like are in the order of the host. */
	if (proc->super.proc_arch != ompi_proc_local()->super.proc_arch)
		return OMPI_ERR_UNREACH;
	peer = calloc(1, sizeof(*peer));
	if (!peer)
		return OMPI_ERR_OUT_OF_RESOURCE;
	ret = locate(proc, &peer->location);
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

int mtl_omx_del_procs(struct mca_mtl_base_module_t *mtl, size_t nprocs,
		      struct ompi_proc_t **procs)
{
	(void)mtl;
	for (size_t i = 0; i < nprocs; i++) {
		free(PEER(procs[i]));
		PEER(procs[i]) = NULL;
	}
	return OMPI_SUCCESS;
}

static bool connect_to(struct ompi_proc_t *proc, struct peer *peer)
{
	const struct location *there = &peer->location;
	omx_return_t ret;

	/* Two threads may do this at once: they get the same. */
	ret = omx_connect(mtl_omx.endpoint, there->nic_id, there->endpoint, there->key,
			  (uint32_t)mtl_omx.connect_timeout * 1000, &peer->addr);
	if (ret) {
		opal_output(0, "mtl/omx: %s cannot reach rank %u at board %012llx: %s",
			    ompi_process_info.nodename,
			    (unsigned int)proc->super.proc_name.vpid,
			    (unsigned long long)there->nic_id, omx_strerror(ret));
		return false;
	}
	__atomic_store_n(&peer->connected, true, __ATOMIC_RELEASE);
	return true;
}

int mtl_omx_address_of(struct ompi_communicator_t *comm, int rank, omx_endpoint_addr_t *addr)
{
	struct ompi_proc_t *proc = ompi_comm_peer_lookup(comm, rank);
	struct peer *peer = PEER(proc);

	if (OPAL_UNLIKELY(!peer)) {
		if (add_proc(proc) != OMPI_SUCCESS)
			return MPI_ERR_OTHER;
		peer = PEER(proc);
	}
	if (OPAL_UNLIKELY(!__atomic_load_n(&peer->connected, __ATOMIC_ACQUIRE)) &&
	    !connect_to(proc, peer))
		return MPI_ERR_OTHER;
	*addr = peer->addr;
	return OMPI_SUCCESS;
}
