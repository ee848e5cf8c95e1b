// SPDX-License-Identifier: BSD-2-Clause
/*
 * Threads that wait poll before they sleep (OMX_POLL_US): messages are received all the
 * same, and a thread for which nothing comes sleeps, ends in time, and takes signals.
 */
#include "endpoints.h"

#include <sched.h>
#include <signal.h>
#include <time.h>

static double processor_time(void)
{
	struct timespec used;

	CHECK(!clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used));
	return used.tv_sec + used.tv_nsec * 1e-9;
}

/* A thread does not poll while the other side, which answers, wants its processor. */
static void use_processor(int number)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(number, &set);
	CHECK(!sched_setaffinity(0, sizeof(set), &set));
}

static void ping_pong(omx_endpoint_t ep, omx_endpoint_addr_t peer, bool first)
{
	uint64_t i;

	for (i = 0; i < options.count; i++) {
		if (first)
			send_pattern(ep, peer, i % 100, i);
		receive_pattern(ep, i % 100, i);
		if (!first)
			send_pattern(ep, peer, i % 100, i);
	}
}

/*
 * Waits in vain for 1 s.  A host that is busy takes the processor away from the guest, which
 * counts that as time of whatever runs; nothing but polling takes all of the time.
 */
static void sleeps(omx_endpoint_t ep)
{
	double begun = now(), before = processor_time(), took, used;
	omx_request_t request;
	uint32_t result;

	MUST(omx_irecv(ep, NULL, 0, CONTROL - 1, EXACT, NULL, &request));
	LASTS(1000, MUST(omx_wait(ep, &request, NULL, &result, 1000)));
	EQUAL(result, 0);
	took = now() - begun;
	used = processor_time() - before;
	CHECK(used < 0.7 * took, "%.3f s of %.3f s", used, took);
	MUST(omx_cancel(ep, &request, &result));
	EQUAL(result, 1);
}

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
	(void)number;
	signals++;
}

/* A signal ends neither the wait nor its limit, and many of them keep no thread awake. */
static void takes_signals(omx_endpoint_t ep)
{
	const struct sigaction action = { .sa_handler = count_signal };
	const struct itimerspec often = { { 0, 20000000 }, { 0, 20000000 } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	timer_t timer;

	CHECK(!sigaction(SIGUSR1, &action, NULL));
	CHECK(!timer_create(CLOCK_MONOTONIC, &event, &timer));
	CHECK(!timer_settime(timer, 0, &often, NULL));
	sleeps(ep);
	CHECK(!timer_delete(timer));
	CHECK(signals >= 5, "%d signals", (int)signals);
}

static void run_side(bool is_client)
{
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep;

	use_processor(is_client);
	ep = meet(&peer);
	ping_pong(ep, peer, is_client);
	barrier(ep, peer);
	sleeps(ep);
	takes_signals(ep);
	part(ep, peer);
}

static void run_client(void)
{
	run_side(true);
}

static void run_server(void)
{
	run_side(false);
}

int main(int argc, char **argv)
{
	options.count = 500;
	return run_pair(argc, argv, run_server, run_client);
}
