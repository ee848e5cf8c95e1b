// SPDX-License-Identifier: BSD-2-Clause
/*
 * The client stops the server with SIGSTOP, all its threads: puts, gets and atomics
 * of every length still end, also where the server's pages are absent.  When it goes
 * on, its memory has the bytes, and it gets the events.  Both sides share the
 * numbers of processes, on one node or two.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "accesses.h"

#define SIZE		(8ul << 20)
#define ABSENT		(SIZE / 2)	/* from here on pages are absent, and read as zeros */
#define INITIAL		1		/* contents */
#define EVENTS		100
/* s: page-in waits for stopped threads once, up to 2 s. */
#define QUICKLY		(5 * slowness())

static const size_t lengths[] = { 0, 8, 5000, 60000, 1000000 };

#define LENGTHS		(sizeof(lengths) / sizeof(lengths[0]))
#define APART		(128 * PAGE)	/* bytes between two puts */
#define GETS		(SIZE / 2 - 256 * PAGE)
#define WORD		(GETS - 8)

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;

static size_t offset_of(unsigned int i)
{
	return i * APART + 123;
}

/* ---- the target -------------------------------------------------------------------- */

static void take_events(omx_window_t window)
{
	omx_put_event_t event;
	uint32_t result;
	uint64_t i;

	for (i = 0; i < EVENTS; i++) {
		AWAIT((MUST(omx_ipoll_put(ep, &event, &result)), result), QUICKLY, 1,
		      "event %llu is lost", (unsigned long long)i);
		EQUAL(event.immediate, i);
		CHECK(event.window == window);
	}
}

static void verify_half(const uint8_t *half)
{
	unsigned int i;

	for (i = 0; i < LENGTHS; i++)
		verify(half + offset_of(i), lengths[i], i + 10);
}

static void run_server(void)
{
	uint8_t *memory = map_anonymous(NULL, SIZE);
	omx_window_t window;
	uint64_t word;
	pid_t pid = getpid();

	ep = meet(&peer);
	fill(memory, ABSENT, INITIAL, 0);
	window = export_memory(ep, memory, SIZE);
	send_key(ep, peer, window);
	send_sync(ep, peer, &pid, sizeof(pid), 1);
	barrier(ep, peer);		/* somewhere in here it is stopped */
	barrier(ep, peer);
	verify_half(memory);
	verify_half(memory + ABSENT);
	memcpy(&word, memory + ABSENT + WORD, sizeof(word));
	EQUAL(word, 5);
	take_events(window);
	MUST(omx_window_destroy(ep, window));
	part(ep, peer);
}

/* ---- the initiator ------------------------------------------------------------------ */

static void check_get(const struct remote *remote, size_t at, size_t length, bool absent)
{
	uint8_t *got = allocate(length);
	size_t i;

	memset(got, 0xa5, length);
	MUST(try_get(remote, at, got, length));
	if (!absent)
		CHECK(differs_at(got, length, INITIAL, at) == length);
	for (i = 0; absent && i < length; i++)
		CHECK(!got[i]);
	free(got);
}

static void access_half(const struct remote *remote, size_t start)
{
	unsigned int i;

	for (i = 0; i < LENGTHS; i++) {
		put_pattern(remote, start + offset_of(i), lengths[i], i + 10);
		check_get(remote, start + GETS, lengths[i], start);
	}
}

static void put_events(const struct remote *remote)
{
	omx_request_t request;
	uint64_t i;

	for (i = 0; i < EVENTS; i++) {
		MUST(omx_iput_event(ep, NULL, 0, peer, remote->key, 0, i, NULL, &request));
		finish_with(ep, &request, OMX_SUCCESS);
	}
}

static void run_client(void)
{
	struct remote remote;
	uint64_t before = 1;
	double start;
	pid_t pid;

	ep = meet(&peer);
	remote = receive_key(ep, peer);
	receive(ep, &pid, sizeof(pid), 1);
	barrier(ep, peer);
	stop_process(pid);
	start = now();
	access_half(&remote, 0);
	printf("one_stopped: pages that are there: %.3f s\n", now() - start);
	access_half(&remote, ABSENT);
	MUST(try_atomic(&remote, OMX_ATOMIC_ADD, 8, ABSENT + WORD, 5, 0, &before));
	EQUAL(before, 0);
	put_events(&remote);
	printf("one_stopped: all: %.3f s\n", now() - start);
	CHECK(now() - start < QUICKLY, "%.3f s", now() - start);
	CHECK(process_is_stopped(pid), "the server was not stopped all the time");
	CHECK(!kill(pid, SIGCONT));
	barrier(ep, peer);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	options.timeout = 40;
	return run_pair(argc, argv, run_server, run_client);
}
