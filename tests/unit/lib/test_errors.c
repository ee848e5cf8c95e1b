/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What goes wrong is said, and nothing else breaks.
 */
#include <errno.h>

#include "fixture.h"

static char buffer[100000];

/* ---- the library and endpoints ------------------------------------------------ */

static void init_twice_and_again(void **state)
{
	(void)state;
	assert_int_equal(omx_init(), OMX_ALREADY_INITIALIZED);
	ok(omx_finalize());
	assert_int_equal(omx_finalize(), OMX_NOT_INITIALIZED);
	ok(omx_init());
}

/*
 * A driver works with this library if both serve a version, whichever of the
 * two is newer.  One that gives no oldest version serves a single one.
 */
static void abi_ranges(void **state)
{
	const uint32_t oldest = OMX_ABI_OLDEST, newest = OMX_ABI_VERSION;
	const struct { uint32_t oldest, newest; omx_return_t ret; } cases[] = {
		{ oldest, newest, OMX_SUCCESS },
		{ 0, newest, OMX_SUCCESS },
		{ 0, oldest, OMX_SUCCESS },
		{ 1, oldest, OMX_SUCCESS },
		{ newest, newest + 3, OMX_SUCCESS },
		{ 1, newest + 3, OMX_SUCCESS },
		{ newest + 1, newest + 3, OMX_BAD_KERNEL_ABI },
		{ 0, newest + 1, OMX_BAD_KERNEL_ABI },
		{ 0, oldest - 1, OMX_BAD_KERNEL_ABI },
		{ 1, oldest - 1, OMX_BAD_KERNEL_ABI },
		{ 0, 0, OMX_BAD_KERNEL_ABI },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		ok(omx_finalize());
		mock_set_abi(cases[i].oldest, cases[i].newest);
		assert_int_equal(omx_init(), cases[i].ret);
		mock_set_abi(oldest, newest);
		if (cases[i].ret)
			ok(omx_init());
	}
}

static void init_fails(void **state)
{
	static const struct { int err; omx_return_t ret; } cases[] = {
		{ -ENOENT, OMX_NO_DEVICE_FILE }, { -ENODEV, OMX_NO_DRIVER }, { -ENXIO, OMX_NO_DRIVER },
		{ -EACCES, OMX_ACCESS_DENIED }, { -EMFILE, OMX_NO_SYSTEM_RESOURCES },
		{ -EIO, OMX_BAD_ERROR },
	};

	(void)state;
	ok(omx_finalize());
	for (size_t i = 0; i < COUNT(cases); i++) {
		mock_fail_open(cases[i].err);
		assert_int_equal(omx_init(), cases[i].ret);
	}
	mock_fail(OMX_IOC_INFO, -ENOTTY, 0, 1);
	assert_int_equal(omx_init(), OMX_BAD_KERNEL_ABI);
	assert_int_equal(omx__init_api(0x400), OMX_BAD_LIB_ABI);
	assert_int_equal(omx__init_api(0x200), OMX_BAD_LIB_ABI);
	ok(omx__init_api(0x300));
}

static void before_init(void **state)
{
	uint32_t number;
	uint64_t nic;
	char name[OMX_HOSTNAMELEN_MAX];
	omx_endpoint_t ep;

	(void)state;
	ok(omx_finalize());
	memset(&ep, 0xa5, sizeof(ep));
	assert_int_equal(omx_open_endpoint(0, 0, 0, NULL, 0, &ep), OMX_NOT_INITIALIZED);
	assert_null(ep);
	assert_int_equal(omx_get_info(NULL, OMX_INFO_BOARD_MAX, NULL, 0, &number, 4),
			 OMX_NOT_INITIALIZED);
	assert_int_equal(omx_board_number_to_nic_id(0, &nic), OMX_NOT_INITIALIZED);
	assert_int_equal(omx_nic_id_to_board_number(0, &number), OMX_NOT_INITIALIZED);
	assert_int_equal(omx_hostname_to_nic_id("node2:0", &nic), OMX_NOT_INITIALIZED);
	assert_int_equal(omx_nic_id_to_hostname(0, name), OMX_NOT_INITIALIZED);
	ok(omx_init());
}

