/* SPDX-License-Identifier: BSD-2-Clause */
/* What differs between the BTL interfaces of Open MPI 4.1, 5.0 and 6.0. */
#ifndef BTL_OMX_COMPAT_H
#define BTL_OMX_COMPAT_H

#include "opal/mca/btl/btl.h"

#if OMPI_MAJOR_VERSION >= 5

#define BTL_OMX_FLAGS_NEWER	MCA_BTL_FLAGS_RDMA_REMOTE_COMPLETION

/* Calls the handler of a message that consists of one segment. */
static inline void btl_omx_deliver(mca_btl_base_module_t *btl, mca_btl_base_tag_t tag,
				   mca_btl_base_segment_t *segment)
{
	const mca_btl_active_message_callback_t *handler =
		&mca_btl_base_active_message_trigger[tag];
	const mca_btl_base_receive_descriptor_t descriptor = {
		.des_segments = segment,
		.des_segment_count = 1,
		.tag = tag,
		.cbdata = handler->cbdata,
	};

	if (handler->cbfunc)
		handler->cbfunc(btl, &descriptor);
}

#else

#define BTL_OMX_FLAGS_NEWER	0

static inline void btl_omx_deliver(mca_btl_base_module_t *btl, mca_btl_base_tag_t tag,
				   mca_btl_base_segment_t *segment)
{
	const mca_btl_active_message_callback_t *handler =
		&mca_btl_base_active_message_trigger[tag];
	mca_btl_base_descriptor_t descriptor = {
		.des_segments = segment,
		.des_segment_count = 1,
	};

	if (handler->cbfunc)
		handler->cbfunc(btl, tag, &descriptor, handler->cbdata);
}

#endif

#endif
