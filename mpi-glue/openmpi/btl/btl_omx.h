/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Open MPI's byte transfer layer over omx: puts, gets and atomics in windows of
 * libomx, on which Open MPI builds MPI's one-sided communication (osc/rdma), and
 * messages for its own protocols (pml/ob1).
 *
 *   component.c	found, asked, opened by Open MPI; its parameters
 *   peer.c		processes: addresses published, connections made
 *   memory.c		registrations, which are windows
 *   access.c		puts, gets and atomics
 *   local.c		atomics on memory of this process
 *   message.c		descriptors and sends
 *   receive.c		receives
 *   progress.c		how requests end, and what is done if one fails
 *
 * The component has an endpoint of its own, beside that of mtl/omx: either is
 * used without the other one, the library's requests of one are never seen by
 * the other, and a job without windows polls one endpoint only, because Open MPI
 * calls btl_omx_progress() after it has looked for the first peer.
 *
 * Threads: any thread may call any function with MPI_THREAD_MULTIPLE.
 * btl_omx.lock guards the state of peers, and keeps the thread that learns from
 * the library that a request is done apart from the one that posts it.  It is
 * never held while Open MPI is called back.
 */
#ifndef BTL_OMX_H
#define BTL_OMX_H

#include "../compat.h"
#include "../glue.h"

#include "opal/mca/btl/base/base.h"
#include "opal/mca/btl/btl.h"

#include <omx.h>

#include "btl_compat.h"

typedef struct mca_btl_base_endpoint_t mca_btl_base_endpoint_t;	/* a peer, see peer.c */

/* ---- this process ---------------------------------------------------------- */

#define BTL_OMX_MESSAGE_MAX	65536	/* bytes of one message */

struct btl_omx_module {
	mca_btl_base_module_t super;
	omx_endpoint_t endpoint;
	opal_mutex_t lock;
	bool receiving;			/* receives are posted; under the lock */
	bool used;			/* a window or a message may need it; mtl/omx asks */
	/* parameters */
	int board;			/* -1: the first */
	int connect_timeout;		/* s */
	unsigned int receives;
};

extern const struct omx_glue btl_omx_glue;
extern struct btl_omx_module btl_omx;
extern mca_btl_base_component_t mca_btl_omx_component;

/* ---- requests --------------------------------------------------------------- */

/* The first member of whatever the library works on. */
struct btl_omx_request {
	/* Hands it to the library.  Must hold the lock. */
	omx_return_t (*post)(struct btl_omx_request *request, omx_endpoint_addr_t dest);
	/* The library has done with it. */
	void (*end)(struct btl_omx_request *request, const omx_status_t *status);
	struct btl_omx_request *next;	/* the next one that waits for the same peer */
	omx_request_t omx;
};

int btl_omx_progress(void);

/*
 * A request has failed.  Neither osc/rdma nor pml/ob1 can tell the program: ends
 * the job, and says why.
 */
void btl_omx_abort(const char *what, const omx_endpoint_addr_t *peer, omx_return_t code);

/* ---- peers -------------------------------------------------------------------- */

int btl_omx_add_procs(mca_btl_base_module_t *btl, size_t nprocs, opal_proc_t **procs,
		      mca_btl_base_endpoint_t **peers, opal_bitmap_t *reachable);
int btl_omx_del_procs(mca_btl_base_module_t *btl, size_t nprocs, opal_proc_t **procs,
		      mca_btl_base_endpoint_t **peers);

/*
 * Posts the request, or queues it until the peer has answered.  OPAL_SUCCESS;
 * OPAL_ERR_OUT_OF_RESOURCE: later, perhaps.
 */
int btl_omx_start(mca_btl_base_endpoint_t *peer, struct btl_omx_request *request);

/* ---- memory --------------------------------------------------------------------- */

/* What peers are told of a registration. */
struct mca_btl_base_registration_handle_t {
	omx_key_t key;
	uint64_t start;		/* the address that has offset 0 */
};

