/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages of pml/ob1: descriptors, and sends.  A descriptor has a header of the
 * caller and, if the program's data has no gaps, a second segment in place.  The
 * match info of a message is the number of its handler.
 */
#include "btl_omx.h"

#include <stddef.h>
#include <stdlib.h>

struct btl_message {
	mca_btl_base_descriptor_t base;		/* first: it is what Open MPI knows */
	mca_btl_base_segment_t segments[2];
	struct btl_omx_request request;
	mca_btl_base_endpoint_t *peer;
	mca_btl_base_tag_t tag;
	char bytes[];
};

static struct btl_message *message_new(size_t size, uint32_t flags)
{
	struct btl_message *message;

	if (size > BTL_OMX_MESSAGE_MAX)
		return NULL;
	message = malloc(sizeof(*message) + size);
	if (!message)
		return NULL;
	OBJ_CONSTRUCT(&message->base, mca_btl_base_descriptor_t);
	message->segments[0].seg_addr.pval = message->bytes;
	message->segments[0].seg_len = size;
	message->base.des_segments = message->segments;
	message->base.des_segment_count = 1;
	message->base.des_cbfunc = NULL;
	message->base.des_flags = flags;
	message->base.order = MCA_BTL_NO_ORDER;
	return message;
}

mca_btl_base_descriptor_t *btl_omx_alloc(mca_btl_base_module_t *btl,
					 mca_btl_base_endpoint_t *peer, uint8_t order,
					 size_t size, uint32_t flags)
{
	struct btl_message *message = message_new(size, flags);

	(void)btl;
	(void)peer;
	(void)order;
	return message ? &message->base : NULL;
}

int btl_omx_free(mca_btl_base_module_t *btl, mca_btl_base_descriptor_t *descriptor)
{
	struct btl_message *message = (struct btl_message *)descriptor;

	(void)btl;
	OBJ_DESTRUCT(&message->base);
	free(message);
	return OPAL_SUCCESS;
}

/* Adds the next *size bytes of the program's data, or as many as there are. */
static int message_add_data(struct btl_message *message, opal_convertor_t *convertor, bool copy,
			    size_t *size)
{
	mca_btl_base_segment_t *header = &message->segments[0];
	struct iovec iov = { .iov_len = *size };
	uint32_t count = 1;
	int ret;

	if (copy)
		iov.iov_base = message->bytes + header->seg_len;
	ret = opal_convertor_pack(convertor, &iov, &count, size);
	if (ret < 0)
		return ret;
	if (copy) {
		header->seg_len += *size;
	} else {
		message->segments[1].seg_addr.pval = iov.iov_base;
		message->segments[1].seg_len = *size;
		message->base.des_segment_count = 2;
	}
	return OPAL_SUCCESS;
}

mca_btl_base_descriptor_t *btl_omx_prepare_src(mca_btl_base_module_t *btl,
					       mca_btl_base_endpoint_t *peer,
					       opal_convertor_t *convertor, uint8_t order,
					       size_t reserve, size_t *size, uint32_t flags)
{
	bool copy = opal_convertor_need_buffers(convertor);
	struct btl_message *message;

	(void)peer;
	(void)order;
	if (*size > BTL_OMX_MESSAGE_MAX - reserve)
		*size = BTL_OMX_MESSAGE_MAX - reserve;
	message = message_new(reserve + (copy ? *size : 0), flags);
	if (!message)
		return NULL;
	message->segments[0].seg_len = reserve;
	if (message_add_data(message, convertor, copy, size) != OPAL_SUCCESS) {
		btl_omx_free(btl, &message->base);
		return NULL;
	}
	return &message->base;
}

/* ---- sends ------------------------------------------------------------------------------ */

static struct btl_message *message_of(struct btl_omx_request *request)
{
	return (struct btl_message *)((char *)request - offsetof(struct btl_message, request));
}

static omx_return_t message_post(struct btl_omx_request *request, omx_endpoint_addr_t dest)
{
	struct btl_message *message = message_of(request);
	uint32_t count = (uint32_t)message->base.des_segment_count, i;
	omx_seg_t segs[2];

	for (i = 0; i < count; i++) {
		segs[i].ptr = message->segments[i].seg_addr.pval;
		segs[i].len = message->segments[i].seg_len;
	}
	return omx_isendv(btl_omx.endpoint, segs, count, dest, message->tag, request,
			  &request->omx);
}

static void message_end(struct btl_omx_request *request, const omx_status_t *status)
{
	struct btl_message *message = message_of(request);
	mca_btl_base_descriptor_t *base = &message->base;
	bool ours = base->des_flags & MCA_BTL_DES_FLAGS_BTL_OWNERSHIP;

	if (OPAL_UNLIKELY(status->code))
		btl_omx_abort("send a message to", &status->addr, status->code);
	if (base->des_cbfunc)
		base->des_cbfunc(&btl_omx.super, message->peer, base, OPAL_SUCCESS);
	if (ours)
		btl_omx_free(&btl_omx.super, base);
}

int btl_omx_send(mca_btl_base_module_t *btl, mca_btl_base_endpoint_t *peer,
		 mca_btl_base_descriptor_t *descriptor, mca_btl_base_tag_t tag)
{
	struct btl_message *message = (struct btl_message *)descriptor;

	(void)btl;
	message->request.post = message_post;
	message->request.end = message_end;
	message->peer = peer;
	message->tag = tag;
	return btl_omx_start(peer, &message->request);
}
