/* SPDX-License-Identifier: BSD-2-Clause */
#include "mtl_omx.h"

#include "glue.h"
#include "match.h"

#include "opal/mca/base/base.h"
#include "opal/runtime/opal_progress.h"
#include "opal/util/output.h"

static int component_finalize(struct mca_mtl_base_module_t *mtl)
{
	(void)mtl;
	opal_progress_unregister(mtl_omx_idle);
	omx_close_endpoint(mtl_omx.endpoint);
	OBJ_DESTRUCT(&mtl_omx.lock);
	return OMPI_SUCCESS;
}

/* Open MPI calls these whether they are there or not. */
static int ignore_comm(struct mca_mtl_base_module_t *mtl, struct ompi_communicator_t *comm)
{
	(void)mtl;
	(void)comm;
	return OMPI_SUCCESS;
}

struct mtl_omx_module mtl_omx = {
	.super = {
		.mtl_max_contextid = MATCH_COMM_MAX,
		.mtl_max_tag = MATCH_TAG_MAX,
		.mtl_request_size = sizeof(struct mtl_omx_request),
		.mtl_add_procs = mtl_omx_add_procs,
		.mtl_del_procs = mtl_omx_del_procs,
		.mtl_finalize = component_finalize,
		.mtl_send = mtl_omx_send,
		.mtl_isend = mtl_omx_isend,
		.mtl_irecv = mtl_omx_irecv,
		.mtl_iprobe = mtl_omx_iprobe,
		.mtl_imrecv = mtl_omx_imrecv,
		.mtl_improbe = mtl_omx_improbe,
		.mtl_cancel = mtl_omx_cancel,
		.mtl_add_comm = ignore_comm,
		.mtl_del_comm = ignore_comm,
	},
	.board = -1,
	.priority = 40,		/* pml/ob1 has 20, mtl/ofi 25 */
	.connect_timeout = 60,
	.segment_min = 4096,
};

const struct omx_glue mtl_omx_glue = {
	.name = "mtl/omx",
	.framework = &ompi_mtl_base_framework,
	.component = &mca_mtl_omx_component.mtl_version,
};

static int register_parameters(void)
{
	omx_glue_parameter(&mtl_omx_glue, "board",
			   "Number of the board to use, see omx_info (-1: the first)",
			   MCA_BASE_VAR_TYPE_INT, &mtl_omx.board);
	omx_glue_parameter(&mtl_omx_glue, "priority", "Priority of the component",
			   MCA_BASE_VAR_TYPE_INT, &mtl_omx.priority);
	omx_glue_parameter(&mtl_omx_glue, "connect_timeout",
			   "Seconds that the first message to a process may wait for its host",
			   MCA_BASE_VAR_TYPE_INT, &mtl_omx.connect_timeout);
	omx_glue_parameter(&mtl_omx_glue, "segment_min",
			   "Data with gaps goes without a copy if its pieces have at least so many bytes on average",
			   MCA_BASE_VAR_TYPE_UNSIGNED_INT, &mtl_omx.segment_min);
	return OMPI_SUCCESS;
}

static int component_nothing(void)
{
	return OMPI_SUCCESS;
}

/* Open MPI initializes the component with the highest priority, and none if that fails. */
static int component_query(mca_base_module_t **module, int *priority)
{
	*module = NULL;
	if (!omx_glue_start(&mtl_omx_glue, omx_glue_requested(&mtl_omx_glue)))
		return OMPI_ERR_NOT_AVAILABLE;
	*priority = mtl_omx.priority;
	*module = (mca_base_module_t *)&mtl_omx.super;
	return OMPI_SUCCESS;
}

static bool start_endpoint(void)
{
	omx_endpoint_param_t param = { .key = OMX_ENDPOINT_PARAM_CONTEXT_ID };

	param.val.context_id.bits = MATCH_QUEUE_BITS;
	param.val.context_id.shift = MATCH_COMM_SHIFT;
	if (!omx_glue_open(&mtl_omx_glue, mtl_omx.board, &param, &mtl_omx.endpoint))
		return false;
	omx_get_endpoint_fd(mtl_omx.endpoint, &mtl_omx.fd);	/* it is open */
	return true;
}

static mca_mtl_base_module_t *component_init(MTL_OMX_INIT_PARAMETERS)
{
	(void)enable_progress_threads;
	(void)enable_mpi_threads;
	mtl_omx_init_defaults();
	if (!start_endpoint())
		return NULL;
	(void)mtl_omx_start_btls();
	OBJ_CONSTRUCT(&mtl_omx.lock, opal_mutex_t);
	opal_progress_register(mtl_omx_idle);
	opal_output_verbose(5, ompi_mtl_base_framework.framework_output,
			    "mtl/omx: used on %s", ompi_process_info.nodename);
	return &mtl_omx.super;
}

OMPI_DECLSPEC mca_mtl_base_component_2_0_0_t mca_mtl_omx_component = {
	.mtl_version = {
		MCA_MTL_BASE_VERSION_2_0_0,
		.mca_component_name = "omx",
		.mca_component_major_version = OMPI_MAJOR_VERSION,
		.mca_component_minor_version = OMPI_MINOR_VERSION,
		.mca_component_release_version = OMPI_RELEASE_VERSION,
		.mca_open_component = component_nothing,
		.mca_close_component = component_nothing,
		.mca_query_component = component_query,
		.mca_register_component_params = register_parameters,
	},
	.mtl_data = { MCA_BASE_METADATA_PARAM_NONE },
	.mtl_init = component_init,
};