static void opening_fails(void **state)
{
	omx_endpoint_param_t param = { .key = (omx_endpoint_param_key_t)7 };
	omx_endpoint_t ep, other;

	(void)state;
	memset(&ep, 0xa5, sizeof(ep));
	assert_int_equal(omx_open_endpoint(1, 0, 0, NULL, 0, &ep), OMX_BOARD_NOT_FOUND);
	assert_null(ep);
	assert_int_equal(omx_open_endpoint(99, 0, 0, NULL, 0, &ep), OMX_BOARD_NOT_FOUND);
	assert_int_equal(omx_open_endpoint(0, OMX_ENDPOINT_MAX, 0, NULL, 0, &ep), OMX_BAD_ENDPOINT);
	assert_int_equal(omx_open_endpoint(0, 0, 0, NULL, 1, &ep), OMX_ENDPOINT_PARAMS_BAD_LIST);
	assert_int_equal(omx_open_endpoint(0, 0, 0, &param, 1, &ep), OMX_ENDPOINT_PARAM_BAD_KEY);
	ok(omx_open_endpoint(OMX_ANY_NIC, 3, 0, NULL, 0, &ep));
	memset(&other, 0xa5, sizeof(other));
	assert_int_equal(omx_open_endpoint(0, 3, 0, NULL, 0, &other), OMX_BUSY);
	assert_null(other);
	mock_fail_open(-EMFILE);
	assert_int_equal(omx_open_endpoint(0, 4, 0, NULL, 0, &other), OMX_NO_SYSTEM_RESOURCES);
	for (int skip = 0; skip < 2; skip++) {
		mock_fail_map(skip);
		assert_int_equal(omx_open_endpoint(0, 4, 0, NULL, 0, &other),
				 OMX_NO_SYSTEM_RESOURCES);
	}
	mock_set_ring_slots(100);
	assert_int_equal(omx_open_endpoint(0, 4, 0, NULL, 0, &other), OMX_BAD_ERROR);
	mock_set_ring_slots(256);
	ok(omx_open_endpoint(0, 4, 0, NULL, 0, &other));
	ok(omx_close_endpoint(ep));
	assert_int_equal(omx_close_endpoint(ep), OMX_BAD_ENDPOINT);
}

static void any_endpoint_from_the_environment(void **state)
{
	omx_endpoint_t ep;
	omx_endpoint_addr_t addr;
	uint64_t nic;
	uint32_t endpoint, session;

	(void)state;
	ok(omx_finalize());
	setenv("OMX_ANY_ENDPOINT", "17", 1);
	setenv("OMX_TIMEOUT_MS", "nonsense", 1);
	setenv("OMX_VERBOSE", "-1", 1);
	ok(omx_init());
	unsetenv("OMX_ANY_ENDPOINT");
	unsetenv("OMX_TIMEOUT_MS");
	unsetenv("OMX_VERBOSE");
	ok(omx_open_endpoint(0, OMX_ANY_ENDPOINT, 0, NULL, 0, &ep));
	ok(omx_get_endpoint_addr(ep, &addr));
	ok(omx_decompose_endpoint_addr_with_session(addr, &nic, &endpoint, &session));
	assert_int_equal(endpoint, 17);
	assert_true(nic == MOCK_MAC(0));
	assert_int_not_equal(session, 0);
}

#define all_bad(ep, ret) do { \
	assert_int_equal(omx_close_endpoint(ep), ret); \
	assert_int_equal(omx_wakeup(ep), ret); \
	assert_int_equal(omx_progress(ep), ret); \
	assert_int_equal(omx_disable_progression(ep), ret); \
	assert_int_equal(omx_reenable_progression(ep), ret); \
	assert_int_equal(omx_get_endpoint_addr(ep, &addr), ret); \
	assert_int_equal(omx_connect(ep, 0, 0, 0, 0, &addr), ret); \
	assert_int_equal(omx_iconnect(ep, 0, 0, 0, 0, NULL, &request), ret); \
	assert_int_equal(omx_disconnect(ep, addr), ret); \
	assert_int_equal(omx_isend(ep, NULL, 0, addr, 0, NULL, &request), ret); \
	assert_int_equal(omx_issend(ep, NULL, 0, addr, 0, NULL, &request), ret); \
	assert_int_equal(omx_isendv(ep, NULL, 0, addr, 0, NULL, &request), ret); \
	assert_int_equal(omx_issendv(ep, NULL, 0, addr, 0, NULL, &request), ret); \
	assert_int_equal(omx_irecv(ep, NULL, 0, 0, 0, NULL, &request), ret); \
	assert_int_equal(omx_irecvv(ep, NULL, 0, 0, 0, NULL, &request), ret); \
	assert_int_equal(omx_test(ep, &request, NULL, &result), ret); \
	assert_int_equal(omx_wait(ep, &request, NULL, &result, 0), ret); \
	assert_int_equal(omx_test_any(ep, 0, 0, NULL, &result), ret); \
	assert_int_equal(omx_wait_any(ep, 0, 0, NULL, &result, 0), ret); \
	assert_int_equal(omx_ipeek(ep, &request, &result), ret); \
	assert_int_equal(omx_peek(ep, &request, &result, 0), ret); \
	assert_int_equal(omx_iprobe(ep, 0, 0, NULL, &result), ret); \
	assert_int_equal(omx_probe(ep, 0, 0, NULL, &result, 0), ret); \
	assert_int_equal(omx_improbe(ep, 0, 0, &message, NULL, &result), ret); \
	assert_int_equal(omx_imrecv(ep, NULL, 0, &message, NULL, &request), ret); \
	assert_int_equal(omx_imrecvv(ep, NULL, 0, &message, NULL, &request), ret); \
	assert_int_equal(omx_ibuffered(ep, &request, &result), ret); \
	assert_int_equal(omx_buffered(ep, &request, &result, 0), ret); \
	assert_int_equal(omx_cancel(ep, &request, &result), ret); \
	assert_int_equal(omx_cancel_notest(ep, &request, &result), ret); \
	assert_int_equal(omx_forget(ep, &request), ret); \
	assert_int_equal(omx_register_unexp_handler(ep, NULL, NULL), ret); \
	assert_int_equal(omx_set_request_timeout(ep, NULL, 0), ret); \
	assert_int_equal(omx_get_endpoint_fd(ep, &fd), ret); \
	assert_int_equal(omx_set_memory_mode(ep, OMX_MEMORY_PIN), ret); \
	assert_int_equal(omx_get_memory_mode(ep, &mode), ret); \
	assert_int_equal(omx_isend_mode(ep, NULL, 0, addr, 0, mode, NULL, &request), ret); \
	assert_int_equal(omx_issend_mode(ep, NULL, 0, addr, 0, mode, NULL, &request), ret); \
	assert_int_equal(omx_irecv_mode(ep, NULL, 0, 0, 0, mode, NULL, &request), ret); \
	assert_int_equal(omx_region_declare(ep, &seg, 1, OMX_REGION_SEND, mode, &region), ret); \
	assert_int_equal(omx_region_release(ep, region), ret); \
	assert_int_equal(omx_region_isend(ep, region, 0, addr, 0, NULL, &request), ret); \
	assert_int_equal(omx_region_irecv(ep, region, 0, 0, 0, NULL, &request), ret); \
	assert_int_equal(omx_prefetch(ep, buffer, 1, OMX_PREFETCH_SEND), ret); \
} while (0)

