// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program that reaches a limit of its user, for test cases that set the
 * limits.  It prints "full" when it has, and continues after SIGUSR1.  Mode idle
 * stays below the limits and prints "connected" instead.
 *
 *	--mode flood		--count pairs of endpoints: of each pair one
 *				sends and nobody receives; then all is received
 *	--mode endpoints	opens --count endpoints, no more open; then it
 *				closes one and opens one
 *	--mode regions		declares regions of many segments by --count
 *				endpoints until it may not have more, sends from
 *				memory that has to be declared, and releases all
 *	--mode announce		--count thousand sends that wait for their
 *				receives, which come afterwards
 *	--mode idle		connects one endpoint with another; then --count
 *				rounds of messages of all sizes
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints.h"
#include "omx.h"

#define PAIRS_MAX	16
#define MESSAGES	350	/* of each pair */
#define LENGTH		32768

static omx_endpoint_t from[PAIRS_MAX], to[PAIRS_MAX];
static omx_endpoint_addr_t peer[PAIRS_MAX];
static omx_request_t sends[PAIRS_MAX][MESSAGES];
static bool done[PAIRS_MAX][MESSAGES];

/* ---- memory ---- */

static void open_pair(unsigned int i)
{
	from[i] = open_any();
	to[i] = open_any();
	peer[i] = connect_to(from[i], nic_of(to[i]), number_of(to[i]));
}

static void send_all(unsigned int i)
{
	char *buffer = allocate(LENGTH);
	unsigned int j;

	fill(buffer, LENGTH, i, 0);
	for (j = 0; j < MESSAGES; j++)
		MUST(omx_isend(from[i], buffer, LENGTH, peer[i], j, NULL, &sends[i][j]));
}

static unsigned int count_done(void)
{
	unsigned int count = 0, i, j;

	for (i = 0; i < options.count; i++)
		for (j = 0; j < MESSAGES; j++) {
			done[i][j] = done[i][j] || is_done(from[i], &sends[i][j], NULL);
			count += done[i][j];
		}
	return count;
}

static char *buffers[PAIRS_MAX][MESSAGES];
static omx_request_t receives[PAIRS_MAX][MESSAGES];
static bool received[PAIRS_MAX][MESSAGES];

static void post_receives(void)
{
	unsigned int i, j;

	for (i = 0; i < options.count; i++)
		for (j = 0; j < MESSAGES; j++) {
			buffers[i][j] = allocate(LENGTH);
			MUST(omx_irecv(to[i], buffers[i][j], LENGTH, j, EXACT, NULL,
				       &receives[i][j]));
		}
}

static unsigned int count_received(void)
{
	unsigned int count = 0, i, j;
	omx_status_t status;

	for (i = 0; i < options.count; i++)
		for (j = 0; j < MESSAGES; j++) {
			if (!received[i][j] && is_done(to[i], &receives[i][j], &status)) {
				received[i][j] = true;
				EQUAL(status.code, OMX_SUCCESS);
				EQUAL(status.msg_length, LENGTH);
				verify(buffers[i][j], LENGTH, i);
				free(buffers[i][j]);
			}
			count += received[i][j];
		}
	return count;
}

/*
 * Receives from the pairs in whichever order they make progress: what one
 * pair holds may be what another one waits for.
 */
static void receive_all(void)
{
	const unsigned int all = options.count * MESSAGES;

	post_receives();
	while (count_received() < all || count_done() < all)
		sleep_ms(1);
}

static void flood_with_messages(void)
{
	unsigned int before, now = 0, i;

	for (i = 0; i < options.count; i++)
		open_pair(i);
	for (i = 0; i < options.count; i++)
		send_all(i);
	do {
		before = now;
		sleep_ms(500);
		now = count_done();
	} while (now != before || !now);
	printf("%u of %llu messages were taken\n", now,
	       (unsigned long long)options.count * MESSAGES);
	CHECK(now < options.count * MESSAGES, "nothing is ever full");
	say_and_wait("full");
	receive_all();
	for (i = 0; i < options.count; i++) {
		MUST(omx_close_endpoint(from[i]));
		MUST(omx_close_endpoint(to[i]));
	}
	printf("all were received\n");
}

/* ---- endpoints ---- */

static void open_too_many(void)
{
	omx_endpoint_t eps[64], more;
	unsigned int i;

	CHECK(options.count <= 64);
	for (i = 0; i < options.count; i++)
		eps[i] = open_any();
	RETURNS(omx_open_endpoint(OMX_ANY_NIC, OMX_ANY_ENDPOINT, KEY, NULL, 0, &more),
		OMX_NO_SYSTEM_RESOURCES);
	say_and_wait("full");
	MUST(omx_close_endpoint(eps[0]));
	eps[0] = open_any();
	for (i = 0; i < options.count; i++)
		MUST(omx_close_endpoint(eps[i]));
	printf("one closed, one opened\n");
}

/* ---- regions ---- */

#define SEGMENTS	256
#define REGIONS_MAX	20000

static omx_region_t regions[REGIONS_MAX];

static unsigned int declare_all(omx_endpoint_t ep)
{
	static char memory[SEGMENTS];
	omx_seg_t segments[SEGMENTS];
	omx_return_t ret = OMX_SUCCESS;
	unsigned int n = 0, i;

	for (i = 0; i < SEGMENTS; i++)
		segments[i] = (omx_seg_t){ &memory[i], 1 };
	while (n < REGIONS_MAX) {
		ret = omx_region_declare(ep, segments, SEGMENTS, OMX_REGION_SEND,
					 OMX_MEMORY_UNPINNED, &regions[n]);
		if (ret)
			break;
		n++;
	}
	EQUAL(ret, OMX_NO_SYSTEM_RESOURCES);
	return n;
}

