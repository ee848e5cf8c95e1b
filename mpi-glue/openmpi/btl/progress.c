/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How requests end.  Open MPI calls btl_omx_progress() whenever a program waits,
 * from any thread, also from within a callback.
 */
#include "btl_omx.h"

#include "ompi/runtime/mpiruntime.h"
#include "opal/util/output.h"

#define AT_ONCE	64	/* requests ended by one call, so that others have their turn */

void btl_omx_abort(const char *what, const omx_endpoint_addr_t *peer, omx_return_t code)
{
	char host[OMX_HOSTNAMELEN_MAX] = "a peer";
	uint32_t endpoint;
	uint64_t nic_id;

	if (omx_decompose_endpoint_addr(*peer, &nic_id, &endpoint) == OMX_SUCCESS)
		omx_nic_id_to_hostname(nic_id, host);
	opal_output(0, "btl/omx: %s cannot %s %s: %s", ompi_process_info.nodename, what, host,
		    omx_strerror(code));
	ompi_mpi_abort(&ompi_mpi_comm_world.comm, MPI_ERR_OTHER);
}

/* NULL: none is done. */
static struct btl_omx_request *progress_take_done(omx_status_t *status)
{
	struct btl_omx_request *request = NULL;
	uint32_t done = 0;

	/* Who holds it makes progress already, or is about to have made some. */
	if (OPAL_THREAD_TRYLOCK(&btl_omx.lock))
		return NULL;
	omx_test_any(btl_omx.endpoint, 0, 0, status, &done);
	if (done) {
		request = status->context;
		request->omx = NULL;
	}
	OPAL_THREAD_UNLOCK(&btl_omx.lock);
	return request;
}

int btl_omx_progress(void)
{
	struct btl_omx_request *request;
	omx_status_t status;
	int count;

	for (count = 0; count < AT_ONCE; count++) {
		request = progress_take_done(&status);
		if (!request)
			break;
		request->end(request, &status);
	}
	return count;
}