static void closed_endpoint(void **state)
{
	omx_endpoint_t ep = open_with(0, NULL, 0);
	omx_endpoint_addr_t addr = { { 0, 0 } }, own;
	omx_request_t request = NULL;
	uint32_t result;
	omx_memory_mode_t mode = OMX_MEMORY_AUTO;
	omx_seg_t seg = { buffer, sizeof(buffer) };
	omx_region_t region = NULL;
	omx_message_t message = NULL;
	uint64_t nic;
	void *context;
	int fd;

	(void)state;
	ok(omx_get_endpoint_addr(ep, &own));
	ok(omx_close_endpoint(ep));
	all_bad(ep, OMX_BAD_ENDPOINT);
	all_bad(NULL, OMX_BAD_ENDPOINT);
	assert_int_equal(omx_get_info(ep, OMX_INFO_BOARD_IFACENAME, NULL, 0, buffer, 10),
			 OMX_BAD_ENDPOINT);
	assert_int_equal(omx_decompose_endpoint_addr(own, &nic, &result), OMX_REMOTE_ENDPOINT_BAD_ID);
	/* The next one may get the same memory, but has other addresses. */
	ep = open_with(0, NULL, 0);
	assert_int_equal(omx_decompose_endpoint_addr(own, &nic, &result), OMX_REMOTE_ENDPOINT_BAD_ID);
	assert_int_equal(omx_isend(ep, NULL, 0, own, 0, NULL, &request), OMX_REMOTE_ENDPOINT_BAD_ID);
	assert_int_equal(omx_get_endpoint_addr_context(own, &context), OMX_REMOTE_ENDPOINT_BAD_ID);
}

/* Everything that can be pending is given back. */
static void close_with_everything_pending(void **state)
{
	struct pair *pair = *state;
	omx_request_t request;

	ok(omx_irecv(pair->a, buffer, 10, 1, ALL, NULL, &request));
	ok(omx_irecv(pair->a, buffer, 10, 1, ALL, NULL, &request));
	ok(omx_set_request_timeout(pair->a, request, 1000));
	ok(omx_issend(pair->a, buffer, 10, pair->to_b, 1, NULL, &request));
	ok(omx_isend(pair->a, buffer, sizeof(buffer), pair->to_b, 1, NULL, &request));
	mock_set_room(0);
	ok(omx_isend(pair->a, buffer, 10, pair->to_b, 1, NULL, &request));
	mock_grant_room(-1);
	mock_hold(true);
	ok(omx_iconnect(pair->a, MOCK_MAC(0), 1, KEY, 0, NULL, &request));
	send_tag(pair->b, pair->to_a, 2, 10);
	send_tag(pair->b, pair->to_a, 2, 20000);
	ok(omx_isend(pair->b, buffer, sizeof(buffer), pair->to_a, 3, NULL, &request));
	assert_true(probed(pair->a, 2));
	ok(omx_irecv(pair->a, buffer, sizeof(buffer), 3, ALL, NULL, &request));
	ok(omx_close_endpoint(pair->a));
}

/* ---- addresses -------------------------------------------------------------------- */

