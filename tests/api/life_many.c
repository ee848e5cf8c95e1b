// SPDX-License-Identifier: BSD-2-Clause
/*
 * Each side has 32 endpoints; each of the 64 sends a message to each.
 * --mode hold: only opens --count endpoints and waits to be killed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "endpoints.h"

#define MINE	32
#define ALL	(2 * MINE)
#define FIRST	10

static omx_endpoint_t eps[MINE];
static omx_endpoint_addr_t addresses[MINE][ALL];
static omx_request_t sends[MINE][ALL], receives[MINE][ALL];
static uint64_t sent[MINE][ALL], received[MINE][ALL];

/* Endpoints of the server are 0 ..., of the client MINE ... */
static unsigned int own_number(unsigned int i)
{
	return options.server ? i : MINE + i;
}

static void open_all(void)
{
	unsigned int i;

	for (i = 0; i < MINE; i++)
		eps[i] = open_number(FIRST + own_number(i), NULL, 0);
}

static void connect_all(uint64_t own, uint64_t other)
{
	unsigned int i, j;

	for (i = 0; i < MINE; i++)
		for (j = 0; j < ALL; j++)
			addresses[i][j] = connect_to(eps[i], (j < MINE) == options.server ?
						     own : other, FIRST + j);
}

static void post_all(void)
{
	unsigned int i, j;

	for (i = 0; i < MINE; i++)
		for (j = 0; j < ALL; j++)
			MUST(omx_irecv(eps[i], &received[i][j], 8, j, EXACT, NULL,
				       &receives[i][j]));
	for (i = 0; i < MINE; i++)
		for (j = 0; j < ALL; j++) {
			sent[i][j] = own_number(i) << 16 | j;
			MUST(omx_isend(eps[i], &sent[i][j], 8, addresses[i][j], own_number(i), NULL,
				       &sends[i][j]));
		}
}

static void finish_all(void)
{
	unsigned int i, j;

	for (i = 0; i < MINE; i++)
		for (j = 0; j < ALL; j++) {
			finish_with(eps[i], &sends[i][j], OMX_SUCCESS);
			EQUAL(finish_with(eps[i], &receives[i][j], OMX_SUCCESS).msg_length, 8);
			EQUAL(received[i][j], j << 16 | own_number(i));
		}
}

static void run_both(void)
{
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	unsigned int i;
	uint32_t number;
	uint64_t other;

	MUST(omx_decompose_endpoint_addr(peer, &other, &number));
	open_all();
	barrier(ep, peer);
	connect_all(nic_of(ep), other);
	post_all();
	finish_all();
	barrier(ep, peer);
	for (i = 0; i < MINE; i++)
		MUST(omx_close_endpoint(eps[i]));
	part(ep, peer);
}

static void hold_open(void)
{
	uint64_t i;

	MUST(omx_init());
	for (i = 0; i < options.count; i++)
		open_any();
	printf("%llu endpoints are open\n", (unsigned long long)options.count);
	fflush(stdout);
	pause();
}

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		if (!strcmp(argv[i], "hold"))
			return run_alone(argc, argv, hold_open);
	return run_pair(argc, argv, run_both, run_both);
}
