/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conditional writes beside "wait for the key, then write" [Ou06]. The client owns the
 * window, and measures from the moment when it sends the key until the server's write
 * is in place. The server sleeps meanwhile, as a program does that waits for a key. A
 * line of JSON for each way, memory mode and number of pages.
 */
#include <err.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "meter.h"
#include "omx.h"
#include "omx_peer.h"
#include "transport.h"

#define PAGE		4096u
#define PAGES_MAX	1024u
#define WARMUP		10u
#define COUNT		40u

static char *memory;
static omx_window_t window;
static omx_key_t key;			/* the client's */

static const struct {
	const char *name;
	omx_memory_mode_t mode;
} modes[] = {
	{ "unpinned", OMX_MEMORY_UNPINNED },
	{ "pin", OMX_MEMORY_PIN },
};

static const struct way {
	const char *name;
	bool conditional;
} ways[] = {
	{ "key, then write", false },
	{ "conditional write", true },
};

#define LENGTH(array)	(sizeof(array) / sizeof(*(array)))

static void make_memory(void)
{
	memory = mmap(NULL, PAGES_MAX * PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory == MAP_FAILED)
		err(1, "memory");
}

/* ---- the server writes ---------------------------------------------------------- */

static void write_when(size_t length, uint64_t tag)
{
	omx_request_t request;
	char ready = 0;

	check("put when", omx_iput_event_when(ep, memory, length, peer, tag, tag,
					      OMX_TIMEOUT_INFINITE, NULL, &request));
	transport_send(&ready, sizeof(ready));
	finish(request, length);
}

static void write_with_key(size_t length, uint64_t tag)
{
	omx_request_t receive, request;
	char ready = 0;

	check("irecv", omx_irecv(ep, &key, sizeof(key), MATCH, ~UINT64_C(0), NULL, &receive));
	transport_send(&ready, sizeof(ready));
	finish(receive, sizeof(key));
	check("put", omx_iput_event(ep, memory, length, peer, key, 0, tag, NULL, &request));
	finish(request, length);
}

/* ---- the client sends keys --------------------------------------------------------- */

/* Sleeps: polling would take time from the writes where there is one processor. */
static void await_write(uint64_t tag)
{
	omx_put_event_t event;
	struct pollfd ring = { .events = POLLIN };
	uint32_t result;

	check("fd", omx_get_endpoint_fd(ep, &ring.fd));
	for (;;) {
		check("poll", omx_ipoll_put(ep, &event, &result));
		if (result)
			break;
		poll(&ring, 1, -1);
	}
	if (event.immediate != tag)
		errx(1, "write %" PRIu64 " came instead of %" PRIu64, event.immediate, tag);
}

static void send_key(bool conditional, size_t length, uint64_t tag)
{
	if (conditional)
		check("post key", omx_post_key(ep, peer, tag, window, 0, length, NULL, NULL));
	else
		check("isend", omx_isend(ep, &key, sizeof(key), peer, MATCH, NULL, NULL));
}

static uint64_t measure_one(bool conditional, size_t length, uint64_t tag)
{
	uint64_t start;
	char ready;

	transport_receive(&ready, sizeof(ready));
	usleep(1000);			/* the server goes to sleep */
	start = now_ns();
	send_key(conditional, length, tag);
	await_write(tag);
	return now_ns() - start;
}

/* ---- both ------------------------------------------------------------------------------ */

/* What both sides do for each way, mode and number of pages. */
typedef void (*round_function)(unsigned int way, unsigned int mode, size_t pages);

static void serve_round(unsigned int way, unsigned int mode, size_t pages)
{
	unsigned int i;

	check("mode", omx_set_memory_mode(ep, modes[mode].mode));
	for (i = 0; i < WARMUP + COUNT; i++) {
		if (ways[way].conditional)
			write_when(pages * PAGE, i);
		else
			write_with_key(pages * PAGE, i);
	}
}

static void measure_round(unsigned int way, unsigned int mode, size_t pages)
{
	uint64_t times[COUNT];
	unsigned int i;

	for (i = 0; i < WARMUP; i++)
		measure_one(ways[way].conditional, pages * PAGE, i);
	for (i = 0; i < COUNT; i++)
		times[i] = measure_one(ways[way].conditional, pages * PAGE, WARMUP + i);
	printf("{\"transport\": \"omx\", \"kind\": \"%s, %s\", \"size\": %zu, \"ns\": %" PRIu64
	       "}\n", ways[way].name, modes[mode].name, pages * PAGE,
	       summarize(times, COUNT).median);
}

static void do_all(round_function round)
{
	unsigned int way, mode;
	size_t pages;

	for (mode = 0; mode < LENGTH(modes); mode++)
		for (pages = 1; pages <= PAGES_MAX; pages *= 2)
			for (way = 0; way < LENGTH(ways); way++)
				round(way, mode, pages);
}

static void measure(const char *host)
{
	transport_connect(host);
	check("window", omx_window_create(ep, memory, PAGES_MAX * PAGE, OMX_WINDOW_RIGHT_PUT,
					  &peer, &window));
	check("key", omx_window_key(ep, window, &key));
	do_all(measure_round);
}

int main(int argc, char **argv)
{
	char last = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: when_peer --serve | HOST\n");
		return 2;
	}
	/* Each write prepares its memory, as the first one of a program does. */
	setenv("OMX_RCACHE", "0", 1);
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	make_memory();
	if (strcmp(argv[1], "--serve")) {
		measure(argv[1]);
		transport_send(&last, sizeof(last));
	} else {
		transport_accept();
		do_all(serve_round);
		transport_receive(&last, sizeof(last));
	}
	transport_close();
	return 0;
}