static void bad_addresses(void **state)
{
	struct pair *pair = *state;
	omx_endpoint_addr_t addr = pair->to_b;
	omx_request_t request;
	uint64_t nic;
	uint32_t endpoint, session;
	void *context = buffer;

	ok(omx_get_endpoint_addr_context(addr, &context));
	assert_null(context);
	ok(omx_set_endpoint_addr_context(addr, buffer));
	ok(omx_get_endpoint_addr_context(addr, &context));
	assert_ptr_equal(context, buffer);
	ok(omx_decompose_endpoint_addr_with_session(addr, &nic, &endpoint, &session));
	assert_int_equal(endpoint, 1);

	/* An address is for the endpoint that has it. */
	assert_int_equal(omx_isend(pair->b, NULL, 0, addr, 0, NULL, &request),
			 OMX_REMOTE_ENDPOINT_BAD_ID);
	for (int bit = 0; bit < 128; bit++) {
		omx_endpoint_addr_t bad = addr;
		omx_return_t ret;

		bad.opaque[bit / 64] ^= 1ull << bit % 64;
		ret = omx_isend(pair->a, NULL, 0, bad, 0, NULL, &request);
		assert_true(ret == OMX_REMOTE_ENDPOINT_BAD_ID ||
			    ret == OMX_REMOTE_ENDPOINT_BAD_SESSION);
		assert_int_not_equal(omx_decompose_endpoint_addr(bad, &nic, &endpoint), OMX_SUCCESS);
		assert_int_not_equal(omx_set_endpoint_addr_context(bad, NULL), OMX_SUCCESS);
		assert_int_not_equal(omx_disconnect(pair->a, bad), OMX_SUCCESS);
	}
}

static void disconnects(void **state)
{
	struct pair *pair = *state;
	omx_request_t large, queued, receive, wild;
	omx_status_t status;
	uint32_t endpoint;
	uint64_t nic;
	void *context;

	ok(omx_set_endpoint_addr_context(pair->to_b, buffer));
	ok(omx_irecv(pair->a, buffer, 10, 0, 0, NULL, &wild));
	ok(omx_isend(pair->a, buffer, sizeof(buffer), pair->to_b, 1, NULL, &large));
	mock_set_room(0);
	ok(omx_isend(pair->a, buffer, 10, pair->to_b, 1, NULL, &queued));
	ok(omx_disconnect(pair->a, pair->to_b));
	mock_set_room(-1);
	assert_int_equal(finish(pair->a, &large).code, OMX_MESSAGE_ABORTED);
	assert_int_equal(finish(pair->a, &queued).code, OMX_MESSAGE_ABORTED);
	assert_int_equal(mock_regions(), 0);
	assert_int_equal(omx_disconnect(pair->a, pair->to_b), OMX_REMOTE_ENDPOINT_BAD_SESSION);
	assert_int_equal(omx_decompose_endpoint_addr(pair->to_b, &nic, &endpoint),
			 OMX_REMOTE_ENDPOINT_BAD_SESSION);
	assert_int_equal(omx_isend(pair->a, NULL, 0, pair->to_b, 0, NULL, &receive),
			 OMX_REMOTE_ENDPOINT_BAD_SESSION);

	/* The peer may go on, and be answered. */
	send_tag(pair->b, pair->to_a, 5, 10);
	status = finish(pair->a, &wild);
	assert_int_equal(status.code, OMX_SUCCESS);
	ok(omx_get_endpoint_addr_context(status.addr, &context));
	assert_null(context);
	send_tag(pair->a, status.addr, 6, 10);
	receive_tag(pair->b, 6, 10);
	pair->to_b = connect_to(pair->a, pair->b);
	assert_memory_equal(&status.addr, &pair->to_b, sizeof(status.addr));
	ok(omx_get_endpoint_addr(pair->a, &pair->to_a));
	ok(omx_disconnect(pair->a, pair->to_a));
}

/* ---- the peer is lost --------------------------------------------------------------- */

