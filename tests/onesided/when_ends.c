// SPDX-License-Identifier: BSD-2-Clause
/*
 * Conditional accesses that do not fire, or in vain: cancelled, without a key in time,
 * with a key that does not fit, beyond the limits on accesses and on keys, and when
 * one side is killed.  The server owns the window and posts keys.
 *
 *	--act A		who dies: target (the server) or initiator; without it nobody
 *	--mode M	pin, overlap, unpinned, permanent, auto
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "accesses.h"

#define SIZE		(1ul << 20)
#define INITIAL		1		/* contents of the window */
#define LATE_MS		300		/* timeout of an access */
#define LIMIT		256		/* on accesses, and on keys */
#define QUICKLY		(5 * slowness())	/* s */
#define FOREVER		OMX_TIMEOUT_INFINITE

static const size_t lengths[] = { 8, 60000, 200000 };

#define LENGTHS		(sizeof(lengths) / sizeof(lengths[0]))

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;
static uint8_t *memory;
static omx_window_t window;
static uint64_t tag = 1000;

static void post_key_with(omx_window_t of_window, uint64_t of_tag, uint64_t offset,
			  uint64_t length, omx_return_t code)
{
	omx_request_t request;

	MUST(omx_post_key(ep, peer, of_tag, of_window, offset, length, NULL, &request));
	finish_with(ep, &request, code);
}

static void post_key(uint64_t of_tag, uint64_t offset, uint64_t length)
{
	post_key_with(window, of_tag, offset, length, OMX_SUCCESS);
}

static omx_request_t put_when(uint64_t of_tag, size_t length, uint32_t timeout)
{
	omx_request_t request;

	MUST(omx_iput_when(ep, memory, length, peer, of_tag, timeout, NULL, &request));
	return request;
}

static omx_request_t get_when(uint64_t of_tag, size_t length, uint32_t timeout)
{
	omx_request_t request;

	MUST(omx_iget_when(ep, memory, length, peer, of_tag, timeout, NULL, &request));
	return request;
}

/* No access has written to the window. */
static void verify_initial(void)
{
	CHECK(differs_at(memory, SIZE, INITIAL, 0) == SIZE, "the window has changed at %zu",
	      differs_at(memory, SIZE, INITIAL, 0));
}

/* ---- cancelled ------------------------------------------------------------------------ */

static void cancel_one(omx_request_t request, bool test)
{
	uint32_t result = 0;

	if (test) {
		MUST(omx_cancel_notest(ep, &request, &result));
		finish_with(ep, &request, OMX_CANCELLED);
	} else {
		MUST(omx_cancel(ep, &request, &result));
		CHECK(!request);
	}
	EQUAL(result, 1);
}

/* The keys for what was cancelled are there for what is posted next. */
static void cancelled_client(void)
{
	omx_request_t request;
	uint32_t result;
	unsigned int i;

	for (i = 0; i < LENGTHS; i++) {
		cancel_one(put_when(tag + i, lengths[i], FOREVER), i % 2);
		cancel_one(get_when(tag + i, lengths[i], FOREVER), !(i % 2));
	}
	barrier(ep, peer);
	barrier(ep, peer);		/* the keys are posted */
	for (i = 0; i < LENGTHS; i++) {
		request = get_when(tag + i, lengths[i], FOREVER);
		AWAIT((MUST(omx_ipeek(ep, &request, &result)), result), QUICKLY, 1);
		result = 1;
		MUST(omx_cancel(ep, &request, &result));
		EQUAL(result, 0);
		finish_with(ep, &request, OMX_SUCCESS);
		CHECK(differs_at(memory, lengths[i], INITIAL, 0) == lengths[i]);
	}
	barrier(ep, peer);
}

static void cancelled_server(void)
{
	unsigned int i;

	barrier(ep, peer);
	for (i = 0; i < LENGTHS; i++)
		post_key(tag + i, 0, lengths[i]);
	verify_initial();
	barrier(ep, peer);
	barrier(ep, peer);
	verify_initial();
}

static void cancelled(void)
{
	if (options.server)
		cancelled_server();
	else
		cancelled_client();
	tag += LENGTHS;
}

/* ---- too late ------------------------------------------------------------------------- */

