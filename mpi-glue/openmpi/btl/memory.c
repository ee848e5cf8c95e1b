/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Registrations are windows.  Only what peers access is registered: omx needs no
 * registration of the local side.
 *
 * osc/rdma registers an MPI window once, for all kinds of access, and gets a
 * window of its own.  It may access the whole word of 8 bytes in which a shorter
 * one lies, so the window consists of whole words.
 *
 * pml/ob1 registers each large message at both sides.  To revoke a window takes two
 * RCU grace periods, tens of milliseconds.  So all messages share a window of the
 * whole address space, whose key only processes of the job ever see.
 */
#include "btl_omx.h"

#include <stddef.h>
#include <stdlib.h>

struct btl_registration {
	struct mca_btl_base_registration_handle_t handle;	/* what Open MPI knows */
	omx_window_t window;
};

#define WORD	((uintptr_t)8)

#define MEMORY_ALL_RIGHTS \
	(OMX_WINDOW_RIGHT_GET | OMX_WINDOW_RIGHT_PUT | OMX_WINDOW_RIGHT_ATOMIC)

static omx_window_t memory_of_messages;		/* created by the first one; under the lock */

static omx_return_t memory_export(struct btl_registration *registration, void *base, size_t size)
{
	uintptr_t start = (uintptr_t)base & ~(WORD - 1);
	uintptr_t end = ((uintptr_t)base + size + WORD - 1) & ~(WORD - 1);
	omx_return_t ret;

	registration->handle.start = start;
	ret = omx_window_create(btl_omx.endpoint, (void *)start, end - start, MEMORY_ALL_RIGHTS,
				NULL, &registration->window);
	if (!ret)
		ret = omx_window_key(btl_omx.endpoint, registration->window,
				     &registration->handle.key);
	return ret;
}

/* Offsets in this window are addresses: the start stays 0. */
static omx_return_t memory_share(struct btl_registration *registration)
{
	omx_return_t ret = OMX_SUCCESS;

	OPAL_THREAD_LOCK(&btl_omx.lock);
	if (!memory_of_messages)
		ret = omx_window_create(btl_omx.endpoint, NULL, OMX_WINDOW_ALL,
					OMX_WINDOW_RIGHT_GET | OMX_WINDOW_RIGHT_PUT, NULL,
					&memory_of_messages);
	if (!ret)
		ret = omx_window_key(btl_omx.endpoint, memory_of_messages,
				     &registration->handle.key);
	OPAL_THREAD_UNLOCK(&btl_omx.lock);
	return ret;
}

mca_btl_base_registration_handle_t *
btl_omx_register_mem(mca_btl_base_module_t *btl, mca_btl_base_endpoint_t *peer, void *base,
		     size_t size, uint32_t flags)
{
	struct btl_registration *registration = calloc(1, sizeof(*registration));
	omx_return_t ret;

	(void)btl;
	(void)peer;
	if (!registration)
		return NULL;
	ret = flags & MCA_BTL_REG_FLAG_REMOTE_ATOMIC ?
		memory_export(registration, base, size) : memory_share(registration);
	if (!ret)
		return &registration->handle;
	free(registration);
	return NULL;
}

void btl_omx_memory_stop(void)
{
	memory_of_messages = NULL;
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
