// SPDX-License-Identifier: BSD-2-Clause
/* Endpoints: opening, parameters, addresses, handlers of their own, closing. */
#include "mx.h"

#include <string.h>

static int calls;
static mx_return_t last;

static mx_return_t count_error(char *str, mx_return_t ret)
{
	CHECK(str && *str);
	calls++;
	last = ret;
	return ret;
}

static mx_return_t forgive_error(char *str, mx_return_t ret)
{
	CHECK(strstr(str, "mx_irecv") == str, " %s", str);
	calls++;
	last = ret;
	return MX_SUCCESS;
}

static mx_return_t fail_receive(mx_endpoint_t ep)
{
	mx_request_t request;

	return mx_irecv(ep, NULL, 0, 0xff, 0, NULL, &request);
}

static void check_opening(void)
{
	mx_endpoint_t ep, other = NULL;

	FINE(mx_open_endpoint(0, 3, KEY, NULL, 0, &ep));
	GIVES(mx_open_endpoint(0, 3, KEY, NULL, 0, &other), MX_BUSY);
	GIVES(mx_open_endpoint(31, 3, KEY, NULL, 0, &other), MX_BOARD_UNKNOWN);
	GIVES(mx_open_endpoint(0, 100000, KEY, NULL, 0, &other), MX_BAD_ENDPOINT);
	CHECK(!other);
	FINE(mx_open_endpoint(MX_ANY_NIC, MX_ANY_ENDPOINT, KEY, NULL, 0, &other));
	CHECK(other != ep);
	FINE(mx_close_endpoint(other));
	FINE(mx_close_endpoint(ep));
	GIVES(mx_close_endpoint(ep), MX_BAD_ENDPOINT);
	GIVES(mx_close_endpoint(NULL), MX_BAD_ENDPOINT);
	FINE(mx_open_endpoint(0, 3, KEY, NULL, 0, &ep));
	FINE(mx_close_endpoint(ep));
}

static void check_parameters(void)
{
	mx_param_t params[4] = {
		{ .key = MX_PARAM_UNEXP_QUEUE_MAX, .val.unexp_queue_max = 1 << 20 },
		{ .key = MX_PARAM_CONTEXT_ID, .val.context_id = { .bits = 4, .shift = 60 } },
		{ .key = MX_PARAM_ERROR_HANDLER, .val.error_handler = count_error },
	};
	mx_endpoint_t ep = NULL;
	mx_request_t request;

	GIVES(mx_open_endpoint(0, 3, KEY, NULL, 1, &ep), MX_BAD_PARAM_LIST);
	params[3].key = 77;
	GIVES(mx_open_endpoint(0, 3, KEY, params, 4, &ep), MX_BAD_PARAM_NAME);
	params[1].val.context_id.bits = MX_CONTEXT_ID_BITS_MAX + 1;
	GIVES(mx_open_endpoint(0, 3, KEY, params, 3, &ep), MX_BAD_PARAM_VAL);
	params[1].val.context_id.bits = 4;
	params[1].val.context_id.shift = 61;
	GIVES(mx_open_endpoint(0, 3, KEY, params, 3, &ep), MX_BAD_PARAM_VAL);
	CHECK(!ep);
	params[1].val.context_id.shift = 60;
	calls = 0;
	FINE(mx_open_endpoint(0, 3, KEY, params, 3, &ep));
	EQUAL(calls, 0);
	GIVES(mx_irecv(ep, NULL, 0, 0, ~0ull >> 4, NULL, &request),
	      MX_BAD_MATCHING_FOR_CONTEXT_ID_MASK);
	EQUAL(calls, 1);
	EQUAL(last, MX_BAD_MATCHING_FOR_CONTEXT_ID_MASK);
	FINE(mx_close_endpoint(ep));
}

/*
 * An endpoint's handler is removed with it, also if the next endpoint gets
 * the same slot.
 */