static void peer_closes(void **state)
{
	struct pair *pair = *state;
	omx_request_t large, queued, pulling, wild, late;
	omx_endpoint_addr_t old = pair->to_b;
	omx_status_t status;
	uint32_t endpoint;
	uint64_t nic;

	ok(omx_irecv(pair->a, buffer, 10, 0, ALL, NULL, &wild));
	send_tag(pair->b, pair->to_a, 1, 100);
	send_tag(pair->b, pair->to_a, 2, 10000);
	ok(omx_isend(pair->b, buffer, sizeof(buffer), pair->to_a, 3, NULL, &late));
	assert_true(probed(pair->a, 3));
	ok(omx_isend(pair->b, buffer, sizeof(buffer), pair->to_a, 4, NULL, &late));
	mock_hold(true);
	ok(omx_irecv(pair->a, buffer, sizeof(buffer), 4, ALL, NULL, &pulling));
	ok(omx_isend(pair->a, buffer, sizeof(buffer), pair->to_b, 1, NULL, &large));
	mock_set_room(0);
	ok(omx_isend(pair->a, buffer, 10, pair->to_b, 1, NULL, &queued));
	mock_set_room(-1);

	ok(omx_close_endpoint(pair->b));
	status = finish(pair->a, &large);
	assert_int_equal(status.code, OMX_REMOTE_ENDPOINT_CLOSED);
	assert_memory_equal(&status.addr, &pair->to_b, sizeof(status.addr));
	assert_int_equal(finish(pair->a, &queued).code, OMX_REMOTE_ENDPOINT_CLOSED);
	assert_int_equal(finish(pair->a, &pulling).code, OMX_REMOTE_ENDPOINT_CLOSED);
	assert_int_equal(mock_regions(), 0);
	mock_hold(false);
	mock_answer();

	/* What had come is still there, what had only been announced is not. */
	receive_tag(pair->a, 1, 100);
	receive_tag(pair->a, 2, 10000);
	assert_false(probed(pair->a, 3));
	assert_false(done(pair->a, &wild, &status));

	/* The address explains itself, and sends to it end at once. */
	ok(omx_decompose_endpoint_addr(old, &nic, &endpoint));
	assert_int_equal(endpoint, 1);
	ok(omx_isend(pair->a, buffer, 10, old, 1, NULL, &queued));
	assert_int_equal(finish(pair->a, &queued).code, OMX_REMOTE_ENDPOINT_CLOSED);
	ok(omx_issend(pair->a, buffer, 10, old, 1, NULL, &queued));
	assert_int_equal(finish(pair->a, &queued).code, OMX_REMOTE_ENDPOINT_CLOSED);

	/* Its successor is another one. */
	ok(omx_open_endpoint(0, 1, KEY, NULL, 0, &pair->b));
	pair->to_b = connect_to(pair->a, pair->b);
	assert_memory_not_equal(&old, &pair->to_b, sizeof(old));
	send_tag(pair->a, pair->to_b, 0, 10);
	receive_tag(pair->b, 0, 10);
	ok(omx_disconnect(pair->a, old));
	assert_int_equal(omx_disconnect(pair->a, old), OMX_REMOTE_ENDPOINT_BAD_SESSION);
}

/* A send meets the dead channel before its event is read. */
static void send_to_a_channel_just_dead(void **state)
{
	struct pair *pair = *state;
	omx_request_t eager, large, pull;

	ok(omx_isend_mode(pair->b, buffer, sizeof(buffer), pair->to_a, 4, OMX_MEMORY_PIN,
			  NULL, NULL));
	assert_true(probed(pair->a, 4));
	mock_kill_channels(pair->fd_a, OMX_STATUS_UNREACHABLE);
	ok(omx_isend(pair->a, buffer, 10, pair->to_b, 1, NULL, &eager));
	ok(omx_irecv(pair->a, buffer, sizeof(buffer), 4, ALL, NULL, &pull));
	ok(omx_isend(pair->a, buffer, sizeof(buffer), pair->to_b, 1, NULL, &large));
	assert_int_equal(finish(pair->a, &eager).code, OMX_REMOTE_ENDPOINT_UNREACHABLE);
	assert_int_equal(finish(pair->a, &large).code, OMX_REMOTE_ENDPOINT_UNREACHABLE);
	assert_int_equal(finish(pair->a, &pull).code, OMX_REMOTE_ENDPOINT_UNREACHABLE);
	assert_int_equal(mock_regions(), 1);	/* of the sender, who knows nothing yet */
	ok(omx_isend(pair->a, buffer, 10, pair->to_b, 1, NULL, &eager));
	assert_int_equal(finish(pair->a, &eager).code, OMX_REMOTE_ENDPOINT_UNREACHABLE);
}

/* Channels come and go: the dead are forgotten some day, the living never. */
static void many_peers_come_and_go(void **state)
{
	struct pair *pair = *state;

	for (int i = 0; i < 700; i++) {
		omx_endpoint_t ep;
		omx_endpoint_addr_t addr, back;
		omx_status_t status;

		ok(omx_open_endpoint(0, 9, KEY, NULL, 0, &ep));
		addr = connect_to(ep, pair->a);
		send_tag(ep, addr, 7, 10);
		status = receive_tag(pair->a, 7, 10);
		send_tag(pair->a, status.addr, 8, 10);
		receive_tag(ep, 8, 10);
		back = connect_to(pair->a, ep);
		assert_memory_equal(&back, &status.addr, sizeof(back));
		/* One that is left behind unread. */
		if (i % 2)
			send_tag(ep, addr, 1000, 5);
		ok(omx_close_endpoint(ep));
		ok(omx_progress(pair->a));
	}
	for (int i = 0; i < 350; i++)
		receive_tag(pair->a, 1000, 5);
	send_tag(pair->a, pair->to_b, 8, 10);
	receive_tag(pair->b, 8, 10);
}

