// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two threads on one endpoint at each side: one sends, one receives, both
 * block, neither takes the other's completion.
 */
#include "endpoints.h"

#include <pthread.h>
#include <stdlib.h>

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;

#define LENGTH_MAX	150000
#define DIRECTION(server) ((uint64_t)!!(server) << 32)

static size_t length_of(uint64_t i)
{
	static const size_t max[] = { 33, 4097, 65537, LENGTH_MAX };
	struct random random = { options.count + i };

	return random_below(&random, max[i % 4]);
}

static void *send_thread(void *unused)
{
	uint64_t i;

	(void)unused;
	for (i = 0; i < options.count; i++)
		send_pattern(ep, peer, length_of(i), DIRECTION(options.server) + i);
	return NULL;
}

static void *receive_thread(void *unused)
{
	uint64_t i;

	(void)unused;
	for (i = 0; i < options.count; i++)
		receive_pattern(ep, length_of(i), DIRECTION(!options.server) + i);
	return NULL;
}

/*
 * A third thread waits for any completion with another match info and must
 * never get one.
 */
static void *observe_thread(void *stop)
{
	omx_status_t status;
	uint32_t result;

	while (!__atomic_load_n((int *)stop, __ATOMIC_SEQ_CST)) {
		MUST(omx_wait_any(ep, 3ull << 40, EXACT, &status, &result, 10));
		EQUAL(result, 0);
	}
	return NULL;
}

static void run_side(void)
{
	pthread_t threads[3];
	int stop = 0;

	ep = meet(&peer);
	CHECK(!pthread_create(&threads[0], NULL, send_thread, NULL));
	CHECK(!pthread_create(&threads[1], NULL, receive_thread, NULL));
	CHECK(!pthread_create(&threads[2], NULL, observe_thread, &stop));
	CHECK(!pthread_join(threads[0], NULL));
	CHECK(!pthread_join(threads[1], NULL));
	__atomic_store_n(&stop, 1, __ATOMIC_SEQ_CST);
	CHECK(!pthread_join(threads[2], NULL));
	part(ep, peer);
}

int main(int argc, char **argv)
{
	options.count = 400;
	return run_pair(argc, argv, run_side, run_side);
}
