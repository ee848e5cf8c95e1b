/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts, gets and atomics: each is one request of the library, whose end is the
 * completion at the target that Open MPI asks for.
 *
 * MIN and MAX are not offered: Open MPI's do not say whether the word is signed.
 */
#include "btl_omx.h"

#include <stdlib.h>

struct btl_access {
	struct btl_omx_request request;		/* first */
	mca_btl_base_endpoint_t *peer;
	void *local_address;
	mca_btl_base_registration_handle_t *local_handle;
	omx_key_t key;
	uint64_t offset;			/* in the window */
	uint64_t size;
	uint64_t operand, compare;		/* of atomics */
	omx_atomic_t operation;
	mca_btl_base_rdma_completion_fn_t callback;
	void *context, *data;
};

static omx_return_t access_put(struct btl_omx_request *request, omx_endpoint_addr_t dest)
{
	struct btl_access *access = (struct btl_access *)request;

	return omx_iput(btl_omx.endpoint, access->local_address, access->size, dest, access->key,
			access->offset, request, &request->omx);
}

static omx_return_t access_get(struct btl_omx_request *request, omx_endpoint_addr_t dest)
{
	struct btl_access *access = (struct btl_access *)request;

	return omx_iget(btl_omx.endpoint, access->local_address, access->size, dest, access->key,
			access->offset, request, &request->omx);
}

static omx_return_t access_change(struct btl_omx_request *request, omx_endpoint_addr_t dest)
{
	struct btl_access *access = (struct btl_access *)request;

	return omx_iatomic(btl_omx.endpoint, access->operation, (uint32_t)access->size, dest,
			   access->key, access->offset, access->operand, access->compare,
			   access->local_address, request, &request->omx);
}

static void access_end(struct btl_omx_request *request, const omx_status_t *status)
{
	struct btl_access *access = (struct btl_access *)request;

	if (OPAL_UNLIKELY(status->code))
		btl_omx_abort("access memory of", &status->addr, status->code);
	access->callback(&btl_omx.super, access->peer, access->local_address,
			 access->local_handle, access->context, access->data, OPAL_SUCCESS);
	free(access);
}

static int access_start(const struct btl_access *template)
{
	struct btl_access *access = malloc(sizeof(*access));
	int ret;

	if (OPAL_UNLIKELY(!access))
		return OPAL_ERR_OUT_OF_RESOURCE;
	*access = *template;
	access->request.end = access_end;
	ret = btl_omx_start(access->peer, &access->request);
	if (OPAL_UNLIKELY(ret != OPAL_SUCCESS))
		free(access);
	return ret;
}

/* A put or a get, of which `post` is the one. */
static int access_start_copy(omx_return_t (*post)(struct btl_omx_request *, omx_endpoint_addr_t),
			     mca_btl_base_endpoint_t *peer, void *local_address,
			     uint64_t remote_address,
			     mca_btl_base_registration_handle_t *local_handle,
			     const mca_btl_base_registration_handle_t *remote_handle, size_t size,
			     mca_btl_base_rdma_completion_fn_t callback, void *context, void *data)
{
	const struct btl_access access = {
		.request.post = post,
		.peer = peer,
		.local_address = local_address,
		.local_handle = local_handle,
		.key = remote_handle->key,
		.offset = remote_address - remote_handle->start,
		.size = size,
		.callback = callback, .context = context, .data = data,
	};

	return access_start(&access);
}

int btl_omx_put(mca_btl_base_module_t *btl, mca_btl_base_endpoint_t *peer, void *local_address,
		uint64_t remote_address, mca_btl_base_registration_handle_t *local_handle,
		mca_btl_base_registration_handle_t *remote_handle, size_t size, int flags,
		int order, mca_btl_base_rdma_completion_fn_t callback, void *context, void *data)
{
	(void)btl;
	(void)flags;
	(void)order;
	return access_start_copy(access_put, peer, local_address, remote_address, local_handle,
				 remote_handle, size, callback, context, data);
}

int btl_omx_get(mca_btl_base_module_t *btl, mca_btl_base_endpoint_t *peer, void *local_address,
		uint64_t remote_address, mca_btl_base_registration_handle_t *local_handle,
		mca_btl_base_registration_handle_t *remote_handle, size_t size, int flags,
		int order, mca_btl_base_rdma_completion_fn_t callback, void *context, void *data)
{
	(void)btl;
	(void)flags;
	(void)order;
	return access_start_copy(access_get, peer, local_address, remote_address, local_handle,
				 remote_handle, size, callback, context, data);
}

/* ---- atomics ---------------------------------------------------------------------------- */

