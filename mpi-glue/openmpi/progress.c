/* SPDX-License-Identifier: BSD-2-Clause */
#include "mtl_omx.h"

#include "match.h"

#include "opal/util/output.h"

#define AT_ONCE	64	/* requests ended by one call, so that others have their turn */

int mtl_omx_error(omx_return_t code)
{
	switch (code) {
	case OMX_SUCCESS:
		return MPI_SUCCESS;
	case OMX_MESSAGE_TRUNCATED:
		return MPI_ERR_TRUNCATE;
	case OMX_NO_RESOURCES:
	case OMX_NO_SYSTEM_RESOURCES:
		return MPI_ERR_NO_MEM;
	default:
		return MPI_ERR_OTHER;
	}
}

/* Open MPI's own message says no more than "known error not in list". */
static void progress_explain(const omx_status_t *status)
{
	char host[OMX_HOSTNAMELEN_MAX] = "a peer that is gone";
	uint32_t endpoint;
	uint64_t nic_id;

	if (omx_decompose_endpoint_addr(status->addr, &nic_id, &endpoint) == OMX_SUCCESS)
		omx_nic_id_to_hostname(nic_id, host);
	opal_output(0, "mtl/omx: %s: a message to or from %s failed: %s",
		    ompi_process_info.nodename, host, omx_strerror(status->code));
}

static void end_receive(struct mtl_omx_request *request, const omx_status_t *status,
			struct ompi_status_public_t *result)
{
	result->MPI_SOURCE = match_source(status->match_info);
	result->MPI_TAG = match_tag(status->match_info);
	result->_ucount = status->xfer_length;
	if (status->code == OMX_SUCCESS || status->code == OMX_MESSAGE_TRUNCATED)
		mtl_omx_unpack(request->convertor, &request->memory, status->xfer_length);
}

void mtl_omx_finish(struct mtl_omx_request *request, const omx_status_t *status)
{
	struct ompi_status_public_t *result = &request->super.ompi_req->req_status;

	mtl_omx_is_busy();
	if (OPAL_UNLIKELY(request->buffered))
		mtl_omx_count_buffered(request, false);
	result->MPI_ERROR = mtl_omx_error(status->code);
	if (OPAL_UNLIKELY(status->code == OMX_CANCELLED)) {
		result->_cancelled = true;
		result->MPI_ERROR = MPI_SUCCESS;
	} else if (request->convertor) {
		end_receive(request, status, result);
	} else if (status->code == OMX_MESSAGE_TRUNCATED) {
		/* That is the receiver's business. */
		result->MPI_ERROR = MPI_SUCCESS;
	}
	if (OPAL_UNLIKELY(result->MPI_ERROR == MPI_ERR_OTHER))
		progress_explain(status);
	mtl_omx_unmap(&request->memory);
	request->super.completion_callback(&request->super);
}

/* NULL: none is done. */
static struct mtl_omx_request *take_done(omx_status_t *status)
{
	struct mtl_omx_request *request = NULL;
	uint32_t done = 0;

	/* Who holds it makes progress already, or is about to have made some. */
	if (OPAL_THREAD_TRYLOCK(&mtl_omx.lock))
		return NULL;
	omx_test_any(mtl_omx.endpoint, 0, 0, status, &done);
	if (done) {
		request = status->context;
		request->omx = NULL;
	}
	OPAL_THREAD_UNLOCK(&mtl_omx.lock);
	return request;
}

/*
 * A receive that completes at once may tell the program that its buffered sends have been
 * received, so that the attached buffer has room again: pml/cm fails without looking once
 * more.  Requests end in the order in which they are done, so that those before have to end,
 * too.  (A program that only probes for such a message still finds no room, nor does one of
 * several threads, another of which makes progress just then.)
 */
void mtl_omx_end_buffered(void)
{
	static _Thread_local bool ends;	/* callbacks may post receives that complete at once */

	if (ends)
		return;
	ends = true;
	while (mtl_omx_progress() == AT_ONCE &&
	       __atomic_load_n(&mtl_omx.buffered, __ATOMIC_RELAXED))
		;
	ends = false;
}

int mtl_omx_progress(void)
{
	struct mtl_omx_request *request;
	omx_status_t status;
	int count;

	for (count = 0; count < AT_ONCE; count++) {
		request = take_done(&status);
		if (!request)
			break;
		/* Open MPI's requests all have a callback. */
		if (OPAL_LIKELY(request->super.completion_callback != NULL))
			mtl_omx_finish(request, &status);
		else
			mtl_omx_connected(request, &status);
	}
	return count;
}
