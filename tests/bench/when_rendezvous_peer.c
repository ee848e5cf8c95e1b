/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Long messages beside the same bytes by conditional writes: the receiver posts the key of
 * its buffer in place of a receive, and the sender's driver holds the write. That is how a
 * rendezvous would use them. The window is made once, which a library could not do.
 *
 * The client receives. Either side is first by 1 ms, so that the other one sleeps, and
 * measures from the second call until the bytes are there: the server's time is the first
 * word of the bytes, as both sides have one clock. A line of JSON for each way, order and
 * length.
 */
#include <err.h>
#include <getopt.h>
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

#define BYTES		UINT64_C(2)	/* match info of the messages that are measured */
#define WARMUP		5u
#define COUNT		20u
#define LENGTH(array)	(sizeof(array) / sizeof(*(array)))

static const size_t sizes[] = { 32 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20 };

static const struct way {
	const char *name;
	bool conditional;
} ways[] = {
	{ "message", false },
	{ "conditional write", true },
};

static const struct order {
	const char *name;
	bool receiver_first;
} orders[] = {
	{ "receiver first", true },
	{ "sender first", false },
};

static char *memory;
static omx_window_t window;
static const char *mtu = "9000";	/* for the report */

static void make_memory(void)
{
	memory = mmap(NULL, sizes[LENGTH(sizes) - 1], PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory == MAP_FAILED)
		err(1, "memory");
}

/* Tells the other side that this one has posted its part, or waits for that. */
static void pass_turn(void)
{
	char turn = 0;

	transport_send(&turn, sizeof(turn));
}

static void await_turn(void)
{
	char turn;

	transport_receive(&turn, sizeof(turn));
	usleep(1000);			/* the other side goes to sleep */
}

/* ---- the server sends --------------------------------------------------------------- */

static omx_request_t post_bytes(const struct way *way, size_t length)
{
	uint64_t start = now_ns();
	omx_request_t request;

	memcpy(memory, &start, sizeof(start));
	if (way->conditional)
		check("put when", omx_iput_event_when(ep, memory, length, peer, BYTES, length,
						      OMX_TIMEOUT_INFINITE, NULL, &request));
	else
		check("isend", omx_isend(ep, memory, length, peer, BYTES, NULL, &request));
	return request;
}

static void send_one(const struct way *way, const struct order *order, size_t length)
{
	omx_request_t request;

	if (order->receiver_first)
		await_turn();
	request = post_bytes(way, length);
	if (!order->receiver_first)
		pass_turn();
	finish(request, length);
}

/* ---- the client receives -------------------------------------------------------------- */

static bool write_is_there(size_t length)
{
	omx_put_event_t event;
	uint32_t result;

	check("poll put", omx_ipoll_put(ep, &event, &result));
	if (result && event.immediate != length)
		errx(1, "%" PRIu64 " bytes came instead of %zu", event.immediate, length);
	return result;
}

static bool message_is_there(omx_request_t *request, size_t length)
{
	omx_status_t status;
	uint32_t result;

	check("test", omx_test(ep, request, &status, &result));
	if (result && (status.code || status.xfer_length != length))
		errx(1, "message: %s", omx_strerror(status.code));
	return result;
}

/* In both ways by poll(): the library waits for requests, but not for events. */
static void await_bytes(omx_request_t *request, size_t length)
{
	struct pollfd ring = { .events = POLLIN };

	check("fd", omx_get_endpoint_fd(ep, &ring.fd));
	while (!(*request ? message_is_there(request, length) : write_is_there(length)))
		poll(&ring, 1, -1);
}

static omx_request_t post_room(const struct way *way, size_t length)
{
	omx_request_t request = NULL;

	if (way->conditional)
		check("post key",
		      omx_post_key(ep, peer, BYTES, window, 0, length, NULL, NULL));
	else
		check("irecv", omx_irecv(ep, memory, length, BYTES, ~UINT64_C(0), NULL, &request));
	return request;
}

static uint64_t receive_one(const struct way *way, const struct order *order, size_t length)
{
	omx_request_t request;
	uint64_t start;

	if (!order->receiver_first)
		await_turn();
	start = now_ns();
	request = post_room(way, length);
	if (order->receiver_first)
		pass_turn();
	await_bytes(&request, length);
	if (order->receiver_first)
		memcpy(&start, memory, sizeof(start));
	return now_ns() - start;
}

/* ---- both ------------------------------------------------------------------------------ */

/* What both sides do for each way, order and length. */
typedef void (*round_function)(const struct way *way, const struct order *order, size_t length);

static void send_round(const struct way *way, const struct order *order, size_t length)
{
	unsigned int i;

	for (i = 0; i < WARMUP + COUNT; i++)
		send_one(way, order, length);
}

static void receive_round(const struct way *way, const struct order *order, size_t length)
{
	uint64_t times[COUNT];
	unsigned int i;

	for (i = 0; i < WARMUP; i++)
		receive_one(way, order, length);
	for (i = 0; i < COUNT; i++)
		times[i] = receive_one(way, order, length);
	printf("{\"transport\": \"omx\", \"kind\": \"%s, %s, MTU %s\", \"size\": %zu, \"ns\": %"
	       PRIu64 "}\n", way->name, order->name, mtu, length, summarize(times, COUNT).median);
}

static void do_all(round_function round)
{
	unsigned int way, order, size;

	for (order = 0; order < LENGTH(orders); order++)
		for (size = 0; size < LENGTH(sizes); size++)
			for (way = 0; way < LENGTH(ways); way++)
				round(&ways[way], &orders[order], sizes[size]);
}

static void receive_all(const char *host)
{
	transport_connect(host);
	check("window", omx_window_create(ep, memory, sizes[LENGTH(sizes) - 1],
					  OMX_WINDOW_RIGHT_PUT, &peer, &window));
	do_all(receive_round);
	pass_turn();
}

/* Returns whether this is the server. */
static bool take_options(int argc, char **argv)
{
	static const struct option options[] = {
		{ "serve", no_argument, NULL, 's' },
		{ "mtu", required_argument, NULL, 'm' },
		{ NULL, 0, NULL, 0 },
	};
	bool serve = false;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 's')
			serve = true;
		else if (option == 'm')
			mtu = optarg;
		else
			exit(2);
	}
	if (argc - optind != !serve)
		errx(2, "usage: when_rendezvous_peer [--mtu MTU] --serve | HOST");
	return serve;
}

int main(int argc, char **argv)
{
	bool serve = take_options(argc, argv);

	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	make_memory();
	if (serve) {
		transport_accept();
		do_all(send_round);
		await_turn();
	} else {
		receive_all(argv[optind]);
	}
	transport_close();
	return 0;
}
