// SPDX-License-Identifier: BSD-2-Clause
/*
 * The client makes its interface's MTU so small that hardly a byte of a put fits one frame,
 * or none.  The calls return, and the puts are performed when the MTU grows again.
 *
 *	--length N	bytes of each put
 */
#include <stdio.h>
#include <stdlib.h>

#include "accesses.h"

static const unsigned int mtus[] = { 128, 112, 97, 96, 95, 90, 80, 79, 68 };

#define MTUS	(sizeof(mtus) / sizeof(mtus[0]))

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;

static void set_mtu(unsigned int mtu)
{
	char command[80];

	snprintf(command, sizeof(command), "ip link set dev eth0 mtu %u", mtu);
	run_command(command);
	sleep_ms(200);
}

static void run_server(void)
{
	uint8_t *memory = map_anonymous(NULL, 16 * PAGE);
	omx_window_t window;
	unsigned int i;

	ep = meet(&peer);
	window = export_memory(ep, memory, 16 * PAGE);
	send_key(ep, peer, window);
	for (i = 0; i < MTUS; i++) {
		barrier(ep, peer);
		verify(memory, options.length, i);
		barrier(ep, peer);
	}
	part(ep, peer);
}

static void run_client(void)
{
	uint8_t *bytes = allocate(options.length);
	struct remote remote;
	unsigned int i;

	ep = meet(&peer);
	remote = receive_key(ep, peer);
	for (i = 0; i < MTUS; i++) {
		omx_request_t request;
		double start;

		fill(bytes, options.length, i, 0);
		set_mtu(mtus[i]);
		start = now();
		printf("one_small_mtu: %u\n", mtus[i]);
		MUST(omx_iput(ep, bytes, options.length, peer, remote.key, 0, NULL, &request));
		CHECK(now() - start < 5);
		set_mtu(9000);
		finish_with(ep, &request, OMX_SUCCESS);
		barrier(ep, peer);
		barrier(ep, peer);
	}
	part(ep, peer);
}

int main(int argc, char **argv)
{
	options.length = 40;
	options.timeout = 100;
	return run_pair(argc, argv, run_server, run_client);
}
