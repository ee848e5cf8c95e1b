/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "convert.h"

static const mx_return_t return_codes[OMX_RETURN_CODE_MAX] = {
	[OMX_BAD_ERROR] = MX_FAILURE,
	[OMX_ALREADY_INITIALIZED] = MX_ALREADY_INITIALIZED,
	[OMX_NOT_INITIALIZED] = MX_NOT_INITIALIZED,
	[OMX_NO_DEVICE_FILE] = MX_NO_DEV,
	[OMX_NO_DRIVER] = MX_NO_DRIVER,
	[OMX_ACCESS_DENIED] = MX_NO_PERM,
	[OMX_BOARD_NOT_FOUND] = MX_BOARD_UNKNOWN,
	[OMX_BAD_ENDPOINT] = MX_BAD_ENDPOINT,
	[OMX_SEGMENTS_BAD_COUNT] = MX_BAD_SEG_CNT,
	[OMX_BAD_REQUEST] = MX_BAD_REQUEST,
	[OMX_BAD_MATCH_MASK] = MX_BAD_MATCH_MASK,
	[OMX_NO_RESOURCES] = MX_NO_RESOURCES,
	[OMX_BUSY] = MX_BUSY,
	[OMX_BAD_INFO_KEY] = MX_BAD_INFO_KEY,
	[OMX_BAD_INFO_ADDRESS] = MX_BAD_INFO_VAL,
	[OMX_ENDPOINT_PARAMS_BAD_LIST] = MX_BAD_PARAM_LIST,
	[OMX_ENDPOINT_PARAM_BAD_KEY] = MX_BAD_PARAM_NAME,
	[OMX_ENDPOINT_PARAM_BAD_VALUE] = MX_BAD_PARAM_VAL,
	[OMX_PEER_NOT_FOUND] = MX_HOST_NOT_FOUND,
	[OMX_TIMEOUT] = MX_TIMEOUT,
	[OMX_REMOTE_ENDPOINT_BAD_ID] = MX_BAD_ENDPOINT_ID,
	[OMX_REMOTE_ENDPOINT_CLOSED] = MX_CONNECTION_FAILED,
	[OMX_REMOTE_ENDPOINT_BAD_CONNECTION_KEY] = MX_BAD_CONNECTION_KEY,
	[OMX_BAD_INFO_LENGTH] = MX_BAD_INFO_LENGTH,
	[OMX_NIC_ID_NOT_FOUND] = MX_NIC_NOT_FOUND,
	[OMX_BAD_KERNEL_ABI] = MX_BAD_KERNEL_VERSION,
	[OMX_BAD_LIB_ABI] = MX_BAD_LIB_VERSION,
	[OMX_BAD_MATCHING_FOR_CONTEXT_ID_MASK] = MX_BAD_MATCHING_FOR_CONTEXT_ID_MASK,
	[OMX_CANCELLED] = MX_FAILURE,
	[OMX_REMOTE_RDMA_WINDOW_BAD_ID] = MX_FAILURE,
	[OMX_REMOTE_ENDPOINT_UNREACHABLE] = MX_CONNECTION_FAILED,
	[OMX_REMOTE_ENDPOINT_BAD_SESSION] = MX_CONNECTION_FAILED,
	[OMX_MESSAGE_ABORTED] = MX_FAILURE,
	[OMX_MESSAGE_TRUNCATED] = MX_FAILURE,
	[OMX_NOT_SUPPORTED_IN_HANDLER] = MX_CLOSE_IN_HANDLER,
	[OMX_NO_SYSTEM_RESOURCES] = MX_NO_RESOURCES,
	[OMX_NOT_IMPLEMENTED] = MX_FAILURE,
};

static const mx_status_code_t status_codes[OMX_RETURN_CODE_MAX] = {
	[OMX_BAD_ERROR] = MX_STATUS_REJECTED,
	[OMX_BOARD_NOT_FOUND] = MX_STATUS_ABORTED,
	[OMX_NO_RESOURCES] = MX_STATUS_NO_RESOURCES,
	[OMX_PEER_NOT_FOUND] = MX_STATUS_ENDPOINT_UNKNOWN,
	[OMX_TIMEOUT] = MX_STATUS_TIMEOUT,
	[OMX_REMOTE_ENDPOINT_BAD_ID] = MX_STATUS_BAD_ENDPOINT,
	[OMX_REMOTE_ENDPOINT_CLOSED] = MX_STATUS_ENDPOINT_CLOSED,
	[OMX_REMOTE_ENDPOINT_BAD_CONNECTION_KEY] = MX_STATUS_BAD_KEY,
	[OMX_CANCELLED] = MX_STATUS_CANCELLED,
	[OMX_REMOTE_RDMA_WINDOW_BAD_ID] = MX_STATUS_BAD_RDMAWIN,
	[OMX_REMOTE_ENDPOINT_UNREACHABLE] = MX_STATUS_ENDPOINT_UNREACHABLE,
	[OMX_REMOTE_ENDPOINT_BAD_SESSION] = MX_STATUS_BAD_SESSION,
	[OMX_MESSAGE_ABORTED] = MX_STATUS_ABORTED,
	[OMX_MESSAGE_TRUNCATED] = MX_STATUS_TRUNCATED,
	[OMX_NO_SYSTEM_RESOURCES] = MX_STATUS_NO_RESOURCES,
};

mx_return_t mx__return_code(omx_return_t code)
{
	unsigned int index = (unsigned int)code;

	if (code == OMX_SUCCESS)
		return MX_SUCCESS;
	if (index >= OMX_RETURN_CODE_MAX || !return_codes[index])
		return MX_FAILURE;
	return return_codes[index];
}

mx_status_code_t mx__status_code(omx_return_t code)
{
	unsigned int index = (unsigned int)code;

	if (code == OMX_SUCCESS)
		return MX_STATUS_SUCCESS;
	if (index >= OMX_RETURN_CODE_MAX || !status_codes[index])
		return MX_STATUS_REJECTED;
	return status_codes[index];
}

static uint32_t convert_saturated(uint64_t length)
{
	return length < UINT32_MAX ? (uint32_t)length : UINT32_MAX;
}

void mx__status(mx_status_t *to, const omx_status_t *from)
{
	*to = (mx_status_t){
		.code = mx__status_code(from->code),
		.source = mx__address_out(from->addr),
		.match_info = from->match_info,
		.msg_length = convert_saturated(from->msg_length),
		.xfer_length = convert_saturated(from->xfer_length),
		.context = from->context,
	};
}

mx_return_t mx__segments(omx_seg_t *to, const mx_segment_t *from, uint32_t count)
{
	uint64_t total = 0;
	uint32_t i;

	if (count > MX_MAX_SEGMENTS)
		return MX_BAD_SEG_CNT;
	if (count && !from)
		return MX_BAD_SEG_LIST;
	for (i = 0; i < count; i++) {
		if (from[i].segment_length && !from[i].segment_ptr)
			return MX_BAD_SEG_MEM;
		to[i].ptr = from[i].segment_ptr;
		to[i].len = from[i].segment_length;
		total += from[i].segment_length;
	}
	return total > UINT32_MAX ? MX_BAD_SEG_LIST : MX_SUCCESS;
}