mca_btl_base_registration_handle_t *
btl_omx_register_mem(mca_btl_base_module_t *btl, mca_btl_base_endpoint_t *peer, void *base,
		     size_t size, uint32_t flags);
int btl_omx_deregister_mem(mca_btl_base_module_t *btl,
			   mca_btl_base_registration_handle_t *handle);
/* The endpoint was closed, and its windows with it. */
void btl_omx_memory_stop(void);

/* ---- puts, gets, atomics ----------------------------------------------------------- */

int btl_omx_put(mca_btl_base_module_t *btl, mca_btl_base_endpoint_t *peer, void *local_address,
		uint64_t remote_address, mca_btl_base_registration_handle_t *local_handle,
		mca_btl_base_registration_handle_t *remote_handle, size_t size, int flags,
		int order, mca_btl_base_rdma_completion_fn_t callback, void *context, void *data);
int btl_omx_get(mca_btl_base_module_t *btl, mca_btl_base_endpoint_t *peer, void *local_address,
		uint64_t remote_address, mca_btl_base_registration_handle_t *local_handle,
		mca_btl_base_registration_handle_t *remote_handle, size_t size, int flags,
		int order, mca_btl_base_rdma_completion_fn_t callback, void *context, void *data);
int btl_omx_atomic_op(mca_btl_base_module_t *btl, mca_btl_base_endpoint_t *peer,
		      uint64_t remote_address, mca_btl_base_registration_handle_t *remote_handle,
		      mca_btl_base_atomic_op_t op, uint64_t operand, int flags, int order,
		      mca_btl_base_rdma_completion_fn_t callback, void *context, void *data);
int btl_omx_atomic_fop(mca_btl_base_module_t *btl, mca_btl_base_endpoint_t *peer,
		       void *local_address, uint64_t remote_address,
		       mca_btl_base_registration_handle_t *local_handle,
		       mca_btl_base_registration_handle_t *remote_handle,
		       mca_btl_base_atomic_op_t op, uint64_t operand, int flags, int order,
		       mca_btl_base_rdma_completion_fn_t callback, void *context, void *data);
int btl_omx_atomic_cswap(mca_btl_base_module_t *btl, mca_btl_base_endpoint_t *peer,
			 void *local_address, uint64_t remote_address,
			 mca_btl_base_registration_handle_t *local_handle,
			 mca_btl_base_registration_handle_t *remote_handle, uint64_t compare,
			 uint64_t value, int flags, int order,
			 mca_btl_base_rdma_completion_fn_t callback, void *context, void *data);

/* Changes a word of this process, and returns what it was before. */
uint64_t btl_omx_atomic_local(omx_atomic_t op, uint32_t size, void *word, uint64_t operand,
			      uint64_t compare);

/* ---- messages ------------------------------------------------------------------------ */

mca_btl_base_descriptor_t *btl_omx_alloc(mca_btl_base_module_t *btl,
					 mca_btl_base_endpoint_t *peer, uint8_t order,
					 size_t size, uint32_t flags);
int btl_omx_free(mca_btl_base_module_t *btl, mca_btl_base_descriptor_t *descriptor);
mca_btl_base_descriptor_t *btl_omx_prepare_src(mca_btl_base_module_t *btl,
					       mca_btl_base_endpoint_t *peer,
					       opal_convertor_t *convertor, uint8_t order,
					       size_t reserve, size_t *size, uint32_t flags);
int btl_omx_send(mca_btl_base_module_t *btl, mca_btl_base_endpoint_t *peer,
		 mca_btl_base_descriptor_t *descriptor, mca_btl_base_tag_t tag);

/* Open MPI registers a handler: posts the receives, the first time. */
int btl_omx_register(mca_btl_base_module_t *btl, mca_btl_base_tag_t tag,
		     mca_btl_base_module_recv_cb_fn_t handler, void *data);
void btl_omx_receive_stop(void);

#endif
