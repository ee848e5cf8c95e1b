/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts, gets and fetch-and-add between a client that measures and a server whose
 * program does nothing, and two ping-pongs in which both sides poll: of puts, which
 * they see in their memory, and of messages. Polling processes yield the processor,
 * of which there may be only one. A line of JSON for each.
 *
 * With --repeat, which both sides get, one of the ping-pongs of WORD bytes goes on until
 * the programs are killed: profile.sh counts its instructions.
 */
#include <err.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "meter.h"
#include "omx.h"
#include "omx_peer.h"
#include "transport.h"

#define ARENA		(8u << 20)
#define HUGE_PAGE	(2u << 20)
#define OUTSTANDING	32
#define WORD		8u

static char *arena;			/* exported by both sides */
static omx_key_t remote_key;

static char *make_arena(void)
{
	char *memory = mmap(NULL, ARENA + HUGE_PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		err(1, "arena");
	memory = (char *)(((uintptr_t)memory + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1));
	madvise(memory, ARENA, MADV_HUGEPAGE);
	memset(memory, 0, ARENA);
	return memory;
}

/* The two sides exchange the keys of their windows. */
static void exchange_keys(bool first)
{
	const uint32_t rights = OMX_WINDOW_RIGHT_GET | OMX_WINDOW_RIGHT_PUT |
				OMX_WINDOW_RIGHT_ATOMIC;
	omx_window_t window;
	omx_key_t key;

	check("window", omx_window_create(ep, arena, ARENA, rights, &peer, &window));
	check("key", omx_window_key(ep, window, &key));
	if (first)
		transport_send(&key, sizeof(key));
	transport_receive(&remote_key, sizeof(remote_key));
	if (!first)
		transport_send(&key, sizeof(key));
}

/* ---- both sides poll ------------------------------------------------------------ */

static void poll_request(omx_request_t request)
{
	omx_status_t status;
	uint32_t done;

	for (;;) {
		check("test", omx_test(ep, &request, &status, &done));
		if (done)
			break;
		sched_yield();
	}
	check("polled", status.code);
}

/* The number is the last word, which is written last. */
static uint64_t *last_word(char *buffer, uint64_t length)
{
	return (uint64_t *)(buffer + length - WORD);
}

static void put_number(uint64_t length, uint64_t number)
{
	char *buffer = arena + ARENA / 2;

	*last_word(buffer, length) = number;
	check("put", omx_iput(ep, buffer, length, peer, remote_key, 0, NULL, NULL));
}

/* omx_progress takes the ends of puts out of the ring. */
static void await_number(uint64_t length, uint64_t number)
{
	const uint64_t *word = last_word(arena, length);

	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != number) {
		check("progress", omx_progress(ep));
		sched_yield();
	}
}

static void ping_put(uint64_t length, uint64_t number)
{
	put_number(length, number);
	await_number(length, number);
}

static void pong_put(uint64_t length, uint64_t number)
{
	await_number(length, number);
	put_number(length, number);
}

static omx_request_t post_receive(uint64_t length)
{
	omx_request_t request;

	check("irecv", omx_irecv(ep, arena, length, MATCH, ~UINT64_C(0), NULL, &request));
	return request;
}

static omx_request_t post_send(uint64_t length)
{
	omx_request_t request;

	check("isend", omx_isend(ep, arena + ARENA / 2, length, peer, MATCH, NULL, &request));
	return request;
}

static void ping_message(uint64_t length, uint64_t number)
{
	omx_request_t pong = post_receive(length), ping = post_send(length);

	(void)number;
	poll_request(pong);
	poll_request(ping);
}

static void pong_message(uint64_t length, uint64_t number)
{
	(void)number;
	poll_request(post_receive(length));
	poll_request(post_send(length));
}

/* ---- what is measured ------------------------------------------------------------- */

static omx_request_t post_put(uint64_t length)
{
	omx_request_t request;

	check("put", omx_iput(ep, arena + ARENA / 2, length, peer, remote_key, 0, NULL,
			      &request));
	return request;
}

static omx_request_t post_get(uint64_t length)
{
	omx_request_t request;

	check("get", omx_iget(ep, arena + ARENA / 2, length, peer, remote_key, 0, NULL,
			      &request));
	return request;
}

static omx_request_t post_add(uint64_t length)
{
	omx_request_t request;

	check("add", omx_iatomic(ep, OMX_ATOMIC_ADD, length, peer, remote_key, ARENA - WORD, 1,
				 0, arena + ARENA / 2, NULL, &request));
	return request;
}

static const struct access {
	const char *name;
	omx_request_t (*post)(uint64_t length);
} accesses[] = {
	{ "put", post_put },
	{ "get", post_get },
	{ "add", post_add },
};

static const struct {
	const char *name;
	void (*ping)(uint64_t length, uint64_t number);
	void (*pong)(uint64_t length, uint64_t number);
} exchanges[] = {
	{ "put one way", ping_put, pong_put },
	{ "message one way", ping_message, pong_message },
};

/* Puts of these sizes are performed in order. */
static const uint64_t exchanged[] = { WORD, 4096, 65536 };

