/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Receives of the messages of pml/ob1: a fixed number of buffers, each of which
 * takes any message and is posted again after its handler has returned.
 * Messages for which there is no buffer wait in the library.  They are posted
 * when somebody registers a handler, because one-sided communication needs none.
 */
#include "btl_omx.h"

#include <stdlib.h>

struct btl_receive {
	struct btl_omx_request request;		/* first */
	struct btl_receive *next;
	char bytes[BTL_OMX_MESSAGE_MAX];
};

static struct btl_receive *receives;		/* under the lock */

/* Must hold the lock. */
static omx_return_t receive_post(struct btl_receive *receive)
{
	return omx_irecv(btl_omx.endpoint, receive->bytes, sizeof(receive->bytes), 0, 0,
			 &receive->request, &receive->request.omx);
}

static void receive_end(struct btl_omx_request *request, const omx_status_t *status)
{
	struct btl_receive *receive = (struct btl_receive *)request;
	mca_btl_base_segment_t segment = {
		.seg_addr.pval = receive->bytes,
		.seg_len = status->xfer_length,
	};
	omx_return_t ret;

	if (OPAL_UNLIKELY(status->code))
		btl_omx_abort("receive a message from", &status->addr, status->code);
	btl_omx_deliver(&btl_omx.super, (mca_btl_base_tag_t)status->match_info, &segment);
	OPAL_THREAD_LOCK(&btl_omx.lock);
	ret = receive_post(receive);
	OPAL_THREAD_UNLOCK(&btl_omx.lock);
	if (OPAL_UNLIKELY(ret))
		btl_omx_abort("post a receive after one from", &status->addr, ret);
}

/* Must hold the lock. */
static int receive_add(void)
{
	struct btl_receive *receive = malloc(sizeof(*receive));

	if (!receive)
		return OPAL_ERR_OUT_OF_RESOURCE;
	receive->request.end = receive_end;
	if (receive_post(receive)) {
		free(receive);
		return OPAL_ERR_OUT_OF_RESOURCE;
	}
	receive->next = receives;
	receives = receive;
	return OPAL_SUCCESS;
}

/* One is enough to go on with. */
static int receive_start(void)
{
	unsigned int i;
	int ret = OPAL_SUCCESS;

	for (i = 0; i < btl_omx.receives && ret == OPAL_SUCCESS; i++)
		ret = receive_add();
	return receives ? OPAL_SUCCESS : ret;
}

int btl_omx_register(mca_btl_base_module_t *btl, mca_btl_base_tag_t tag,
		     mca_btl_base_module_recv_cb_fn_t handler, void *data)
{
	int ret = OPAL_SUCCESS;

	(void)btl;
	(void)tag;
	(void)handler;
	(void)data;
	OPAL_THREAD_LOCK(&btl_omx.lock);
	if (!btl_omx.receiving)
		ret = receive_start();
	btl_omx.receiving = ret == OPAL_SUCCESS;
	OPAL_THREAD_UNLOCK(&btl_omx.lock);
	return ret;
}

/* After the endpoint was closed. */
void btl_omx_receive_stop(void)
{
	while (receives) {
		struct btl_receive *next = receives->next;

		free(receives);
		receives = next;
	}
	btl_omx.receiving = false;
}