static void self_connection_fails(void **state)
{
	struct pair *pair = *state;
	omx_endpoint_addr_t self;
	omx_request_t request;

	ok(omx_get_endpoint_addr(pair->a, &self));
	mock_fail(OMX_IOC_CONNECT, -ENOMEM, 0, 1);
	assert_int_equal(omx_isend(pair->a, buffer, 10, self, 1, NULL, &request),
			 OMX_NO_SYSTEM_RESOURCES);
	ok(omx_isend(pair->a, buffer, 10, self, 1, NULL, &request));
	assert_int_equal(finish(pair->a, &request).code, OMX_SUCCESS);
	mock_kill_channels(pair->fd_a, OMX_STATUS_ABORTED);
	receive_tag(pair->a, 1, 0);
	ok(omx_isend(pair->a, buffer, 10, self, 2, NULL, &request));
	assert_int_equal(finish(pair->a, &request).code, OMX_SUCCESS);
	receive_tag(pair->a, 2, 0);
}

/* ---- the board is lost -------------------------------------------------------------- */

static void board_removed(void **state)
{
	struct pair *pair = *state;
	omx_request_t receive, send, connect, request;
	uint32_t result;

	ok(omx_irecv(pair->a, buffer, 10, 1, ALL, NULL, &receive));
	ok(omx_issend(pair->a, buffer, 10, pair->to_b, 1, NULL, &send));
	ok(omx_iconnect(pair->a, MOCK_SILENT_MAC, 1, KEY, 0, NULL, &connect));
	send_tag(pair->b, pair->to_a, 9, 10);
	assert_true(probed(pair->a, 9));
	mock_remove_board(0);
	assert_int_equal(finish(pair->a, &receive).code, OMX_BOARD_NOT_FOUND);
	assert_int_equal(finish(pair->a, &send).code, OMX_BOARD_NOT_FOUND);
	assert_int_equal(finish(pair->a, &connect).code, OMX_BOARD_NOT_FOUND);
	assert_int_equal(mock_regions(), 0);
	assert_int_equal(omx_isend(pair->a, buffer, 10, pair->to_b, 1, NULL, &request),
			 OMX_BOARD_NOT_FOUND);
	assert_int_equal(omx_irecv(pair->a, buffer, 10, 1, ALL, NULL, &request),
			 OMX_BOARD_NOT_FOUND);
	assert_int_equal(omx_iconnect(pair->a, MOCK_SILENT_MAC, 1, KEY, 0, NULL, &connect),
			 OMX_BOARD_NOT_FOUND);
	assert_int_equal(omx_connect(pair->a, MOCK_MAC(0), 1, KEY, 1000, &pair->to_b),
			 OMX_BOARD_NOT_FOUND);
	assert_int_equal(omx_probe(pair->a, 1, ALL, NULL, &result, OMX_TIMEOUT_INFINITE),
			 OMX_BOARD_NOT_FOUND);
	assert_int_equal(omx_peek(pair->a, &request, &result, OMX_TIMEOUT_INFINITE),
			 OMX_BOARD_NOT_FOUND);
	ok(omx_test_any(pair->a, 0, 0, NULL, &result));
}

static void waiting_fails(void **state)
{
	struct pair *pair = *state;
	omx_request_t request;

	ok(omx_irecv(pair->a, buffer, 10, 1, ALL, NULL, &request));
	mock_fail(OMX_IOC_WAIT, -ENODEV, 0, 1);
	assert_int_equal(finish(pair->a, &request).code, OMX_BOARD_NOT_FOUND);
}

static void waiting_is_interrupted(void **state)
{
	struct pair *pair = *state;
	omx_request_t request;
	uint32_t result;

	ok(omx_irecv(pair->a, buffer, 10, 1, ALL, NULL, &request));
	mock_fail(OMX_IOC_WAIT, -EINTR, 0, 5);
	ok(omx_wait(pair->a, &request, NULL, &result, 300));
	assert_int_equal(result, 0);
	assert_true(mock_calls(OMX_IOC_WAIT) >= 6);
}

/* ---- calls to the driver fail -------------------------------------------------------- */

static void sends_fail(void **state)
{
	static const struct { int err; omx_return_t ret; } cases[] = {
		{ -EFAULT, OMX_MESSAGE_ABORTED }, { -ENOMEM, OMX_NO_SYSTEM_RESOURCES },
		{ -EINVAL, OMX_BAD_ERROR }, { -ENODEV, OMX_BOARD_NOT_FOUND },
	};
	struct pair *pair = *state;
	omx_request_t request;

	for (size_t i = 0; i < COUNT(cases); i++) {
		/* A small message waits for memory: test_shortage. */
		if (cases[i].err != -ENOMEM) {
			mock_fail(OMX_IOC_SEND, cases[i].err, 0, 1);
			assert_int_equal(omx_isend(pair->a, buffer, 10, pair->to_b, 1, NULL, &request),
					 cases[i].ret);
		}
		mock_fail(OMX_IOC_SEND_RNDV, cases[i].err, 0, 1);
		assert_int_equal(omx_issend(pair->a, buffer, 10, pair->to_b, 1, NULL, &request),
				 cases[i].ret);
		mock_fail(OMX_IOC_REGION_CREATE, cases[i].err, 0, 1);
		assert_int_equal(omx_issend_mode(pair->a, buffer, 10, pair->to_b, 1,
						 OMX_MEMORY_PIN, NULL, &request), cases[i].ret);
	}
	assert_int_equal(mock_regions(), 0);
}