static void check_handlers(void)
{
	mx_param_t param = { .key = MX_PARAM_ERROR_HANDLER, .val.error_handler = forgive_error };
	mx_endpoint_t with = mx_open_number(3, &param, 1), without = mx_open_number(4, NULL, 0);
	int i;

	calls = 0;
	FINE(fail_receive(with));
	EQUAL(calls, 1);
	EQUAL(last, MX_BAD_MATCH_MASK);
	GIVES(fail_receive(without), MX_BAD_MATCH_MASK);
	EQUAL(calls, 1);
	mx_set_error_handler(count_error);
	GIVES(fail_receive(without), MX_BAD_MATCH_MASK);
	EQUAL(calls, 2);
	FINE(fail_receive(with));
	EQUAL(calls, 3);
	mx_set_error_handler(MX_ERRORS_RETURN);
	FINE(mx_close_endpoint(with));
	GIVES(fail_receive(with), MX_BAD_ENDPOINT);
	for (i = 0; i < 3; i++) {
		with = mx_open_number(3, NULL, 0);
		GIVES(fail_receive(with), MX_BAD_MATCH_MASK);
		FINE(mx_close_endpoint(with));
	}
	EQUAL(calls, 3);
	FINE(mx_close_endpoint(without));
}

static void check_addresses(mx_endpoint_t ep)
{
	mx_endpoint_addr_t addr, garbage;
	uint32_t number, session = 0, again = 0;
	uint64_t nic, board_nic;
	void *context = &addr;

	EQUAL(sizeof(addr), MX_SIZEOF_ADDR);
	FINE(mx_get_endpoint_addr(ep, &addr));
	FINE(mx_decompose_endpoint_addr(addr, &nic, &number));
	FINE(mx_board_number_to_nic_id(0, &board_nic));
	EQUAL(nic, board_nic);
	EQUAL(number, 5);
	nic = number = 0;
	FINE(mx_decompose_endpoint_addr2(addr, &nic, &number, &session));
	EQUAL(nic, board_nic);
	EQUAL(number, 5);
	FINE(mx_decompose_endpoint_addr2(addr, &nic, &number, &again));
	CHECK(session == again && session);

	FINE(mx_get_endpoint_addr_context(addr, &context));
	CHECK(!context);
	FINE(mx_set_endpoint_addr_context(addr, &number));
	FINE(mx_get_endpoint_addr_context(addr, &context));
	CHECK(context == &number);

	memset(&garbage, 0xff, sizeof(garbage));
	GIVES(mx_decompose_endpoint_addr(garbage, &nic, &number), MX_BAD_ENDPOINT_ID);
	GIVES(mx_decompose_endpoint_addr2(garbage, &nic, &number, &again), MX_BAD_ENDPOINT_ID);
	GIVES(mx_set_endpoint_addr_context(garbage, NULL), MX_BAD_ENDPOINT_ID);
	GIVES(mx_get_endpoint_addr_context(garbage, &context), MX_BAD_ENDPOINT_ID);
	GIVES(mx_isend(ep, NULL, 0, garbage, 1, NULL, NULL), MX_BAD_ENDPOINT_ID);
	GIVES(mx_issend(ep, NULL, 0, garbage, 1, NULL, NULL), MX_BAD_ENDPOINT_ID);
	GIVES(mx_disconnect(ep, garbage), MX_BAD_ENDPOINT_ID);
}

