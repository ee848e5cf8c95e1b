// SPDX-License-Identifier: BSD-2-Clause
/* Opening and closing endpoints, and the errors of both. */
#include "endpoints.h"

#include <sys/resource.h>
#include <fcntl.h>
#include <unistd.h>

static void open_by_number(void)
{
	omx_endpoint_t ep, other = NULL;
	uint32_t count;

	ep = open_number(5, NULL, 0);
	EQUAL(number_of(ep), 5);
	RETURNS(omx_open_endpoint(0, 5, KEY, NULL, 0, &other), OMX_BUSY);
	CHECK(!other);
	MUST(omx_close_endpoint(ep));
	ep = open_number(5, NULL, 0);
	MUST(omx_close_endpoint(ep));

	MUST(omx_get_info(NULL, OMX_INFO_ENDPOINT_MAX, NULL, 0, &count, sizeof(count)));
	ep = open_number(count - 1, NULL, 0);
	MUST(omx_close_endpoint(ep));
	RETURNS(omx_open_endpoint(0, count, KEY, NULL, 0, &ep), OMX_BAD_ENDPOINT);
	RETURNS(omx_open_endpoint(0, 70000, KEY, NULL, 0, &ep), OMX_BAD_ENDPOINT);
	RETURNS(omx_open_endpoint(31, 1, KEY, NULL, 0, &ep), OMX_BOARD_NOT_FOUND);
	RETURNS(omx_open_endpoint(100, 1, KEY, NULL, 0, &ep), OMX_BOARD_NOT_FOUND);
}

static void open_any_number(void)
{
	omx_endpoint_t a, b;

	MUST(omx_open_endpoint(OMX_ANY_NIC, OMX_ANY_ENDPOINT, KEY, NULL, 0, &a));
	MUST(omx_open_endpoint(OMX_ANY_NIC, OMX_ANY_ENDPOINT, KEY, NULL, 0, &b));
	CHECK(number_of(a) != number_of(b));
	EQUAL(nic_of(a), nic_of(b));
	MUST(omx_close_endpoint(a));
	MUST(omx_close_endpoint(b));
}

static void closed_ones_are_recognized(void)
{
	omx_endpoint_t ep = open_any();
	omx_request_t request = NULL;
	omx_endpoint_addr_t addr;
	omx_status_t status;
	uint32_t result;

	MUST(omx_close_endpoint(ep));
	RETURNS(omx_close_endpoint(ep), OMX_BAD_ENDPOINT);
	RETURNS(omx_close_endpoint(NULL), OMX_BAD_ENDPOINT);
	RETURNS(omx_progress(ep), OMX_BAD_ENDPOINT);
	RETURNS(omx_wakeup(ep), OMX_BAD_ENDPOINT);
	RETURNS(omx_get_endpoint_addr(ep, &addr), OMX_BAD_ENDPOINT);
	RETURNS(omx_irecv(ep, NULL, 0, 0, 0, NULL, &request), OMX_BAD_ENDPOINT);
	CHECK(!request);
	RETURNS(omx_test(ep, &request, &status, &result), OMX_BAD_ENDPOINT);
	RETURNS(omx_wait_any(ep, 0, 0, &status, &result, 10), OMX_BAD_ENDPOINT);
	RETURNS(omx_peek(ep, &request, &result, 10), OMX_BAD_ENDPOINT);
	RETURNS(omx_iprobe(ep, 0, 0, &status, &result), OMX_BAD_ENDPOINT);
	RETURNS(omx_disable_progression(ep), OMX_BAD_ENDPOINT);
	RETURNS(omx_reenable_progression(ep), OMX_BAD_ENDPOINT);
	RETURNS(omx_register_unexp_handler(ep, NULL, NULL), OMX_BAD_ENDPOINT);
	RETURNS(omx_set_request_timeout(ep, NULL, 1), OMX_BAD_ENDPOINT);
}