static void queued_sends_fail(void **state)
{
	struct pair *pair = *state;
	omx_request_t first, second, third;

	mock_set_room(0);
	ok(omx_isend(pair->a, buffer, 10, pair->to_b, 1, NULL, &first));
	ok(omx_isend(pair->a, buffer, 50000, pair->to_b, 2, NULL, &second));
	ok(omx_isend(pair->a, buffer, 10, pair->to_b, 3, NULL, &third));
	mock_fail(OMX_IOC_SEND, -EFAULT, 0, 1);
	/* Not what announces the failure of the first one. */
	mock_fail(OMX_IOC_SEND_RNDV, -EFAULT, 1, 1);
	mock_grant_room(-1);
	assert_int_equal(finish(pair->a, &first).code, OMX_MESSAGE_ABORTED);
	assert_int_equal(finish(pair->a, &second).code, OMX_MESSAGE_ABORTED);
	assert_int_equal(finish(pair->a, &third).code, OMX_SUCCESS);
	assert_int_equal(mock_regions(), 0);
	/* Their receives fail, too. */
	for (uint64_t tag = 1; tag <= 3; tag++) {
		ok(omx_irecv(pair->b, buffer, sizeof(buffer), tag, ALL, NULL, &first));
		assert_int_equal(finish(pair->b, &first).code,
				 tag < 3 ? OMX_MESSAGE_ABORTED : OMX_SUCCESS);
	}
}

/* Out of regions while we hold some: wait for them. */
static void shortage_is_waited_for(void **state)
{
	struct pair *pair = *state;
	static char one[60000], two[60000];
	omx_request_t first, second, receive[2];

	ok(omx_set_memory_mode(pair->a, OMX_MEMORY_PIN));
	ok(omx_isend(pair->a, one, sizeof(one), pair->to_b, 1, NULL, &first));
	assert_int_equal(mock_regions(), 1);
	mock_fail(OMX_IOC_REGION_CREATE, -ENOSPC, 0, 2);
	ok(omx_isend(pair->a, two, sizeof(two), pair->to_b, 2, NULL, &second));
	ok(omx_progress(pair->a));
	ok(omx_progress(pair->a));
	ok(omx_irecv(pair->b, one, sizeof(one), 1, ALL, NULL, &receive[0]));
	mock_fail(OMX_IOC_PULL, -EAGAIN, 0, 3);
	ok(omx_irecv(pair->b, two, sizeof(two), 2, ALL, NULL, &receive[1]));
	assert_int_equal(finish(pair->b, &receive[1]).code, OMX_SUCCESS);
	assert_int_equal(finish(pair->b, &receive[0]).code, OMX_SUCCESS);
	assert_int_equal(finish(pair->a, &first).code, OMX_SUCCESS);
	assert_int_equal(finish(pair->a, &second).code, OMX_SUCCESS);
	assert_int_equal(mock_regions(), 2);	/* kept, idle */
}

/* As many as the driver takes are unfinished: no event says when there is room. */
static void too_many_requests_are_waited_for(void **state)
{
	struct pair *pair = *state;
	omx_request_t first, second, receive;

	mock_fail(OMX_IOC_SEND_RNDV, -EBUSY, 0, 3);
	ok(omx_issend(pair->a, NULL, 0, pair->to_b, 1, NULL, &first));
	ok(omx_isend(pair->a, NULL, 0, pair->to_b, 2, NULL, &second));
	ok(omx_irecv(pair->b, NULL, 0, 1, ALL, NULL, &receive));
	assert_int_equal(finish(pair->a, &second).code, OMX_SUCCESS);
	assert_int_equal(finish(pair->b, &receive).code, OMX_SUCCESS);
	assert_int_equal(finish(pair->a, &first).code, OMX_SUCCESS);

	mock_fail(OMX_IOC_PULL, -EBUSY, 0, 3);
	ok(omx_issend(pair->a, buffer, 10, pair->to_b, 1, NULL, &first));
	ok(omx_irecv(pair->b, buffer, 10, 1, ALL, NULL, &receive));
	assert_int_equal(finish(pair->b, &receive).code, OMX_SUCCESS);
	assert_int_equal(finish(pair->a, &first).code, OMX_SUCCESS);
}

