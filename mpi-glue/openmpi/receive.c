/* SPDX-License-Identifier: BSD-2-Clause */
#include "mtl_omx.h"

#include "match.h"

static struct match receive_wanted(struct ompi_communicator_t *comm, int src, int tag)
{
	return match_wanted(mtl_omx_context_of(comm), src, tag);
}

static omx_return_t receive_post(struct mtl_omx_request *request, const struct match *match)
{
	const struct mtl_omx_memory *memory = &request->memory;

	if (OPAL_LIKELY(memory->nseg == 1))
		return omx_irecv(mtl_omx.endpoint, memory->segs[0].ptr, memory->segs[0].len,
				 match->info, match->mask, request, &request->omx);
	return omx_irecvv(mtl_omx.endpoint, memory->segs, memory->nseg,
			  match->info, match->mask, request, &request->omx);
}

static int receive_begin(struct opal_convertor_t *convertor, struct mtl_omx_request *request)
{
	mtl_omx_is_busy();
	request->convertor = convertor;
	request->buffered = false;
	return mtl_omx_map_target(convertor, &request->memory);
}

/* Has the message been there already?  Then nobody else has to find the request. */
static uint32_t receive_test(struct mtl_omx_request *request, omx_status_t *status)
{
	uint32_t done = 0;

	omx_completed(&request->omx, &done);
	if (done)
		omx_test(mtl_omx.endpoint, &request->omx, status, &done);
	return done;
}

/* `done`: with this status. */
static int receive_conclude(struct mtl_omx_request *request, omx_return_t code, uint32_t done,
			    const omx_status_t *status)
{
	if (OPAL_UNLIKELY(code)) {
		mtl_omx_unmap(&request->memory);
		return mtl_omx_error(code);
	}
	if (!done)
		return OMPI_SUCCESS;
	mtl_omx_finish(request, status);
	if (OPAL_UNLIKELY(__atomic_load_n(&mtl_omx.buffered, __ATOMIC_RELAXED)))
		mtl_omx_end_buffered();
	return OMPI_SUCCESS;
}

int mtl_omx_irecv(struct mca_mtl_base_module_t *mtl, struct ompi_communicator_t *comm,
		  int src, int tag, struct opal_convertor_t *convertor,
		  struct mca_mtl_request_t *mtl_request)
{
	struct mtl_omx_request *request = (struct mtl_omx_request *)mtl_request;
	struct match match = receive_wanted(comm, src, tag);
	uint32_t done = 0;
	omx_status_t status;
	omx_return_t code;
	int ret;

	(void)mtl;
	ret = receive_begin(convertor, request);
	if (OPAL_UNLIKELY(ret != OMPI_SUCCESS))
		return ret;
	OPAL_THREAD_LOCK(&mtl_omx.lock);
	code = receive_post(request, &match);
	if (OPAL_LIKELY(!code))
		done = receive_test(request, &status);
	OPAL_THREAD_UNLOCK(&mtl_omx.lock);
	return receive_conclude(request, code, done, &status);
}

/* MPI_ERROR stays as it is: it belongs to calls that return several statuses. */
static void receive_describe(const omx_status_t *from, struct ompi_status_public_t *status)
{
	if (status == MPI_STATUS_IGNORE)
		return;
	status->MPI_SOURCE = match_source(from->match_info);
	status->MPI_TAG = match_tag(from->match_info);
	status->_ucount = from->msg_length;
	status->_cancelled = 0;
}

int mtl_omx_iprobe(struct mca_mtl_base_module_t *mtl, struct ompi_communicator_t *comm,
		   int src, int tag, int *flag, struct ompi_status_public_t *status)
{
	struct match match = receive_wanted(comm, src, tag);
	omx_status_t found;
	omx_return_t code;
	uint32_t result;

	(void)mtl;
	code = omx_iprobe(mtl_omx.endpoint, match.info, match.mask, &found, &result);
	if (OPAL_UNLIKELY(code))
		return mtl_omx_error(code);
	if (result)
		receive_describe(&found, status);
	*flag = (int)result;
	return OMPI_SUCCESS;
}

