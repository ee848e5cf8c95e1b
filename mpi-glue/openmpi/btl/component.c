/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The component btl/omx: what Open MPI finds, and calls in MPI_Init and
 * MPI_Finalize.  It is offered under the same condition as mtl/omx.
 */
#include "btl_omx.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "opal/mca/base/base.h"
#include "opal/runtime/opal_progress.h"
#include "opal/util/output.h"

const struct omx_glue btl_omx_glue = {
	.name = "btl/omx",
	.framework = &opal_btl_base_framework,
	.component = &mca_btl_omx_component.btl_version,
};

static int btl_finalize(mca_btl_base_module_t *btl)
{
	(void)btl;
	opal_progress_unregister(btl_omx_progress);
	omx_close_endpoint(btl_omx.endpoint);
	btl_omx_receive_stop();
	btl_omx_memory_stop();
	OBJ_DESTRUCT(&btl_omx.lock);
	return OPAL_SUCCESS;
}

struct btl_omx_module btl_omx = {
	.super = {
		.btl_component = &mca_btl_omx_component,
		.btl_eager_limit = BTL_OMX_MESSAGE_MAX / 2,
		.btl_rndv_eager_limit = BTL_OMX_MESSAGE_MAX / 2,
		.btl_max_send_size = BTL_OMX_MESSAGE_MAX,
		.btl_rdma_pipeline_send_length = BTL_OMX_MESSAGE_MAX,
		.btl_rdma_pipeline_frag_size = INT_MAX,
		.btl_exclusivity = MCA_BTL_EXCLUSIVITY_DEFAULT,	/* more than tcp */
		.btl_latency = 10,	/* us: more than shared memory */
		.btl_bandwidth = 10000,	/* Mb/s */
		.btl_flags = MCA_BTL_FLAGS_SEND | MCA_BTL_FLAGS_SEND_INPLACE |
			MCA_BTL_FLAGS_RDMA | MCA_BTL_FLAGS_ATOMIC_OPS |
			MCA_BTL_FLAGS_ATOMIC_FOPS | BTL_OMX_FLAGS_NEWER,
		.btl_atomic_flags = MCA_BTL_ATOMIC_SUPPORTS_ADD | MCA_BTL_ATOMIC_SUPPORTS_AND |
			MCA_BTL_ATOMIC_SUPPORTS_OR | MCA_BTL_ATOMIC_SUPPORTS_XOR |
			MCA_BTL_ATOMIC_SUPPORTS_SWAP | MCA_BTL_ATOMIC_SUPPORTS_CSWAP |
			MCA_BTL_ATOMIC_SUPPORTS_32BIT | MCA_BTL_ATOMIC_SUPPORTS_GLOB,
		.btl_registration_handle_size =
			sizeof(struct mca_btl_base_registration_handle_t),
		.btl_get_limit = SIZE_MAX,
		.btl_put_limit = SIZE_MAX,
		.btl_get_local_registration_threshold = SIZE_MAX,
		.btl_put_local_registration_threshold = SIZE_MAX,
		.btl_add_procs = btl_omx_add_procs,
		.btl_del_procs = btl_omx_del_procs,
		.btl_register = btl_omx_register,
		.btl_finalize = btl_finalize,
		.btl_alloc = btl_omx_alloc,
		.btl_free = btl_omx_free,
		.btl_prepare_src = btl_omx_prepare_src,
		.btl_send = btl_omx_send,
		.btl_put = btl_omx_put,
		.btl_get = btl_omx_get,
		.btl_atomic_op = btl_omx_atomic_op,
		.btl_atomic_fop = btl_omx_atomic_fop,
		.btl_atomic_cswap = btl_omx_atomic_cswap,
		.btl_register_mem = btl_omx_register_mem,
		.btl_deregister_mem = btl_omx_deregister_mem,
	},
	.board = -1,
	.connect_timeout = 60,
	.receives = 32,
};

static int btl_register_parameters(void)
{
	omx_glue_parameter(&btl_omx_glue, "board",
			   "Number of the board to use, see omx_info (-1: the first)",
			   MCA_BASE_VAR_TYPE_INT, &btl_omx.board);
	omx_glue_parameter(&btl_omx_glue, "connect_timeout",
			   "Seconds that the first access or message to a process may wait for its host",
			   MCA_BASE_VAR_TYPE_INT, &btl_omx.connect_timeout);
	omx_glue_parameter(&btl_omx_glue, "receives",
			   "How many messages of 64 KiB can be received at a time (only pml/ob1 sends them)",
			   MCA_BASE_VAR_TYPE_UNSIGNED_INT, &btl_omx.receives);
	/* For mtl/omx, not for the user. */
	mca_base_component_var_register(&mca_btl_omx_component.btl_version, "used", NULL,
					MCA_BASE_VAR_TYPE_BOOL, NULL, 0,
					MCA_BASE_VAR_FLAG_INTERNAL | MCA_BASE_VAR_FLAG_DEFAULT_ONLY,
					OPAL_INFO_LVL_9, MCA_BASE_VAR_SCOPE_READONLY,
					&btl_omx.used);
	return mca_btl_base_param_register(&mca_btl_omx_component.btl_version, &btl_omx.super);
}

static int btl_nothing(void)
{
	return OPAL_SUCCESS;
}

/* Whoever asks for mtl/omx wants windows over omx, too.  Its framework is opened later. */
static bool btl_mtl_requested(void)
{
	const char *mtl = getenv("OMPI_MCA_mtl");

	return mtl && mtl[0] != '^' && strstr(mtl, "omx");
}

static bool btl_start(void)
{
	bool requested = omx_glue_requested(&btl_omx_glue) || btl_mtl_requested();

	return omx_glue_start(&btl_omx_glue, requested) &&
	       omx_glue_open(&btl_omx_glue, btl_omx.board, NULL, &btl_omx.endpoint);
}

/* Returns an array of modules, which Open MPI frees; NULL: omx is not used. */
static mca_btl_base_module_t **btl_init(int *count, bool enable_progress_threads,
					bool enable_mpi_threads)
{
	mca_btl_base_module_t **modules = malloc(sizeof(modules[0]));

	(void)enable_progress_threads;
	(void)enable_mpi_threads;
	*count = 0;
	if (!modules || !btl_start()) {
		free(modules);
		return NULL;
	}
	OBJ_CONSTRUCT(&btl_omx.lock, opal_mutex_t);
	opal_output_verbose(5, opal_btl_base_framework.framework_output,
			    "btl/omx: used on %s", ompi_process_info.nodename);
	*count = 1;
	modules[0] = &btl_omx.super;
	return modules;
}

OMPI_DECLSPEC mca_btl_base_component_t mca_btl_omx_component = {
	.btl_version = {
		MCA_BTL_DEFAULT_VERSION("omx"),
		.mca_open_component = btl_nothing,
		.mca_close_component = btl_nothing,
		.mca_register_component_params = btl_register_parameters,
	},
	.btl_data = { MCA_BASE_METADATA_PARAM_NONE },
	.btl_init = btl_init,
	.btl_progress = btl_omx_progress,
};
