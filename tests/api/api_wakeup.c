// SPDX-License-Identifier: BSD-2-Clause
/*
 * Threads that block in calls of an endpoint return after omx_wakeup and
 * after the endpoint is closed.
 */
#include "endpoints.h"

#include <pthread.h>

enum call { WAIT, WAIT_ANY, PEEK, PROBE, CALLS };

static struct {
	omx_endpoint_t ep;
	omx_request_t posted;
	int returned;
	omx_return_t expected;
} shared;

static void *block_in_call(void *argument)
{
	omx_request_t request;
	omx_status_t status;
	omx_return_t ret;
	uint32_t result = 0;

	switch ((enum call)(uintptr_t)argument) {
	case WAIT:
		ret = omx_wait(shared.ep, &shared.posted, &status, &result, OMX_TIMEOUT_INFINITE);
		break;
	case WAIT_ANY:
		ret = omx_wait_any(shared.ep, 0, 0, &status, &result, OMX_TIMEOUT_INFINITE);
		break;
	case PEEK:
		ret = omx_peek(shared.ep, &request, &result, OMX_TIMEOUT_INFINITE);
		break;
	default:
		ret = omx_probe(shared.ep, 0, 0, &status, &result, OMX_TIMEOUT_INFINITE);
	}
	RETURNS(ret, shared.expected);
	EQUAL(result, 0);
	__atomic_add_fetch(&shared.returned, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

static void start_all(pthread_t threads[CALLS], omx_return_t expected)
{
	uintptr_t call;

	shared.returned = 0;
	shared.expected = expected;
	MUST(omx_irecv(shared.ep, NULL, 0, 1, EXACT, NULL, &shared.posted));
	for (call = 0; call < CALLS; call++)
		CHECK(!pthread_create(&threads[call], NULL, block_in_call, (void *)call));
	sleep_ms(300);
	EQUAL(__atomic_load_n(&shared.returned, __ATOMIC_SEQ_CST), 0);
}

static void join_all(pthread_t threads[CALLS])
{
	int i;

	for (i = 0; i < CALLS; i++)
		CHECK(!pthread_join(threads[i], NULL));
	EQUAL(shared.returned, CALLS);
}

static void wakeup_ends_calls(void)
{
	pthread_t threads[CALLS];
	uint32_t result;

	shared.ep = open_any();
	start_all(threads, OMX_SUCCESS);
	MUST(omx_wakeup(shared.ep));
	join_all(threads);
	/* A wakeup has no effect on calls that begin later. */
	MUST(omx_wakeup(shared.ep));
	MUST(omx_wait(shared.ep, &shared.posted, NULL, &result, 100));
	EQUAL(result, 0);
	MUST(omx_close_endpoint(shared.ep));
}

static void closing_ends_calls(void)
{
	pthread_t threads[CALLS];

	shared.ep = open_any();
	start_all(threads, OMX_BAD_ENDPOINT);
	MUST(omx_close_endpoint(shared.ep));
	join_all(threads);
}

static void run_test(void)
{
	MUST(omx_init());
	wakeup_ends_calls();
	closing_ends_calls();
	MUST(omx_finalize());
}

int main(int argc, char **argv)
{
	return run_alone(argc, argv, run_test);
}
