// SPDX-License-Identifier: BSD-2-Clause
/*
 * One side is killed in the middle of a large transfer; the request of the other
 * side must complete.  The client sends to the server; --mode tells which of
 * them is killed: receiver or sender.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "endpoints.h"

#define LENGTH	(256ul << 20)
#define MIDDLE	(LENGTH / 4)
#define MARK	0x55
#define DIE	1
#define DATA	2

static bool receiver_dies(void)
{
	return !strcmp(options.mode, "receiver");
}

static void die_at_once(void)
{
	printf("dies at %.3f\n", now());
	fflush(stdout);
	kill(getpid(), SIGKILL);
}

static void survive_peer(omx_endpoint_t ep, omx_request_t *request)
{
	omx_status_t status;
	uint32_t result;

	MUST(omx_wait(ep, request, &status, &result, 30000));
	CHECK(result == 1, "the request does not end");
	printf("ended at %.3f: %s\n", now(), omx_strerror(status.code));
	CHECK(status.code == OMX_REMOTE_ENDPOINT_CLOSED ||
	      status.code == OMX_REMOTE_ENDPOINT_BAD_SESSION ||
	      status.code == OMX_REMOTE_ENDPOINT_UNREACHABLE ||
	      status.code == OMX_MESSAGE_ABORTED, "%s", omx_strerror(status.code));
	MUST(omx_close_endpoint(ep));
}

static void run_client(void)
{
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	char *buffer = allocate(LENGTH);
	omx_request_t request;

	fill(buffer, LENGTH, DATA, 0);
	barrier(ep, peer);
	MUST(omx_isend(ep, buffer, LENGTH, peer, DATA, NULL, &request));
	if (!receiver_dies()) {
		receive(ep, NULL, 0, DIE);
		die_at_once();
	}
	survive_peer(ep, &request);
}

/*
 * Waits until bytes in the middle of the buffer have arrived, but not the
 * last ones.
 */
static void await_middle(const volatile char *buffer)
{
	size_t i;
	bool begun = false;

	while (!begun)
		for (i = 0; i < 64; i++)
			begun |= buffer[MIDDLE + i] != MARK;
	for (i = LENGTH - 64; i < LENGTH; i++)
		CHECK(buffer[i] == MARK, "the transfer is over already");
}

static void run_server(void)
{
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	char *buffer = allocate(LENGTH);
	omx_request_t request;

	memset(buffer, MARK, LENGTH);
	MUST(omx_irecv(ep, buffer, LENGTH, DATA, EXACT, NULL, &request));
	barrier(ep, peer);
	await_middle(buffer);
	if (receiver_dies())
		die_at_once();
	MUST(omx_isend(ep, NULL, 0, peer, DIE, NULL, NULL));
	survive_peer(ep, &request);
}

int main(int argc, char **argv)
{
	options.mode = "receiver";
	return run_pair(argc, argv, run_server, run_client);
}
