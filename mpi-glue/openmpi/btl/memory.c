/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Registrations are windows.  Only what peers access is registered: omx needs no
 * registration of the local side.  osc/rdma registers each window once, pml/ob1
 * each large message.
 *
 * osc/rdma may access the whole word of 8 bytes in which a shorter one lies, so
 * the window consists of whole words.
 */
#include "btl_omx.h"

#include <stddef.h>
#include <stdlib.h>

struct btl_registration {
	struct mca_btl_base_registration_handle_t handle;	/* what Open MPI knows */
	omx_window_t window;
};

#define WORD	((uintptr_t)8)

static uint32_t memory_rights(uint32_t flags)
{
	uint32_t rights = 0;

	if (flags & MCA_BTL_REG_FLAG_REMOTE_READ)
		rights |= OMX_WINDOW_RIGHT_GET;
	if (flags & MCA_BTL_REG_FLAG_REMOTE_WRITE)
		rights |= OMX_WINDOW_RIGHT_PUT;
	if (flags & MCA_BTL_REG_FLAG_REMOTE_ATOMIC)
		rights |= OMX_WINDOW_RIGHT_ATOMIC;
	return rights;
}

/* A registration for the local side only has no window, and no key. */
static omx_return_t memory_export(struct btl_registration *registration, void *base, size_t size,
				  uint32_t rights)
{
	uintptr_t start = (uintptr_t)base & ~(WORD - 1);
	uintptr_t end = ((uintptr_t)base + size + WORD - 1) & ~(WORD - 1);
	omx_return_t ret;

	if (!rights || !size)
		return OMX_SUCCESS;
	registration->handle.start = start;
	ret = omx_window_create(btl_omx.endpoint, (void *)start, end - start, rights, NULL,
				&registration->window);
	if (!ret)
		ret = omx_window_key(btl_omx.endpoint, registration->window,
				     &registration->handle.key);
	return ret;
}

mca_btl_base_registration_handle_t *
btl_omx_register_mem(mca_btl_base_module_t *btl, mca_btl_base_endpoint_t *peer, void *base,
		     size_t size, uint32_t flags)
{
	struct btl_registration *registration = calloc(1, sizeof(*registration));

	(void)btl;
	(void)peer;
	if (!registration)
		return NULL;
	if (memory_export(registration, base, size, memory_rights(flags))) {
		free(registration);
		return NULL;
	}
	return &registration->handle;
}

int btl_omx_deregister_mem(mca_btl_base_module_t *btl,
			   mca_btl_base_registration_handle_t *handle)
{
	struct btl_registration *registration = (struct btl_registration *)handle;

	(void)btl;
	if (registration->window)
		omx_window_destroy(btl_omx.endpoint, registration->window);
	free(registration);
	return OPAL_SUCCESS;
}
