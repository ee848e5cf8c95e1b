// SPDX-License-Identifier: BSD-2-Clause
/*
 * The library's thread works in a program with much thread-local data.
 *
 * A thread's static thread-local data comes out of its stack.  This program
 * has more of it than a stack usually has room for.  While the receiver
 * computes, a message that it expects and one that it does not arrive: its
 * first call must find the receive done, and the unexpected handler must have
 * run on the library's thread with 128 KiB of stack to itself.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "endpoints.h"

#define LENGTH		(1ul << 20)
#define SECONDS		1.0
#define STACK_USE	(128 * 1024)

enum { EXPECTED = 1, UNEXPECTED = 2 };

static __thread char thread_local_data[12 << 20];
static pthread_t main_thread;
static bool handled_elsewhere;

static omx_unexp_handler_action_t use_stack(void *context, omx_endpoint_addr_t source,
					    uint64_t match_info, uint32_t length, void *data)
{
	volatile char stack[STACK_USE];

	(void)context, (void)source, (void)length, (void)data;
	if (match_info != UNEXPECTED)
		return OMX_UNEXP_HANDLER_RECV_CONTINUE;
	for (size_t i = 0; i < sizeof(stack); i += 1024)
		stack[i] = thread_local_data[i];
	__atomic_store_n(&handled_elsewhere, !pthread_equal(pthread_self(), main_thread),
			 __ATOMIC_RELAXED);
	return OMX_UNEXP_HANDLER_RECV_FINISHED;
}

static void run_client(void)
{
	omx_request_t expected, unexpected;
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	char *buffer = allocate(LENGTH);

	fill(buffer, LENGTH, 1, 0);
	barrier(ep, peer);
	sleep_ms(100);	/* the receiver computes */
	MUST(omx_isend(ep, buffer, LENGTH, peer, EXPECTED, NULL, &expected));
	MUST(omx_isend(ep, buffer, LENGTH, peer, UNEXPECTED, NULL, &unexpected));
	finish_with(ep, &expected, OMX_SUCCESS);
	finish(ep, &unexpected);	/* nobody wanted its data */
	part(ep, peer);
}

static void run_server(void)
{
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	char *buffer = allocate(LENGTH);
	omx_request_t request;
	omx_status_t status;

	main_thread = pthread_self();
	memset(buffer, 0, LENGTH);
	MUST(omx_register_unexp_handler(ep, use_stack, NULL));
	MUST(omx_irecv(ep, buffer, LENGTH, EXPECTED, EXACT, NULL, &request));
	barrier(ep, peer);
	compute_for(SECONDS);
	CHECK(is_done(ep, &request, &status), "not done at the first call");
	EQUAL(status.code, OMX_SUCCESS);
	EQUAL(status.xfer_length, LENGTH);
	verify(buffer, LENGTH, 1);
	CHECK(__atomic_load_n(&handled_elsewhere, __ATOMIC_RELAXED));
	part(ep, peer);
}

int main(int argc, char **argv)
{
	thread_local_data[0] = 1;
	return run_pair(argc, argv, run_server, run_client);
}