/* Lists of segments are declared for each message. */
static void pass_segments(void)
{
	const size_t length = 100000;
	char *there = allocate(length), *here = allocate(length);
	omx_seg_t segments[2] = { { there, 7 }, { there + 7, length - 7 } };
	omx_request_t send, receive;
	unsigned int i;

	for (i = 0; i < 20; i++) {
		fill(there, length, i, 0);
		MUST(omx_irecv(to[0], here, length, i, EXACT, NULL, &receive));
		MUST(omx_isendv(from[0], segments, 2, peer[0], i, NULL, &send));
		finish_with(to[0], &receive, OMX_SUCCESS);
		finish_with(from[0], &send, OMX_SUCCESS);
		verify(here, length, i);
	}
	free(there);
	free(here);
}

static void declare_too_many(void)
{
	omx_endpoint_t eps[PAIRS_MAX];
	unsigned int declared[PAIRS_MAX], all = 0, i;

	CHECK(options.count <= PAIRS_MAX);
	open_pair(0);
	for (i = 0; i < options.count; i++)
		eps[i] = open_any();
	for (i = 0; i < options.count; i++) {
		declared[i] = declare_all(eps[i]);
		all += declared[i];
		CHECK(declared[i], "endpoint %u may have none", i);
	}
	printf("%u regions\n", all);
	pass_segments();
	say_and_wait("full");
	for (i = 0; i < options.count; i++)
		MUST(omx_close_endpoint(eps[i]));
	eps[0] = open_any();
	CHECK(declare_all(eps[0]) > all / 2, "what was charged is not given back");
	MUST(omx_close_endpoint(eps[0]));
	MUST(omx_close_endpoint(from[0]));
	MUST(omx_close_endpoint(to[0]));
	printf("all were released\n");
}

/* ---- messages that are announced ---- */

static void announce_messages(void)
{
	const unsigned int count = options.count * 1000;
	omx_request_t *requests = allocate(count * sizeof(*requests)), receive;
	unsigned int i, in;

	open_pair(0);
	for (i = 0; i < count; i++)
		MUST(omx_issend(from[0], &i, 0, peer[0], i, NULL, &requests[i]));
	/* Every message that the driver accepts is reported to the receiver. */
	for (i = 0; i < 100; i++) {
		MUST(omx_progress(to[0]));
		MUST(omx_progress(from[0]));
		sleep_ms(20);
	}
	say_and_wait("full");
	for (i = 0; i < count; i++) {
		MUST(omx_irecv(to[0], &in, 0, i, EXACT, NULL, &receive));
		while (!is_done(to[0], &receive, NULL))
			MUST(omx_progress(from[0]));
	}
	for (i = 0; i < count; i++)
		finish_with(from[0], &requests[i], OMX_SUCCESS);
	MUST(omx_close_endpoint(from[0]));
	MUST(omx_close_endpoint(to[0]));
	free(requests);
	printf("all were received\n");
}

/* ---- a channel that others leave no memory for ---- */

/* Eager messages, in the ring and out of it; the last one is pulled. */
static const size_t lengths[] = { 1, 100, 4096, LENGTH, 1 << 20 };

static void pass_one(size_t length, uint64_t match)
{
	char *there = allocate(length), *here = allocate(length);
	omx_request_t send, receive;

	fill(there, length, match, 0);
	MUST(omx_irecv(to[0], here, length, match, EXACT, NULL, &receive));
	MUST(omx_isend(from[0], there, length, peer[0], match, NULL, &send));
	finish_with(to[0], &receive, OMX_SUCCESS);
	finish_with(from[0], &send, OMX_SUCCESS);
	verify(here, length, match);
	free(there);
	free(here);
}

static void stay_idle(void)
{
	const uint64_t count = sizeof(lengths) / sizeof(lengths[0]);
	uint64_t i;

	open_pair(0);
	pass_one(1, 0);		/* there is a channel in both directions now */
	say_and_wait("connected");
	for (i = 1; i <= options.count * count; i++)
		pass_one(lengths[i % count], i);
	MUST(omx_close_endpoint(from[0]));
	MUST(omx_close_endpoint(to[0]));
	printf("all were received\n");
}

static void run_user(void)
{
	sigset_t signals;

	/*
	 * sigwait() needs it blocked in all threads, hence before the library
	 * starts any.
	 */
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	CHECK(!sigprocmask(SIG_BLOCK, &signals, NULL));
	/*
	 * Without this, longer messages would stay at the sender until they
	 * match a receive.
	 */
	setenv("OMX_RNDV_THRESHOLD", "65536", 1);
	setenv("OMX_SHARED_RNDV_THRESHOLD", "65536", 1);
	MUST(omx_init());
	if (!strcmp(options.mode, "flood"))
		flood_with_messages();
	else if (!strcmp(options.mode, "regions"))
		declare_too_many();
	else if (!strcmp(options.mode, "announce"))
		announce_messages();
	else if (!strcmp(options.mode, "idle"))
		stay_idle();
	else
		open_too_many();
}

int main(int argc, char **argv)
{
	return run_alone(argc, argv, run_user);
}