static void receives_fail(void **state)
{
	struct pair *pair = *state;
	omx_request_t send, receive;
	omx_status_t status;

	/* Neither side hangs when the receiver's memory is bad. */
	ok(omx_isend(pair->a, buffer, 50000, pair->to_b, 1, NULL, &send));
	mock_fail(OMX_IOC_REGION_CREATE, -EFAULT, 0, 1);
	ok(omx_irecv_mode(pair->b, buffer, 50000, 1, ALL, OMX_MEMORY_PIN, NULL, &receive));
	status = finish(pair->b, &receive);
	assert_int_equal(status.code, OMX_MESSAGE_ABORTED);
	assert_int_equal(status.xfer_length, 0);
	assert_int_equal(finish(pair->a, &send).code, OMX_MESSAGE_ABORTED);

	mock_fail(OMX_IOC_FETCH, -EFAULT, 0, 1);
	ok(omx_irecv(pair->b, buffer, 50000, 1, ALL, NULL, &receive));
	send_tag(pair->a, pair->to_b, 1, 10000);
	status = finish(pair->b, &receive);
	assert_int_equal(status.code, OMX_MESSAGE_ABORTED);
	assert_int_equal(status.xfer_length, 0);

	mock_fail(OMX_IOC_FETCH, -ENOMEM, 0, 2);
	ok(omx_irecv(pair->b, buffer, 9000, 1, ALL, NULL, &receive));
	send_tag(pair->a, pair->to_b, 1, 10000);
	status = finish(pair->b, &receive);
	assert_int_equal(status.code, OMX_MESSAGE_TRUNCATED);
	assert_int_equal(status.xfer_length, 9000);
	assert_true(filled(buffer, 9000, 1));
}

/* ---- error handlers ------------------------------------------------------------------- */

static omx_return_t seen;
static char seen_text[128];

static omx_return_t remember(char *str, omx_return_t ret)
{
	seen = ret;
	snprintf(seen_text, sizeof(seen_text), "%s", str);
	return OMX_NOT_IMPLEMENTED;
}

static void error_handlers(void **state)
{
	omx_endpoint_param_t param = { .key = OMX_ENDPOINT_PARAM_ERROR_HANDLER };
	struct pair *pair = *state;
	omx_request_t request;
	omx_endpoint_t ep;

	assert_ptr_equal(omx_set_error_handler(NULL, remember), OMX_ERRORS_RETURN);
	assert_int_equal(omx_init(), OMX_NOT_IMPLEMENTED);
	assert_int_equal(seen, OMX_ALREADY_INITIALIZED);
	assert_non_null(strstr(seen_text, "omx_init"));
	assert_int_equal(omx_irecv(pair->a, NULL, 0, 1, 0, NULL, &request), OMX_NOT_IMPLEMENTED);
	assert_int_equal(seen, OMX_BAD_MATCH_MASK);

	assert_ptr_equal(omx_set_error_handler(pair->a, OMX_ERRORS_RETURN), remember);
	assert_int_equal(omx_irecv(pair->a, NULL, 0, 1, 0, NULL, &request), OMX_BAD_MATCH_MASK);
	assert_ptr_equal(omx_set_error_handler(NULL, NULL), remember);

	param.val.error_handler = remember;
	ok(omx_open_endpoint(0, 9, 0, &param, 1, &ep));
	assert_int_equal(omx_irecv(ep, NULL, 0, 1, 0, NULL, &request), OMX_NOT_IMPLEMENTED);

	/* How a message fared is no error of the call. */
	seen = OMX_SUCCESS;
	ok(omx_set_error_handler(pair->b, remember) != NULL ? OMX_SUCCESS : OMX_BAD_ERROR);
	ok(omx_irecv(pair->b, NULL, 0, 1, ALL, NULL, &request));
	send_tag(pair->a, pair->to_b, 1, 10);
	assert_int_equal(finish(pair->b, &request).code, OMX_MESSAGE_TRUNCATED);
	assert_int_equal(seen, OMX_SUCCESS);
}

static void texts(void **state)
{
	(void)state;
	for (int code = -1; code <= OMX_RETURN_CODE_MAX + 1; code++)
		assert_non_null(omx_strerror((omx_return_t)code));
	assert_string_equal(omx_strerror(OMX_SUCCESS), "Success");
	assert_string_equal(omx_strerror((omx_return_t)2), "Unknown code");
	assert_non_null(omx_version());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		library_test(init_twice_and_again),
		library_test(abi_ranges),
		library_test(init_fails),
		library_test(before_init),
		library_test(opening_fails),
		library_test(any_endpoint_from_the_environment),
		library_test(closed_endpoint),
		pair_test(close_with_everything_pending),
		pair_test(bad_addresses),
		pair_test(disconnects),
		pair_test(peer_closes),
		quiet_test(send_to_a_channel_just_dead),
		pair_test(many_peers_come_and_go),
		pair_test(self_connection_fails),
		pair_test(board_removed),
		pair_test(waiting_fails),
		pair_test(waiting_is_interrupted),
		pair_test(sends_fail),
		pair_test(queued_sends_fail),
		pair_test(shortage_is_waited_for),
		pair_test(too_many_requests_are_waited_for),
		pair_test(receives_fail),
		pair_test(error_handlers),
		library_test(texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
