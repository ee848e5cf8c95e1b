// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program that exports memory to one_forged: it prints the keys of three windows
 * and "ready", and waits for SIGUSR1.  Then its memory must be as it was, the driver
 * must have counted refusals of each kind, and the windows must end at once although
 * the transfers that one_forged has begun never do.
 */
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "accesses.h"

#define SIZE	(64 * PAGE)
#define INITIAL	1			/* contents; one_forged knows them */

static omx_endpoint_t ep;

/* Keys are in the order of the cable. */
static void print_key(omx_window_t window)
{
	uint32_t words[4];
	omx_key_t key;

	MUST(omx_window_key(ep, window, &key));
	memcpy(words, &key, sizeof(words));
	printf(" %x %x %x %x", ntohl(words[0]), ntohl(words[1]), ntohl(words[2]),
	       ntohl(words[3]));
}

static void block_signal(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	CHECK(!sigprocmask(SIG_BLOCK, &signals, NULL));
}

static void check_counters(void)
{
	CHECK(count_of(ep, "access refused, no such window") >= 6);
	CHECK(count_of(ep, "access refused, no right") >= 3);
	CHECK(count_of(ep, "access refused, outside the window") >= 6);
	CHECK(count_of(ep, "dropped: response to no access") >= 1);
	CHECK(count_of(ep, "dropped: bad field") >= 6);
}

static void run_test(void)
{
	uint8_t *memory = map_anonymous(NULL, SIZE);
	omx_endpoint_addr_t self;
	omx_window_t all, others, get_only;
	double start;

	block_signal();			/* before the library's threads are there */
	MUST(omx_init());
	ep = open_number(options.endpoint, NULL, 0);
	self = connect_self(ep);
	fill(memory, SIZE, INITIAL, 0);
	all = export_memory(ep, memory, SIZE);
	MUST(omx_window_create(ep, memory, SIZE, RIGHTS_ALL, &self, &others));
	MUST(omx_window_create(ep, memory, SIZE, OMX_WINDOW_RIGHT_GET, NULL, &get_only));
	printf("keys");
	print_key(all);
	print_key(others);
	print_key(get_only);
	printf("\n");
	say_and_wait("ready");
	start = now();
	MUST(omx_window_destroy(ep, all));
	MUST(omx_window_destroy(ep, others));
	MUST(omx_window_destroy(ep, get_only));
	printf("one_guarded: the windows end in %.3f s\n", now() - start);
	CHECK(now() - start < 2 * slowness());
	CHECK(differs_at(memory, SIZE, INITIAL, 0) == SIZE, "memory was changed at %zu",
	      differs_at(memory, SIZE, INITIAL, 0));
	check_counters();
	MUST(omx_close_endpoint(ep));
	MUST(omx_finalize());
}

int main(int argc, char **argv)
{
	return run_alone(argc, argv, run_test);
}
