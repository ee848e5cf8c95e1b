// SPDX-License-Identifier: BSD-2-Clause
/*
 * One side is killed in the middle of accesses.  The initiator's requests end within
 * seconds; the target's memory is its own again when the window is destroyed.
 *
 *	--mode M	who dies: target (the server) or initiator
 *	--window N	accesses under way, if not many
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "traffic.h"

#define AFTER		3			/* contents */
#define MIDDLE_MS	(200 + 100 * slowness())
#define QUICKLY		(5 * slowness())	/* s */

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;

static bool target_dies(void)
{
	return !strcmp(options.mode, "target");
}

static void die_at_once(void)
{
	fflush(stdout);
	kill(getpid(), SIGKILL);
}

static void run_server(void)
{
	uint8_t *memory = map_anonymous(NULL, TRAFFIC_SIZE);
	omx_request_t request;
	omx_window_t window;

	ep = meet(&peer);
	fill(memory, TRAFFIC_SIZE, TRAFFIC_INITIAL, 0);
	window = export_memory(ep, memory, TRAFFIC_SIZE);
	send_key(ep, peer, window);
	sleep_ms(MIDDLE_MS);
	CHECK(differs_at(memory, TRAFFIC_SIZE, TRAFFIC_INITIAL, 0) != TRAFFIC_SIZE);
	if (target_dies())
		die_at_once();
	sleep_ms(2 * MIDDLE_MS);	/* the initiator dies */
	MUST(omx_window_destroy(ep, window));
	fill(memory, TRAFFIC_SIZE, AFTER, 0);
	MUST(omx_issend(ep, NULL, 0, peer, 1, NULL, &request));
	check_gone(finish(ep, &request).code);
	CHECK(differs_at(memory, TRAFFIC_SIZE, AFTER, 0) == TRAFFIC_SIZE);
	MUST(omx_close_endpoint(ep));
}

/* Kills this process after a while, wherever it is. */
static void kill_later(void)
{
	pid_t victim = getpid(), child = fork();

	CHECK(child >= 0);
	if (child)
		return;
	sleep_ms(2 * MIDDLE_MS);
	kill(victim, SIGKILL);
	_exit(0);
}

static void run_client(void)
{
	struct remote remote;
	omx_return_t code;
	double start;

	ep = meet(&peer);
	remote = receive_key(ep, peer);
	start = now();
	if (!target_dies())
		kill_later();
	code = traffic_run(&remote, QUICKLY);
	CHECK(code != OMX_SUCCESS && code != OMX_REMOTE_RDMA_WINDOW_BAD_ID, "%s",
	      omx_strerror(code));
	printf("one_killed: %llu accesses succeeded, all have ended after %.3f s: %s\n",
	       (unsigned long long)traffic_successes, now() - start, omx_strerror(code));
	CHECK(now() - start < QUICKLY);
	MUST(omx_close_endpoint(ep));
}

int main(int argc, char **argv)
{
	options.mode = "target";
	return run_pair(argc, argv, run_server, run_client);
}