#define LENGTH(array)	(sizeof(array) / sizeof(*(array)))
#define WARMUP		50u
#define COUNT		200u

/* ---- the server --------------------------------------------------------------------- */

static void serve_exchange(unsigned int i, uint64_t length)
{
	uint64_t n;

	for (n = 1; n <= WARMUP + COUNT; n++)
		exchanges[i].pong(length, n);
}

static void serve(void)
{
	unsigned int i, j;
	uint64_t word;

	transport_accept();
	exchange_keys(true);
	for (i = 0; i < LENGTH(exchanges); i++)
		for (j = 0; j < LENGTH(exchanged); j++)
			serve_exchange(i, exchanged[j]);
	transport_receive(&word, sizeof(word));
}

/* ---- the client --------------------------------------------------------------------- */

static void report(const char *name, uint64_t size, const char *unit, double value)
{
	printf("{\"transport\": \"omx\", \"kind\": \"%s\", \"size\": %" PRIu64 ", \"%s\": %.1f}\n",
	       name, size, unit, value);
}

static void run_exchange(unsigned int i, uint64_t length)
{
	uint64_t times[COUNT], start, n;

	for (n = 1; n <= WARMUP + COUNT; n++) {
		start = now_ns();
		exchanges[i].ping(length, n);
		if (n > WARMUP)
			times[n - WARMUP - 1] = now_ns() - start;
	}
	report(exchanges[i].name, length, "ns", summarize(times, COUNT).median / 2.0);
}

static uint64_t count_of(uint64_t size)
{
	uint64_t count = (16u << 20) / size;

	return count > COUNT ? COUNT : count < 5 ? 5 : count;
}

static void run_single(const struct access *access, uint64_t size)
{
	uint64_t times[COUNT], start, count = count_of(size), n;

	for (n = 0; n < count; n++)
		finish(access->post(size), size);
	for (n = 0; n < count; n++) {
		start = now_ns();
		finish(access->post(size), size);
		times[n] = now_ns() - start;
	}
	report(access->name, size, "ns", summarize(times, count).median);
}

static void stream_some(const struct access *access, uint64_t size, uint64_t count)
{
	omx_request_t requests[OUTSTANDING];
	uint64_t posted = 0, done;

	for (done = 0; done < count; done++) {
		for (; posted < count && posted < done + OUTSTANDING; posted++)
			requests[posted % OUTSTANDING] = access->post(size);
		finish(requests[done % OUTSTANDING], size);
	}
}

static void run_stream(const struct access *access, uint64_t size)
{
	uint64_t count = (64u << 20) / size;
	struct meter meter;
	char name[32];

	if (count > 2000)
		count = 2000;
	snprintf(name, sizeof(name), "%s stream", access->name);
	stream_some(access, size, count / 8 + 1);
	meter_start(&meter);
	stream_some(access, size, count);
	meter_stop(&meter);
	report(name, size, "bytes_per_s", size * count * 1e9 / meter.elapsed);
}

static void measure(const char *host)
{
	static const uint64_t sizes[] = { 8, 4096, 65536, 1 << 20, 4 << 20 };
	unsigned int i, j;
	uint64_t word = 0;

	transport_connect(host);
	exchange_keys(false);
	for (i = 0; i < LENGTH(exchanges); i++)
		for (j = 0; j < LENGTH(exchanged); j++)
			run_exchange(i, exchanged[j]);
	for (i = 0; i < LENGTH(sizes); i++) {
		run_single(&accesses[0], sizes[i]);
		run_single(&accesses[1], sizes[i]);
		run_stream(&accesses[0], sizes[i]);
		run_stream(&accesses[1], sizes[i]);
	}
	run_single(&accesses[2], WORD);
	run_stream(&accesses[2], WORD);
	transport_send(&word, sizeof(word));
}

/* ---- one ping-pong for ever --------------------------------------------------------- */

static void repeat(unsigned int i, const char *host)
{
	uint64_t n;

	if (host)
		transport_connect(host);
	else
		transport_accept();
	exchange_keys(!host);
	for (n = 1;; n++)
		(host ? exchanges[i].ping : exchanges[i].pong)(WORD, n);
}

static void usage(void)
{
	fprintf(stderr, "usage: onesided_peer [--repeat put|message] --serve | HOST\n");
	exit(2);
}

static unsigned int find_exchange(const char *name)
{
	unsigned int i;

	for (i = 0; i < LENGTH(exchanges); i++)
		if (strncmp(exchanges[i].name, name, strlen(name)) == 0)
			return i;
	usage();
	return 0;
}

int main(int argc, char **argv)
{
	const char *host = argv[argc - 1];
	bool serves = strcmp(host, "--serve") == 0;

	if (argc != 2 && (argc != 4 || strcmp(argv[1], "--repeat") != 0))
		usage();
	/* Nothing is written while there is something to measure. */
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	arena = make_arena();
	if (argc == 4)
		repeat(find_exchange(argv[2]), serves ? NULL : host);
	if (serves)
		serve();
	else
		measure(host);
	transport_close();
	return 0;
}