/* Pending requests do not keep an endpoint from being closed. */
static void close_with_pending_requests(void)
{
	omx_endpoint_t ep = open_any();
	omx_endpoint_addr_t self = connect_self(ep);
	omx_request_t request;
	static char buffer[1 << 20];
	int i;

	for (i = 0; i < 100; i++) {
		MUST(omx_irecv(ep, buffer, sizeof(buffer), i, EXACT, NULL, &request));
		MUST(omx_issend(ep, buffer, sizeof(buffer), self, 1000 + i, NULL, &request));
	}
	MUST(omx_close_endpoint(ep));
}

static void bad_params(void)
{
	omx_endpoint_param_t bits = { .key = OMX_ENDPOINT_PARAM_CONTEXT_ID,
				      .val.context_id = { .bits = 17 } };
	omx_endpoint_param_t shift = { .key = OMX_ENDPOINT_PARAM_CONTEXT_ID,
				       .val.context_id = { .bits = 8, .shift = 57 } };
	omx_endpoint_param_t unknown = { .key = 99 };
	omx_endpoint_t ep = NULL;

	RETURNS(omx_open_endpoint(0, 1, KEY, NULL, 1, &ep), OMX_ENDPOINT_PARAMS_BAD_LIST);
	RETURNS(omx_open_endpoint(0, 1, KEY, &unknown, 1, &ep), OMX_ENDPOINT_PARAM_BAD_KEY);
	RETURNS(omx_open_endpoint(0, 1, KEY, &bits, 1, &ep), OMX_ENDPOINT_PARAM_BAD_VALUE);
	RETURNS(omx_open_endpoint(0, 1, KEY, &shift, 1, &ep), OMX_ENDPOINT_PARAM_BAD_VALUE);
	CHECK(!ep);
}

static void good_params(void)
{
	omx_endpoint_param_t params[] = {
		{ .key = OMX_ENDPOINT_PARAM_ERROR_HANDLER, .val.error_handler = OMX_ERRORS_RETURN },
		{ .key = OMX_ENDPOINT_PARAM_UNEXP_QUEUE_MAX, .val.unexp_queue_max = 1 << 20 },
		{ .key = OMX_ENDPOINT_PARAM_CONTEXT_ID, .val.context_id = { 16, 48 } },
	};

	MUST(omx_close_endpoint(open_number(1, params, 3)));
	params[2].val.context_id.bits = 0;
	params[2].val.context_id.shift = 0;
	MUST(omx_close_endpoint(open_number(1, params, 3)));
	MUST(omx_close_endpoint(open_number(1, params, 0)));
}

/* Opening fails without file descriptors, and frees what it has allocated. */
static void out_of_files(void)
{
	struct rlimit old, low;
	omx_endpoint_t ep = NULL;
	int next = open("/dev/null", O_RDONLY);

	CHECK(next >= 0);
	close(next);
	CHECK(!getrlimit(RLIMIT_NOFILE, &old));
	low = old;
	low.rlim_cur = next;
	CHECK(!setrlimit(RLIMIT_NOFILE, &low));
	RETURNS(omx_open_endpoint(0, 1, KEY, NULL, 0, &ep), OMX_NO_SYSTEM_RESOURCES);
	CHECK(!setrlimit(RLIMIT_NOFILE, &old));
	MUST(omx_close_endpoint(open_number(1, NULL, 0)));
}

static void again_and_again(void)
{
	int i;

	for (i = 0; i < 100; i++)
		MUST(omx_close_endpoint(open_number(i % 3, NULL, 0)));
}

static void run_test(void)
{
	MUST(omx_init());
	open_by_number();
	open_any_number();
	closed_ones_are_recognized();
	close_with_pending_requests();
	bad_params();
	good_params();
	out_of_files();
	again_and_again();
	MUST(omx_finalize());
}

int main(int argc, char **argv)
{
	return run_alone(argc, argv, run_test);
}