/* Every call that names an endpoint. */
static void bad_endpoint(mx_endpoint_t ep)
{
	mx_endpoint_addr_t addr = { { 1, 1 } };
	mx_request_t request = NULL;
	uint32_t result = 5, number;

	GIVES(mx_wakeup(ep), MX_BAD_ENDPOINT);
	GIVES(mx_progress(ep), MX_BAD_ENDPOINT);
	GIVES(mx_disable_progression(ep), MX_BAD_ENDPOINT);
	GIVES(mx_reenable_progression(ep), MX_BAD_ENDPOINT);
	GIVES(mx_get_endpoint_addr(ep, &addr), MX_BAD_ENDPOINT);
	GIVES(mx_connect(ep, 1, 1, KEY, 100, &addr), MX_BAD_ENDPOINT);
	GIVES(mx_iconnect(ep, 1, 1, KEY, 1, NULL, &request), MX_BAD_ENDPOINT);
	GIVES(mx_disconnect(ep, addr), MX_BAD_ENDPOINT);
	GIVES(mx_isend(ep, NULL, 0, addr, 1, NULL, &request), MX_BAD_ENDPOINT);
	GIVES(mx_issend(ep, NULL, 0, addr, 1, NULL, &request), MX_BAD_ENDPOINT);
	GIVES(mx_irecv(ep, NULL, 0, 1, 1, NULL, &request), MX_BAD_ENDPOINT);
	GIVES(mx_test(ep, &request, NULL, &result), MX_BAD_ENDPOINT);
	GIVES(mx_wait(ep, &request, 10, NULL, &result), MX_BAD_ENDPOINT);
	GIVES(mx_test_any(ep, 0, 0, NULL, &result), MX_BAD_ENDPOINT);
	GIVES(mx_wait_any(ep, 10, 0, 0, NULL, &result), MX_BAD_ENDPOINT);
	GIVES(mx_ipeek(ep, &request, &result), MX_BAD_ENDPOINT);
	GIVES(mx_peek(ep, 10, &request, &result), MX_BAD_ENDPOINT);
	GIVES(mx_iprobe(ep, 0, 0, NULL, &result), MX_BAD_ENDPOINT);
	GIVES(mx_probe(ep, 10, 0, 0, NULL, &result), MX_BAD_ENDPOINT);
	GIVES(mx_ibuffered(ep, &request, &result), MX_BAD_ENDPOINT);
	GIVES(mx_buffered(ep, &request, 10, &result), MX_BAD_ENDPOINT);
	GIVES(mx_cancel(ep, &request, &result), MX_BAD_ENDPOINT);
	GIVES(mx_forget(ep, &request), MX_BAD_ENDPOINT);
	GIVES(mx_set_request_timeout(ep, NULL, 10), MX_BAD_ENDPOINT);
	GIVES(mx_register_unexp_handler(ep, NULL, NULL), MX_BAD_ENDPOINT);
	GIVES(mx_register_unexp_callback(ep, NULL, NULL), MX_BAD_ENDPOINT);
	if (ep)
		GIVES(mx_get_info(ep, MX_PORT_COUNT, NULL, 0, &number, sizeof(number)),
		      MX_BAD_ENDPOINT);
	CHECK(result == 5 && !request && addr.stuff[0] == 1);
}

/*
 * No message is handled while progression is disabled; afterwards all of them
 * are.
 */
static void held_up(mx_endpoint_t ep)
{
	mx_endpoint_addr_t self = mx_self(ep);
	mx_endpoint_t other = mx_open_any();
	mx_endpoint_addr_t to;
	mx_request_t request;
	mx_status_t status;
	uint32_t result, number;
	uint64_t nic;

	FINE(mx_decompose_endpoint_addr(self, &nic, &number));
	to = mx_find(other, nic, number);
	FINE(mx_disable_progression(ep));
	FINE(mx_isend(other, NULL, 0, to, 9, NULL, &request));
	mx_finish(other, &request, MX_STATUS_SUCCESS);
	FINE(mx_progress(ep));
	FINE(mx_iprobe(ep, 9, MX_MATCH_MASK_NONE, &status, &result));
	EQUAL(result, 0);
	FINE(mx_reenable_progression(ep));
	FINE(mx_probe(ep, PATIENCE, 9, MX_MATCH_MASK_NONE, &status, &result));
	EQUAL(result, 1);
	mx_receive(ep, NULL, 0, 9);
	FINE(mx_close_endpoint(other));
}

static void run_test(void)
{
	mx_endpoint_t ep;

	mx_set_error_handler(MX_ERRORS_RETURN);
	FINE(mx_init());
	check_opening();
	check_parameters();
	check_handlers();
	ep = mx_open_number(5, NULL, 0);
	check_addresses(ep);
	held_up(ep);
	FINE(mx_close_endpoint(ep));
	bad_endpoint(ep);
	bad_endpoint(NULL);
	/* Finalizing closes what is open. */
	ep = mx_open_number(5, NULL, 0);
	FINE(mx_finalize());
	GIVES(mx_progress(ep), MX_BAD_ENDPOINT);
	FINE(mx_init());
	ep = mx_open_number(5, NULL, 0);
	FINE(mx_finalize());
}

int main(int argc, char **argv)
{
	return run_alone(argc, argv, run_test);
}
