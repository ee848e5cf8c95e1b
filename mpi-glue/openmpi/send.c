/* SPDX-License-Identifier: BSD-2-Clause */
#include "mtl_omx.h"

#include "match.h"

#include "opal/runtime/opal_progress.h"

omx_return_t mtl_omx_post_send(struct mtl_omx_request *request, omx_endpoint_addr_t dest)
{
	const struct mtl_omx_memory *memory = &request->memory;
	uint64_t info = request->info;

	if (OPAL_LIKELY(memory->nseg == 1)) {
		void *start = memory->segs[0].ptr;
		size_t length = memory->segs[0].len;

		return request->synchronous ?
			omx_issend(mtl_omx.endpoint, start, length, dest, info, request,
				   &request->omx) :
			omx_isend(mtl_omx.endpoint, start, length, dest, info, request,
				  &request->omx);
	}
	return request->synchronous ?
		omx_issendv(mtl_omx.endpoint, memory->segs, memory->nseg, dest, info, request,
			    &request->omx) :
		omx_isendv(mtl_omx.endpoint, memory->segs, memory->nseg, dest, info, request,
			   &request->omx);
}

/*
 * Posts it and looks at once whether it is done, as short ones are.  The lock
 * keeps it from being taken by another thread's progress in between.
 */
static omx_return_t post_and_test(struct mtl_omx_request *request, struct mtl_omx_peer *peer,
				  omx_status_t *status, uint32_t *done)
{
	const omx_endpoint_addr_t *dest;
	omx_return_t ret;

	*done = 0;
	OPAL_THREAD_LOCK(&mtl_omx.lock);
	dest = mtl_omx_address_of(peer);
	ret = OPAL_LIKELY(dest != NULL) ? mtl_omx_post_send(request, *dest) :
					  mtl_omx_send_later(peer, request);
	if (OPAL_LIKELY(!ret && dest))
		omx_test(mtl_omx.endpoint, &request->omx, status, done);
	OPAL_THREAD_UNLOCK(&mtl_omx.lock);
	return ret;
}

int mtl_omx_start_send(struct ompi_communicator_t *comm, int dest, int tag,
		       struct opal_convertor_t *convertor, mca_pml_base_send_mode_t mode,
		       struct mtl_omx_request *request)
{
	struct mtl_omx_peer *peer = mtl_omx_peer_of(comm, dest);
	omx_status_t status;
	omx_return_t code;
	uint32_t done;
	int ret;

	if (OPAL_UNLIKELY(!peer))
		return MPI_ERR_OTHER;
	mtl_omx_is_busy();
	request->convertor = NULL;
	request->omx = NULL;
	request->info = match_info(mtl_omx_context_of(comm), ompi_comm_rank(comm), tag);
	request->synchronous = mode == MCA_PML_BASE_SEND_SYNCHRONOUS;
	request->buffered = false;
	ret = mtl_omx_map_source(convertor, &request->memory);
	if (OPAL_UNLIKELY(ret != OMPI_SUCCESS))
		return ret;
	if (OPAL_UNLIKELY(mode == MCA_PML_BASE_SEND_BUFFERED))
		mtl_omx_count_buffered(request, true);
	code = post_and_test(request, peer, &status, &done);
	if (OPAL_UNLIKELY(code)) {
		if (request->buffered)
			mtl_omx_count_buffered(request, false);
		mtl_omx_unmap(&request->memory);
		return mtl_omx_error(code);
	}
	if (done)
		mtl_omx_finish(request, &status);
	return OMPI_SUCCESS;
}

int mtl_omx_isend(struct mca_mtl_base_module_t *mtl, struct ompi_communicator_t *comm,
		  int dest, int tag, struct opal_convertor_t *convertor,
		  mca_pml_base_send_mode_t mode, bool blocking,
		  mca_mtl_request_t *mtl_request)
{
	(void)mtl;
	(void)blocking;
	if (mode == MCA_PML_BASE_SEND_BUFFERED && mtl_request->ompi_req->req_persistent)
		return mtl_omx_start_buffered(comm, dest, tag, convertor, mtl_request);
	return mtl_omx_start_send(comm, dest, tag, convertor, mode,
				  (struct mtl_omx_request *)mtl_request);
}

/* A request without one of Open MPI's behind it. */
struct waited {
	struct mtl_omx_request request;
	struct ompi_request_t ompi;	/* only its status is used */
	bool done;			/* set by whichever thread makes progress */
};

static void send_wake(mca_mtl_request_t *mtl_request)
{
	__atomic_store_n(&((struct waited *)mtl_request)->done, true, __ATOMIC_RELEASE);
}

int mtl_omx_send(struct mca_mtl_base_module_t *mtl, struct ompi_communicator_t *comm,
		 int dest, int tag, struct opal_convertor_t *convertor,
		 mca_pml_base_send_mode_t mode)
{
	struct waited waited;
	int ret;

	(void)mtl;
	waited.request.super.ompi_req = &waited.ompi;
	waited.request.super.completion_callback = send_wake;
	waited.done = false;
	ret = mtl_omx_start_send(comm, dest, tag, convertor, mode, &waited.request);
	if (OPAL_UNLIKELY(ret != OMPI_SUCCESS))
		return ret;
	while (!__atomic_load_n(&waited.done, __ATOMIC_ACQUIRE))
		opal_progress();
	return waited.ompi.req_status.MPI_ERROR;
}