/* False: not one of ours; osc/rdma makes it of a get and a put, under a lock. */
static bool access_operation(mca_btl_base_atomic_op_t op, int flags, omx_atomic_t *operation)
{
	static const struct {
		mca_btl_base_atomic_op_t theirs;
		omx_atomic_t ours;
	} operations[] = {
		{ MCA_BTL_ATOMIC_ADD, OMX_ATOMIC_ADD },
		{ MCA_BTL_ATOMIC_AND, OMX_ATOMIC_AND },
		{ MCA_BTL_ATOMIC_OR, OMX_ATOMIC_OR },
		{ MCA_BTL_ATOMIC_XOR, OMX_ATOMIC_XOR },
		{ MCA_BTL_ATOMIC_SWAP, OMX_ATOMIC_SWAP },
	};
	size_t i;

	if (flags & MCA_BTL_ATOMIC_FLAG_FLOAT)
		return false;
	for (i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		if (operations[i].theirs == op) {
			*operation = operations[i].ours;
			return true;
		}
	}
	return false;
}

/* Without a handle the word is memory of this process. */
static int access_local(const struct btl_access *access, uint64_t address)
{
	uint64_t before = btl_omx_atomic_local(access->operation, (uint32_t)access->size,
					       (void *)(uintptr_t)address, access->operand,
					       access->compare);

	if (access->local_address && access->size == 4)
		*(uint32_t *)access->local_address = (uint32_t)before;
	else if (access->local_address)
		*(uint64_t *)access->local_address = before;
	access->callback(&btl_omx.super, access->peer, access->local_address,
			 access->local_handle, access->context, access->data, OPAL_SUCCESS);
	return OPAL_SUCCESS;
}

static int access_start_atomic(struct btl_access *access, uint64_t address,
			       const mca_btl_base_registration_handle_t *handle, int flags)
{
	access->request.post = access_change;
	access->size = flags & MCA_BTL_ATOMIC_FLAG_32BIT ? 4 : 8;
	if (OPAL_UNLIKELY(address % access->size))
		return OPAL_ERR_NOT_SUPPORTED;
	if (access->size == 4) {	/* the other half is undefined */
		access->operand = (uint32_t)access->operand;
		access->compare = (uint32_t)access->compare;
	}
	if (!handle)
		return access_local(access, address);
	access->key = handle->key;
	access->offset = address - handle->start;
	return access_start(access);
}

int btl_omx_atomic_fop(mca_btl_base_module_t *btl, mca_btl_base_endpoint_t *peer,
		       void *local_address, uint64_t remote_address,
		       mca_btl_base_registration_handle_t *local_handle,
		       mca_btl_base_registration_handle_t *remote_handle,
		       mca_btl_base_atomic_op_t op, uint64_t operand, int flags, int order,
		       mca_btl_base_rdma_completion_fn_t callback, void *context, void *data)
{
	struct btl_access access = {
		.peer = peer,
		.local_address = local_address,
		.local_handle = local_handle,
		.operand = operand,
		.callback = callback, .context = context, .data = data,
	};

	(void)btl;
	(void)order;
	if (!access_operation(op, flags, &access.operation))
		return OPAL_ERR_NOT_SUPPORTED;
	return access_start_atomic(&access, remote_address, remote_handle, flags);
}

int btl_omx_atomic_op(mca_btl_base_module_t *btl, mca_btl_base_endpoint_t *peer,
		      uint64_t remote_address, mca_btl_base_registration_handle_t *remote_handle,
		      mca_btl_base_atomic_op_t op, uint64_t operand, int flags, int order,
		      mca_btl_base_rdma_completion_fn_t callback, void *context, void *data)
{
	return btl_omx_atomic_fop(btl, peer, NULL, remote_address, NULL, remote_handle, op,
				  operand, flags, order, callback, context, data);
}

int btl_omx_atomic_cswap(mca_btl_base_module_t *btl, mca_btl_base_endpoint_t *peer,
			 void *local_address, uint64_t remote_address,
			 mca_btl_base_registration_handle_t *local_handle,
			 mca_btl_base_registration_handle_t *remote_handle, uint64_t compare,
			 uint64_t value, int flags, int order,
			 mca_btl_base_rdma_completion_fn_t callback, void *context, void *data)
{
	struct btl_access access = {
		.peer = peer,
		.local_address = local_address,
		.local_handle = local_handle,
		.operation = OMX_ATOMIC_COMPARE_SWAP,
		.operand = value,
		.compare = compare,
		.callback = callback, .context = context, .data = data,
	};

	(void)btl;
	(void)order;
	return access_start_atomic(&access, remote_address, remote_handle, flags);
}
