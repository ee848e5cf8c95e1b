/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What differs between Open MPI 4.1, 5.0 and 6.0.  Everything else here is
 * written as for the newest.
 */
#ifndef MTL_OMX_COMPAT_H
#define MTL_OMX_COMPAT_H

#include "ompi_config.h"

#include "ompi/communicator/communicator.h"
#include "ompi/proc/proc.h"
#include "opal/datatype/opal_convertor.h"

#if OMPI_MAJOR_VERSION >= 5

#include "ompi/runtime/ompi_rte.h"
#include "ompi/mca/bml/base/base.h"
#include "opal/mca/pmix/pmix-internal.h"
#include "opal/mca/threads/mutex.h"

#define MTL_OMX_INIT_PARAMETERS \
	bool enable_progress_threads, bool enable_mpi_threads, bool *accelerator_support
#define mtl_omx_init_defaults() (*accelerator_support = false)

/*
 * Windows need BTLs, which only pml/ob1 starts.  It does so even if another pml is
 * chosen in the end, but not if the user has named another one.
 */
#define mtl_omx_start_btls() mca_bml_base_init(enable_progress_threads, enable_mpi_threads)

/* Its number is the same in all members: extended context ids need a flag that we do not set. */
static inline uint32_t mtl_omx_context_of(const struct ompi_communicator_t *comm)
{
	return comm->c_index;
}

static inline bool mtl_omx_is_displaced(const struct opal_convertor_t *convertor)
{
	(void)convertor;
	return false;
}

#else

#include "ompi/mca/rte/rte.h"
#include "opal/mca/pmix/pmix.h"
#include "opal/threads/mutex.h"

#define PMIX_GLOBAL	OPAL_PMIX_GLOBAL
#define PMIX_HOSTNAME	OPAL_PMIX_HOSTNAME
#define PMIX_STRING	OPAL_STRING

#define MTL_OMX_INIT_PARAMETERS \
	bool enable_progress_threads, bool enable_mpi_threads
#define mtl_omx_init_defaults() ((void)0)
#define mtl_omx_start_btls() OMPI_SUCCESS

static inline uint32_t mtl_omx_context_of(const struct ompi_communicator_t *comm)
{
	return comm->c_contextid;
}

/*
 * Does ompi_mtl_datatype_pack() forget the displacement of data without gaps?
 * It takes the convertor's base for the address of the data.  That is right
 * for convertors that pml/cm has filled in by itself, and wrong for those that
 * were prepared for sending, which are the ones of persistent requests.
 */
static inline bool mtl_omx_is_displaced(const struct opal_convertor_t *convertor)
{
	return convertor->flags & CONVERTOR_SEND;
}

#endif

/* Since 6.0 a communicator can have an attached buffer of its own. */
#if OMPI_MAJOR_VERSION >= 6
#define mtl_omx_bsend_free(comm, copy)	mca_pml_base_bsend_request_free(comm, copy)
#else
#define mtl_omx_bsend_free(comm, copy)	mca_pml_base_bsend_request_free(copy)
#endif

#endif
