// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memory for unexpected messages is bounded: the rest waits with the driver
 * and the sender, what was asked for still arrives, nothing is lost.
 */
#include "endpoints.h"

#include <stdio.h>
#include <string.h>

#define LIMIT	(256 << 10)
#define LENGTH	3000
#define COUNT	4000		/* 12 MB */
#define FLOOD	100
#define WANTED	200

static long resident_kib(void)
{
	char line[200];
	long kib = -1;
	FILE *file = fopen("/proc/self/status", "r");

	CHECK(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "RssAnon: %ld", &kib) == 1)
			break;
	fclose(file);
	CHECK(kib >= 0);
	return kib;
}

static void run_client(void)
{
	static char from[LENGTH];
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	omx_request_t request;
	uint64_t i;

	barrier(ep, peer);
	fill(from, sizeof(from), FLOOD, 0);
	for (i = 0; i < COUNT; i++) {
		MUST(omx_isend(ep, from, sizeof(from), peer, FLOOD, NULL, &request));
		MUST(omx_forget(ep, &request));
	}
	send_pattern(ep, peer, LENGTH, WANTED);
	part(ep, peer);
}

static void run_server(void)
{
	omx_endpoint_param_t param = { .key = OMX_ENDPOINT_PARAM_UNEXP_QUEUE_MAX,
				       .val.unexp_queue_max = LIMIT };
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet_with(&peer, &param, 1);
	omx_request_t request;
	omx_status_t status;
	static char to[LENGTH];
	uint32_t result;
	long before;
	int i;

	MUST(omx_irecv(ep, to, sizeof(to), FLOOD, EXACT, NULL, &request));
	barrier(ep, peer);
	finish_with(ep, &request, OMX_SUCCESS);
	before = resident_kib();
	/*
	 * No message matches this; the call lets the library make progress
	 * for 1.5 s.
	 */
	MUST(omx_wait_any(ep, 1, EXACT, &status, &result, 1500));
	EQUAL(result, 0);
	CHECK(resident_kib() - before < 4096, " %ld KiB", resident_kib() - before);
	for (i = 1; i < COUNT; i++) {
		memset(to, 0, sizeof(to));
		EQUAL(receive(ep, to, sizeof(to), FLOOD).xfer_length, LENGTH);
		verify(to, sizeof(to), FLOOD);
	}
	receive_pattern(ep, LENGTH, WANTED);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	return run_pair(argc, argv, run_server, run_client);
}
