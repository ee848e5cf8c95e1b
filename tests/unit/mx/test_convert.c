/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Codes, statuses, segments, timeouts and addresses of MX and omx.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "convert.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Every code that omx.h names. */
static const struct {
	omx_return_t omx;
	mx_return_t code;
	mx_status_code_t status;
} pairs[] = {
	{ OMX_SUCCESS, MX_SUCCESS, MX_STATUS_SUCCESS },
	{ OMX_BAD_ERROR, MX_FAILURE, MX_STATUS_REJECTED },
	{ OMX_ALREADY_INITIALIZED, MX_ALREADY_INITIALIZED, MX_STATUS_REJECTED },
	{ OMX_NOT_INITIALIZED, MX_NOT_INITIALIZED, MX_STATUS_REJECTED },
	{ OMX_NO_DEVICE_FILE, MX_NO_DEV, MX_STATUS_REJECTED },
	{ OMX_NO_DRIVER, MX_NO_DRIVER, MX_STATUS_REJECTED },
	{ OMX_ACCESS_DENIED, MX_NO_PERM, MX_STATUS_REJECTED },
	{ OMX_BOARD_NOT_FOUND, MX_BOARD_UNKNOWN, MX_STATUS_ABORTED },
	{ OMX_BAD_ENDPOINT, MX_BAD_ENDPOINT, MX_STATUS_REJECTED },
	{ OMX_SEGMENTS_BAD_COUNT, MX_BAD_SEG_CNT, MX_STATUS_REJECTED },
	{ OMX_BAD_REQUEST, MX_BAD_REQUEST, MX_STATUS_REJECTED },
	{ OMX_BAD_MATCH_MASK, MX_BAD_MATCH_MASK, MX_STATUS_REJECTED },
	{ OMX_NO_RESOURCES, MX_NO_RESOURCES, MX_STATUS_NO_RESOURCES },
	{ OMX_BUSY, MX_BUSY, MX_STATUS_REJECTED },
	{ OMX_BAD_INFO_KEY, MX_BAD_INFO_KEY, MX_STATUS_REJECTED },
	{ OMX_BAD_INFO_ADDRESS, MX_BAD_INFO_VAL, MX_STATUS_REJECTED },
	{ OMX_ENDPOINT_PARAMS_BAD_LIST, MX_BAD_PARAM_LIST, MX_STATUS_REJECTED },
	{ OMX_ENDPOINT_PARAM_BAD_KEY, MX_BAD_PARAM_NAME, MX_STATUS_REJECTED },
	{ OMX_ENDPOINT_PARAM_BAD_VALUE, MX_BAD_PARAM_VAL, MX_STATUS_REJECTED },
	{ OMX_PEER_NOT_FOUND, MX_HOST_NOT_FOUND, MX_STATUS_ENDPOINT_UNKNOWN },
	{ OMX_TIMEOUT, MX_TIMEOUT, MX_STATUS_TIMEOUT },
	{ OMX_REMOTE_ENDPOINT_BAD_ID, MX_BAD_ENDPOINT_ID, MX_STATUS_BAD_ENDPOINT },
	{ OMX_REMOTE_ENDPOINT_CLOSED, MX_CONNECTION_FAILED, MX_STATUS_ENDPOINT_CLOSED },
	{ OMX_REMOTE_ENDPOINT_BAD_CONNECTION_KEY, MX_BAD_CONNECTION_KEY, MX_STATUS_BAD_KEY },
	{ OMX_BAD_INFO_LENGTH, MX_BAD_INFO_LENGTH, MX_STATUS_REJECTED },
	{ OMX_NIC_ID_NOT_FOUND, MX_NIC_NOT_FOUND, MX_STATUS_REJECTED },
	{ OMX_BAD_KERNEL_ABI, MX_BAD_KERNEL_VERSION, MX_STATUS_REJECTED },
	{ OMX_BAD_LIB_ABI, MX_BAD_LIB_VERSION, MX_STATUS_REJECTED },
	{ OMX_BAD_MATCHING_FOR_CONTEXT_ID_MASK, MX_BAD_MATCHING_FOR_CONTEXT_ID_MASK,
	  MX_STATUS_REJECTED },
	{ OMX_CANCELLED, MX_FAILURE, MX_STATUS_CANCELLED },
	{ OMX_REMOTE_RDMA_WINDOW_BAD_ID, MX_FAILURE, MX_STATUS_BAD_RDMAWIN },
	{ OMX_REMOTE_ENDPOINT_UNREACHABLE, MX_CONNECTION_FAILED,
	  MX_STATUS_ENDPOINT_UNREACHABLE },
	{ OMX_REMOTE_ENDPOINT_BAD_SESSION, MX_CONNECTION_FAILED, MX_STATUS_BAD_SESSION },
	{ OMX_MESSAGE_ABORTED, MX_FAILURE, MX_STATUS_ABORTED },
	{ OMX_MESSAGE_TRUNCATED, MX_FAILURE, MX_STATUS_TRUNCATED },
	{ OMX_NOT_SUPPORTED_IN_HANDLER, MX_CLOSE_IN_HANDLER, MX_STATUS_REJECTED },
	{ OMX_NO_SYSTEM_RESOURCES, MX_NO_RESOURCES, MX_STATUS_NO_RESOURCES },
	{ OMX_NOT_IMPLEMENTED, MX_FAILURE, MX_STATUS_REJECTED },
};

