/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends of MPI_Bsend_init.
 *
 * When such a request is started, pml/cm packs the data into the buffer that
 * the program has attached and makes the request's convertor describe this
 * copy.  It makes two mistakes then.  Up to Open MPI 5.0 it never lets the
 * convertor describe the program's data again, so each later start sends the
 * data of the first one.  And if the copy is still on its way at the next
 * start, it creates another request, for which it takes the number of bytes
 * for the number of elements; so does 6.0.
 *
 * Therefore the copy is sent by a request of the component's own, which gives
 * it back to the attached buffer in the end.  pml/cm's request is complete at
 * once, and its convertor describes the program's data again.
 */
#include "mtl_omx.h"

#include <stdlib.h>

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/pml/base/pml_base_bsend.h"
#include "ompi/mca/pml/base/pml_base_request.h"
#include "opal/util/output.h"

/* pml/cm's request, whose definition is not installed. */
struct cm_request {
	/* as in mca_pml_base_request_t */
	ompi_request_t ompi;
	volatile int32_t pml_complete;
	volatile int32_t free_called;
	int type;
	struct ompi_communicator_t *comm;
	struct ompi_datatype_t *datatype;
	opal_convertor_t convertor;
	/* its own */
	mca_pml_base_send_mode_t mode;
	const void *data;
	size_t bytes;
	int32_t peer;
	int32_t tag;
	void *copy;
	bool blocking;
	mca_mtl_request_t mtl;
};

_Static_assert(offsetof(struct cm_request, convertor) ==
	       offsetof(struct mca_pml_base_request_t, req_convertor),
	       "pml/cm's requests begin like those of the other PMLs");

/* Is the definition right for the pml/cm that runs? */
static bool is_known(const struct cm_request *cm, struct ompi_communicator_t *comm, int dest,
		     int tag, const struct opal_convertor_t *convertor,
		     const mca_mtl_request_t *mtl_request)
{
	return &cm->convertor == convertor && &cm->mtl == mtl_request && cm->comm == comm &&
	       cm->peer == dest && cm->tag == tag && cm->mode == MCA_PML_BASE_SEND_BUFFERED &&
	       cm->bytes == convertor->local_size;
}

/* Sends a copy, without one of Open MPI's requests behind it. */
struct buffered {
	struct mtl_omx_request request;
	struct ompi_request_t ompi;	/* only its status is used */
	struct ompi_communicator_t *comm;
	void *copy;			/* in the attached buffer; NULL: there is no data */
};

static void buffered_release(struct buffered *buffered)
{
	if (buffered->copy)
		mtl_omx_bsend_free(buffered->comm, buffered->copy);
	OBJ_RELEASE(buffered->comm);
	free(buffered);
}

static void buffered_sent(mca_mtl_request_t *mtl_request)
{
	buffered_release((struct buffered *)mtl_request);
}

static int send_copy(const struct cm_request *cm, struct opal_convertor_t *convertor)
{
	struct buffered *buffered = malloc(sizeof(*buffered));
	int ret;

	if (!buffered)
		return OMPI_ERR_OUT_OF_RESOURCE;
	buffered->comm = cm->comm;	/* may outlive the program's handle */
	OBJ_RETAIN(buffered->comm);
	buffered->copy = cm->bytes ? cm->copy : NULL;
	buffered->request.super.ompi_req = &buffered->ompi;
	buffered->request.super.completion_callback = buffered_sent;
	ret = mtl_omx_start_send(cm->comm, cm->peer, cm->tag, convertor,
				 MCA_PML_BASE_SEND_BUFFERED, &buffered->request);
	if (OPAL_UNLIKELY(ret != OMPI_SUCCESS))
		buffered_release(buffered);
	return ret;
}

static void describe_data(struct cm_request *cm, struct opal_convertor_t *convertor)
{
	const opal_datatype_t *type = &cm->datatype->super;

	if (cm->bytes)
		opal_convertor_prepare_for_send(convertor, type, cm->bytes / type->size, cm->data);
}

int mtl_omx_start_buffered(struct ompi_communicator_t *comm, int dest, int tag,
			   struct opal_convertor_t *convertor, mca_mtl_request_t *mtl_request)
{
	struct mtl_omx_request *request = (struct mtl_omx_request *)mtl_request;
	struct cm_request *cm = (struct cm_request *)mtl_request->ompi_req;
	int ret;

	if (OPAL_UNLIKELY(!is_known(cm, comm, dest, tag, convertor, mtl_request))) {
		opal_output(0, "mtl/omx: MPI_Bsend_init does not work with this version of pml/cm");
		return OMPI_ERR_NOT_SUPPORTED;
	}
	/* In case the program cancels it, which comes too late. */
	request->convertor = NULL;
	request->omx = NULL;
	ret = send_copy(cm, convertor);
	describe_data(cm, convertor);
	cm->pml_complete = true;
	return ret;
}