/* The library makes no progress while the driver's time runs out and the keys come. */
static void late_client(void)
{
	uint64_t before = count_of(ep, "no key in time");
	omx_request_t requests[2 * LENGTHS], last;
	unsigned int i;

	for (i = 0; i < LENGTHS; i++) {
		requests[i] = put_when(tag + i, lengths[i], LATE_MS);
		requests[LENGTHS + i] = get_when(tag + i, lengths[i], LATE_MS);
	}
	/* A limit that the program sets itself holds as well. */
	last = put_when(tag + LENGTHS, lengths[0], FOREVER);
	MUST(omx_set_request_timeout(ep, last, LATE_MS));
	for (i = 0; i < 2 * LENGTHS; i++)
		finish_with(ep, &requests[i], OMX_TIMEOUT);
	finish_with(ep, &last, OMX_TIMEOUT);
	EQUAL(count_of(ep, "no key in time") - before, 2 * LENGTHS);
	barrier(ep, peer);
	barrier(ep, peer);		/* the keys are posted */
	for (i = 0; i <= LENGTHS; i++) {
		last = get_when(tag + i, lengths[0], LATE_MS);
		finish_with(ep, &last, OMX_SUCCESS);
		CHECK(differs_at(memory, lengths[0], INITIAL, 0) == lengths[0]);
	}
	barrier(ep, peer);
}

static void late_server(void)
{
	unsigned int i;

	barrier(ep, peer);
	for (i = 0; i <= LENGTHS; i++)
		post_key(tag + i, 0, SIZE);
	barrier(ep, peer);
	barrier(ep, peer);
	verify_initial();
}

static void late(void)
{
	if (options.server)
		late_server();
	else
		late_client();
	tag += LENGTHS + 1;
}

/* ---- keys that do not fit -------------------------------------------------------------- */

static void unfit_server(void)
{
	omx_window_t other;
	unsigned int i;

	MUST(omx_window_create(ep, memory, SIZE, OMX_WINDOW_RIGHT_GET, NULL, &other));
	for (i = 0; i < LENGTHS; i++) {
		post_key(tag + i, 0, lengths[i] - 1);
		post_key(tag + i, SIZE - 1, lengths[i]);
		post_key_with(other, tag + i, 0, lengths[i], OMX_SUCCESS);
		post_key_with(other, tag + LENGTHS + i, 0, lengths[i], OMX_SUCCESS);
	}
	MUST(omx_window_destroy(ep, other));
	RETURNS(omx_post_key(ep, peer, tag, other, 0, 1, NULL, NULL), OMX_BAD_REQUEST);
	barrier(ep, peer);
	barrier(ep, peer);
	verify_initial();
}

static void unfit_client(void)
{
	static const omx_return_t codes[] = {
		OMX_MESSAGE_ABORTED, OMX_MESSAGE_ABORTED, OMX_REMOTE_RDMA_WINDOW_BAD_ID,
	};
	omx_request_t request;
	unsigned int i, j;

	barrier(ep, peer);
	for (i = 0; i < LENGTHS; i++) {
		for (j = 0; j < 3; j++) {
			request = put_when(tag + i, lengths[i], FOREVER);
			finish_with(ep, &request, codes[j]);
		}
		request = get_when(tag + LENGTHS + i, lengths[i], FOREVER);
		finish_with(ep, &request, OMX_REMOTE_RDMA_WINDOW_BAD_ID);
	}
	barrier(ep, peer);
}

static void unfit(void)
{
	if (options.server)
		unfit_server();
	else
		unfit_client();
	tag += 2 * LENGTHS;
}

/* ---- limits ---------------------------------------------------------------------------- */