static void each_code(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(pairs); i++) {
		assert_int_equal(mx__return_code(pairs[i].omx), pairs[i].code);
		assert_int_equal(mx__status_code(pairs[i].omx), pairs[i].status);
	}
}

/* Whatever a later libomx says: a failure remains one. */
static void any_code(void **state)
{
	(void)state;
	for (int code = -300; code < 300; code++) {
		assert_int_equal(mx__return_code((omx_return_t)code) == MX_SUCCESS, code == 0);
		assert_int_equal(mx__status_code((omx_return_t)code) == MX_STATUS_SUCCESS,
				 code == 0);
	}
	assert_int_equal(mx__return_code((omx_return_t)2), MX_FAILURE);
	assert_int_equal(mx__return_code((omx_return_t)-1), MX_FAILURE);
	assert_int_equal(mx__return_code(OMX_RETURN_CODE_MAX), MX_FAILURE);
	assert_int_equal(mx__status_code(OMX_RETURN_CODE_MAX), MX_STATUS_REJECTED);
}

/* The values that programs were compiled with. */
static void values(void **state)
{
	(void)state;
	assert_int_equal(MX_NOT_SUPPORTED_WITH_CONTEXT_ID, 43);
	assert_int_equal(MX_TIMEOUT, 30);
	assert_int_equal(MX_STATUS_NO_RESOURCES, 16);
	assert_int_equal(MX_LINE_SPEED, 16);
	assert_int_equal(MX_NIC_COUNT, 1);
	assert_int_equal(MX_INFINITE, 0);
	assert_int_equal(MX_U32(0x123456789abcdef0), 0x12345678);
	assert_int_equal(MX_L32(0x123456789abcdef0), 0x9abcdef0);
}

static void status(void **state)
{
	int context;
	omx_status_t from = {
		.code = OMX_MESSAGE_TRUNCATED, .addr = { { 3, 4 } }, .match_info = 5,
		.msg_length = 7, .xfer_length = 6, .context = &context,
	};
	mx_status_t to;

	(void)state;
	mx__status(&to, &from);
	assert_int_equal(to.code, MX_STATUS_TRUNCATED);
	assert_int_equal(to.source.stuff[0], 3);
	assert_int_equal(to.source.stuff[1], 4);
	assert_int_equal(to.match_info, 5);
	assert_int_equal(to.msg_length, 7);
	assert_int_equal(to.xfer_length, 6);
	assert_ptr_equal(to.context, &context);
	from.msg_length = UINT32_MAX;
	mx__status(&to, &from);
	assert_int_equal(to.msg_length, UINT32_MAX);
	from.msg_length = 1ull << 32;
	from.xfer_length = 1ull << 40;
	mx__status(&to, &from);
	assert_int_equal(to.msg_length, UINT32_MAX);
	assert_int_equal(to.xfer_length, UINT32_MAX);
}

static void addresses(void **state)
{
	omx_endpoint_addr_t addr = { { 0x1122334455667788, 0x99 } };

	(void)state;
	addr = mx__address_in(mx__address_out(addr));
	assert_int_equal(addr.opaque[0], 0x1122334455667788);
	assert_int_equal(addr.opaque[1], 0x99);
}

static void timeouts(void **state)
{
	(void)state;
	assert_int_equal(mx__timeout(MX_INFINITE), OMX_TIMEOUT_INFINITE);
	assert_int_equal(mx__timeout(1), 1);
	assert_int_equal(mx__timeout(UINT32_MAX - 1), UINT32_MAX - 1);
}

static void segments(void **state)
{
	mx_segment_t from[MX_MAX_SEGMENTS] = { { from, 1 }, { NULL, 0 }, { &from[1], 7 } };
	omx_seg_t to[MX_MAX_SEGMENTS];

	(void)state;
	assert_int_equal(mx__segments(to, from, 3), MX_SUCCESS);
	assert_ptr_equal(to[0].ptr, from);
	assert_int_equal(to[0].len, 1);
	assert_int_equal(to[1].len, 0);
	assert_ptr_equal(to[2].ptr, &from[1]);
	assert_int_equal(to[2].len, 7);
	assert_int_equal(mx__segments(to, NULL, 0), MX_SUCCESS);
	assert_int_equal(mx__segments(to, from, MX_MAX_SEGMENTS), MX_SUCCESS);
	assert_int_equal(mx__segments(to, from, MX_MAX_SEGMENTS + 1), MX_BAD_SEG_CNT);
	assert_int_equal(mx__segments(to, NULL, 1), MX_BAD_SEG_LIST);
	from[1].segment_length = 1;
	assert_int_equal(mx__segments(to, from, 3), MX_BAD_SEG_MEM);
}

static void four_gigabytes(void **state)
{
	mx_segment_t from[2] = { { from, UINT32_MAX }, { from, 0 } };
	omx_seg_t to[MX_MAX_SEGMENTS];

	(void)state;
	assert_int_equal(mx__segments(to, from, 2), MX_SUCCESS);
	from[1].segment_length = 1;
	assert_int_equal(mx__segments(to, from, 2), MX_BAD_SEG_LIST);
	from[1].segment_length = UINT32_MAX;
	assert_int_equal(mx__segments(to, from, 2), MX_BAD_SEG_LIST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_code),
		cmocka_unit_test(any_code),
		cmocka_unit_test(values),
		cmocka_unit_test(status),
		cmocka_unit_test(addresses),
		cmocka_unit_test(timeouts),
		cmocka_unit_test(segments),
		cmocka_unit_test(four_gigabytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