/* Open MPI's handle of a message that only its holder can receive. */
static struct ompi_message_t *make_message(struct ompi_communicator_t *comm,
					   omx_message_t held, const omx_status_t *found)
{
	struct ompi_message_t *message = ompi_message_alloc();

	if (!message)
		return NULL;
	message->comm = comm;
	message->req_ptr = held;
	message->peer = match_source(found->match_info);
	message->count = found->msg_length;
	return message;
}

int mtl_omx_improbe(struct mca_mtl_base_module_t *mtl, struct ompi_communicator_t *comm,
		    int src, int tag, int *matched, struct ompi_message_t **message,
		    struct ompi_status_public_t *status)
{
	struct match match = receive_wanted(comm, src, tag);
	omx_message_t held;
	omx_status_t found;
	omx_return_t code;
	uint32_t result;

	(void)mtl;
	code = omx_improbe(mtl_omx.endpoint, match.info, match.mask, &held, &found, &result);
	if (OPAL_UNLIKELY(code))
		return mtl_omx_error(code);
	*matched = (int)result;
	if (!result)
		return OMPI_SUCCESS;
	*message = make_message(comm, held, &found);
	if (!*message)
		return OMPI_ERR_OUT_OF_RESOURCE;
	receive_describe(&found, status);
	return OMPI_SUCCESS;
}

static omx_return_t post_held(struct mtl_omx_request *request, omx_message_t held)
{
	const struct mtl_omx_memory *memory = &request->memory;

	if (OPAL_LIKELY(memory->nseg == 1))
		return omx_imrecv(mtl_omx.endpoint, memory->segs[0].ptr, memory->segs[0].len,
				  &held, request, &request->omx);
	return omx_imrecvv(mtl_omx.endpoint, memory->segs, memory->nseg, &held, request,
			   &request->omx);
}

int mtl_omx_imrecv(struct mca_mtl_base_module_t *mtl, struct opal_convertor_t *convertor,
		   struct ompi_message_t **message, struct mca_mtl_request_t *mtl_request)
{
	struct mtl_omx_request *request = (struct mtl_omx_request *)mtl_request;
	uint32_t done = 0;
	omx_status_t status;
	omx_return_t code;
	int ret;

	(void)mtl;
	ret = receive_begin(convertor, request);
	if (OPAL_UNLIKELY(ret != OMPI_SUCCESS))
		return ret;
	OPAL_THREAD_LOCK(&mtl_omx.lock);
	code = post_held(request, (*message)->req_ptr);
	if (OPAL_LIKELY(!code))
		done = receive_test(request, &status);
	OPAL_THREAD_UNLOCK(&mtl_omx.lock);
	ret = receive_conclude(request, code, done, &status);
	if (ret == OMPI_SUCCESS) {
		ompi_message_return(*message);
		*message = MPI_MESSAGE_NULL;
	}
	return ret;
}

/* A send is not taken back: MPI lets it complete instead. */
int mtl_omx_cancel(struct mca_mtl_base_module_t *mtl, mca_mtl_request_t *mtl_request, int flag)
{
	struct mtl_omx_request *request = (struct mtl_omx_request *)mtl_request;
	uint32_t cancelled = 0;

	(void)mtl;
	(void)flag;
	if (!request->convertor)
		return OMPI_SUCCESS;
	OPAL_THREAD_LOCK(&mtl_omx.lock);
	if (request->omx)
		omx_cancel(mtl_omx.endpoint, &request->omx, &cancelled);
	OPAL_THREAD_UNLOCK(&mtl_omx.lock);
	if (cancelled) {
		const omx_status_t status = { .code = OMX_CANCELLED };

		mtl_omx_finish(request, &status);
	}
	return OMPI_SUCCESS;
}