/* Others are not refused, and none waits behind those that are. */
static void limit_client(void)
{
	static omx_request_t requests[LIMIT];
	omx_request_t more;
	uint32_t result;
	unsigned int i;

	for (i = 0; i < LIMIT; i++)
		requests[i] = put_when(tag + i, 8, FOREVER);
	RETURNS(omx_iput_when(ep, memory, 8, peer, tag, FOREVER, NULL, &more),
		OMX_NO_SYSTEM_RESOURCES);
	RETURNS(omx_iput_when(ep, memory, 200000, peer, tag, FOREVER, NULL, &more),
		OMX_NO_SYSTEM_RESOURCES);
	RETURNS(omx_iget_when(ep, memory, 8, peer, tag, FOREVER, NULL, &more),
		OMX_NO_SYSTEM_RESOURCES);
	MUST(omx_flush(ep, peer, &result, PATIENCE));
	EQUAL(result, 1);
	cancel_one(requests[0], false);
	requests[0] = put_when(tag, 8, FOREVER);
	barrier(ep, peer);
	for (i = 0; i < LIMIT; i++)
		finish_with(ep, &requests[i], OMX_SUCCESS);
	barrier(ep, peer);		/* too many keys are posted */
	for (i = 0; i < LIMIT; i++)
		requests[i] = put_when(tag + i, 8, FOREVER);
	for (i = 0; i < LIMIT; i++)
		finish_with(ep, &requests[i], OMX_SUCCESS);
	CHECK(count_of(ep, "key of a peer refused") >= 1);
	barrier(ep, peer);
	more = put_when(tag, 8, FOREVER);
	finish_with(ep, &more, OMX_SUCCESS);
	barrier(ep, peer);
}

static void limit_server(void)
{
	static omx_request_t requests[LIMIT];
	unsigned int i;

	barrier(ep, peer);
	for (i = 0; i < LIMIT; i++)
		MUST(omx_post_key(ep, peer, tag + i, window, 0, 8, NULL, &requests[i]));
	for (i = 0; i < LIMIT; i++)
		finish_with(ep, &requests[i], OMX_SUCCESS);
	for (i = 0; i < LIMIT; i++)
		post_key(tag + i, 0, 8);
	post_key_with(window, tag, 0, 8, OMX_NO_SYSTEM_RESOURCES);
	barrier(ep, peer);
	barrier(ep, peer);
	post_key(tag, 0, 8);
	barrier(ep, peer);
}

static void limits(void)
{
	if (options.server)
		limit_server();
	else
		limit_client();
	tag += LIMIT;
}

/* ---- one side is killed ---------------------------------------------------------------- */

static bool target_dies(void)
{
	return !strcmp(options.act, "target");
}

static void die_at_once(void)
{
	fflush(stdout);
	kill(getpid(), SIGKILL);
}

/* Accesses wait for a key, and keys for an access. */
static void killed_client(void)
{
	omx_request_t requests[2 * LENGTHS];
	double start;
	unsigned int i;

	for (i = 0; i < LENGTHS; i++) {
		requests[i] = put_when(tag + i, lengths[i], FOREVER);
		requests[LENGTHS + i] = get_when(tag + i, lengths[i], FOREVER);
	}
	barrier(ep, peer);
	barrier(ep, peer);
	if (!target_dies())
		die_at_once();
	start = now();
	for (i = 0; i < 2 * LENGTHS; i++)
		check_gone(finish(ep, &requests[i]).code);
	CHECK(now() - start < QUICKLY);
	RETURNS(omx_iput_when(ep, memory, 8, peer, tag, FOREVER, NULL, &requests[0]), OMX_SUCCESS);
	check_gone(finish(ep, &requests[0]).code);
	MUST(omx_close_endpoint(ep));
}

static void killed_server(void)
{
	omx_request_t request;
	unsigned int i;

	barrier(ep, peer);
	for (i = 0; i < LENGTHS; i++)
		post_key(tag + LENGTHS + i, 0, SIZE);
	barrier(ep, peer);
	if (target_dies())
		die_at_once();
	MUST(omx_issend(ep, NULL, 0, peer, 1, NULL, &request));
	check_gone(finish(ep, &request).code);
	MUST(omx_post_key(ep, peer, tag, window, 0, SIZE, NULL, &request));
	check_gone(finish(ep, &request).code);
	verify_initial();
	MUST(omx_close_endpoint(ep));
}

/* ---- all ------------------------------------------------------------------------------- */

static void run_side(void)
{
	ep = meet(&peer);
	memory = map_anonymous(NULL, SIZE);
	fill(memory, SIZE, options.server ? INITIAL : 2, 0);
	if (options.server)
		window = export_memory(ep, memory, SIZE);
	if (options.act) {
		if (options.server)
			killed_server();
		else
			killed_client();
		return;
	}
	cancelled();
	late();
	unfit();
	limits();
	if (options.server)
		MUST(omx_window_destroy(ep, window));
	part(ep, peer);
}

int main(int argc, char **argv)
{
	memory_mode(argc, argv);
	return run_pair(argc, argv, run_side, run_side);
}
