// SPDX-License-Identifier: BSD-2-Clause
/*
 * The client's link is down for 0.7 s while it sends 60 messages of one
 * frame: all of them must have arrived, intact and in order, 0.1 s after the
 * link is up again.
 */
#include <stdio.h>

#include "endpoints.h"

#define MESSAGES	60
#define LENGTH		1000
#define OUTAGE_MS	700
#define LIMIT		0.1		/* seconds */
#define ANSWER		(CONTROL + 100)

static void run_client(void)
{
	static char buffers[MESSAGES][LENGTH];
	omx_request_t requests[MESSAGES], answer;
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	double begin, took;
	unsigned int i;

	MUST(omx_irecv(ep, NULL, 0, ANSWER, EXACT, NULL, &answer));
	barrier(ep, peer);
	run_command("tc qdisc add dev eth0 root netem loss 100%");
	for (i = 0; i < MESSAGES; i++) {
		fill(buffers[i], LENGTH, i, 0);
		MUST(omx_isend(ep, buffers[i], LENGTH, peer, 1, NULL, &requests[i]));
	}
	sleep_ms(OUTAGE_MS);
	run_command("tc qdisc del dev eth0 root");
	begin = now();
	finish_with(ep, &answer, OMX_SUCCESS);
	took = now() - begin;	/* a busy host may keep the guest waiting for what is printed */
	printf("%u messages arrived %.3f s after the outage\n", MESSAGES, took);
	CHECK(took < LIMIT, "%.3f s", took);
	for (i = 0; i < MESSAGES; i++)
		finish_with(ep, &requests[i], OMX_SUCCESS);
	part(ep, peer);
}

static void run_server(void)
{
	static char buffer[LENGTH];
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	unsigned int i;

	barrier(ep, peer);
	for (i = 0; i < MESSAGES; i++) {
		EQUAL(receive(ep, buffer, LENGTH, 1).msg_length, LENGTH);
		verify(buffer, LENGTH, i);
	}
	send_sync(ep, peer, NULL, 0, ANSWER);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	return run_pair(argc, argv, run_server, run_client);
}
