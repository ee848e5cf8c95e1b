/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Public functions by which a program finds out whether a message has arrived
 * that no receive has matched yet.  omx_improbe also removes it from matching;
 * omx_imrecv in receive.c receives it then.
 *
 * Any thread may call them.  They acquire the endpoint's lock, which is dropped
 * while omx_probe sleeps.
 */
#include "error.h"
#include "omx.h"
#include "query.h"
#include "unexpected.h"

static bool find_message(struct omx__endpoint *ep, void *argument)
{
	struct query *query = argument;

	query->message = omx__unexpected_find(ep, query->match_info, query->match_mask);
	return query->message;
}

static void message_describe(const struct message *message, omx_status_t *status)
{
	*status = (omx_status_t){
		.code = OMX_SUCCESS,
		.addr = message->partner->addr,
		.match_info = message->arrival.match_info,
		.msg_length = message->arrival.length,
	};
}

static omx_return_t first_message(struct omx__endpoint *ep, uint64_t match_info,
				  uint64_t match_mask, omx_status_t *status, uint32_t *result,
				  uint32_t timeout, bool may_block)
{
	struct query query = { .match_info = match_info, .match_mask = match_mask };
	uint32_t found;
	omx_return_t ret = omx__query_run(ep, find_message, &query, &found, timeout, may_block);

	if (ret)
		return ret;
	if (found && status)
		message_describe(query.message, status);
	*result = found;
	omx__leave(ep);
	return OMX_SUCCESS;
}

omx_return_t omx_iprobe(omx_endpoint_t ep, uint64_t match_info, uint64_t match_mask,
			omx_status_t *status, uint32_t *result)
{
	return omx__return(ep, first_message(ep, match_info, match_mask, status, result,
					     0, false), __func__);
}

omx_return_t omx_probe(omx_endpoint_t ep, uint64_t match_info, uint64_t match_mask,
		       omx_status_t *status, uint32_t *result, uint32_t timeout)
{
	return omx__return(ep, first_message(ep, match_info, match_mask, status, result,
					     timeout, true), __func__);
}

static omx_return_t message_extract(struct omx__endpoint *ep, uint64_t match_info,
				    uint64_t match_mask, omx_message_t *message,
				    omx_status_t *status, uint32_t *result)
{
	struct query query = { .match_info = match_info, .match_mask = match_mask };
	uint32_t found;
	omx_return_t ret = omx__query_run(ep, find_message, &query, &found, 0, false);

	if (ret)
		return ret;
	if (found) {
		if (status)
			message_describe(query.message, status);
		*message = omx__unexpected_match(ep, query.message);
	}
	*result = found;
	omx__leave(ep);
	return OMX_SUCCESS;
}

omx_return_t omx_improbe(omx_endpoint_t ep, uint64_t match_info, uint64_t match_mask,
			 omx_message_t *message, omx_status_t *status, uint32_t *result)
{
	return omx__return(ep, message_extract(ep, match_info, match_mask, message, status,
					       result), __func__);
}
