// SPDX-License-Identifier: BSD-2-Clause
/*
 * A user's share of a link.  The client sends by --count endpoints, --window
 * messages of --length at a time by each, until it gets SIGUSR1; then everything
 * must arrive.  The server receives in the order of arrival.
 */
#include <signal.h>
#include <stdio.h>

#include "endpoints.h"

#define STREAMS_MAX	16
#define WINDOW_MAX	16
#define RECEIVES	32
#define END		0xffffffffu	/* number of a stream's last message */

struct stream {
	omx_endpoint_t ep;
	omx_endpoint_addr_t peer;
	omx_request_t requests[WINDOW_MAX], end;
	char *buffers[WINDOW_MAX];
	uint32_t begun, ended;
};

static struct stream streams[STREAMS_MAX];
static volatile sig_atomic_t stopped;

static void stop(int number)
{
	(void)number;
	stopped = 1;
}

static uint64_t match_of(uint32_t stream, uint32_t number)
{
	return (uint64_t)stream << 32 | number;
}

/* ---- client ---- */

static void open_streams(omx_endpoint_t first, omx_endpoint_addr_t peer)
{
	char name[OMX_HOSTNAMELEN_MAX];
	uint64_t nic;
	uint32_t i, j;

	snprintf(name, sizeof(name), "%s", options.peer);
	MUST(omx_hostname_to_nic_id(name, &nic));
	for (i = 0; i < options.count; i++) {
		streams[i].ep = i ? open_any() : first;
		streams[i].peer = i ? connect_to(streams[i].ep, nic, options.endpoint) : peer;
		for (j = 0; j < options.window; j++)
			streams[i].buffers[j] = allocate(options.length);
	}
}

static void begin_message(uint32_t i)
{
	struct stream *stream = &streams[i];
	uint32_t slot = stream->begun % options.window;
	uint64_t match = match_of(i, stream->begun);

	fill(stream->buffers[slot], options.length, match, 0);
	MUST(omx_isend(stream->ep, stream->buffers[slot], options.length, stream->peer, match,
		       NULL, &stream->requests[slot]));
	stream->begun++;
}

static void go_on(uint32_t i)
{
	struct stream *stream = &streams[i];
	omx_status_t status;

	if (stream->begun - stream->ended == options.window) {
		if (!is_done(stream->ep, &stream->requests[stream->ended % options.window],
			     &status))
			return;
		EQUAL(status.code, OMX_SUCCESS);
		stream->ended++;
	}
	begin_message(i);
}

static void finish_stream(uint32_t i)
{
	struct stream *stream = &streams[i];

	for (; stream->ended != stream->begun; stream->ended++)
		finish_with(stream->ep, &stream->requests[stream->ended % options.window],
			    OMX_SUCCESS);
	MUST(omx_issend(stream->ep, NULL, 0, stream->peer, match_of(i, END), NULL,
			&stream->end));
	finish_with(stream->ep, &stream->end, OMX_SUCCESS);
}

static void run_client(void)
{
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	uint64_t messages = 0;
	uint32_t i;

	CHECK(options.count <= STREAMS_MAX && options.window <= WINDOW_MAX);
	open_streams(ep, peer);
	barrier(ep, peer);
	printf("sending\n");
	fflush(stdout);
	while (!stopped)
		for (i = 0; i < options.count; i++)
			go_on(i);
	for (i = 0; i < options.count; i++) {
		finish_stream(i);
		messages += streams[i].begun;
		if (i)
			MUST(omx_close_endpoint(streams[i].ep));
	}
	printf("%llu messages were sent\n", (unsigned long long)messages);
	part(ep, peer);
}

/* ---- server ---- */

static char *buffers[RECEIVES];
static omx_request_t receives[RECEIVES];
static uint32_t ended;

static void post(omx_endpoint_t ep, uint32_t i)
{
	MUST(omx_irecv(ep, buffers[i], options.length, 0, CONTROL, NULL, &receives[i]));
}

/* The streams' messages are matched in order, but large ones need not end in order. */
static uint64_t arrived(uint32_t i, const omx_status_t *status)
{
	EQUAL(status->code, OMX_SUCCESS);
	if ((uint32_t)status->match_info == END) {
		ended++;
		return 0;
	}
	EQUAL(status->msg_length, options.length);
	verify(buffers[i], options.length, status->match_info);
	return 1;
}

/* Returns how many messages these were. */
static uint64_t take_arrived(omx_endpoint_t ep)
{
	uint64_t messages = 0;
	omx_status_t status;
	uint32_t i;

	for (i = 0; i < RECEIVES; i++) {
		if (!is_done(ep, &receives[i], &status))
			continue;
		messages += arrived(i, &status);
		post(ep, i);
	}
	return messages;
}

static void run_server(void)
{
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	uint64_t messages = 0;
	uint32_t i;

	for (i = 0; i < RECEIVES; i++) {
		buffers[i] = allocate(options.length);
		post(ep, i);
	}
	barrier(ep, peer);
	while (ended < options.count)
		messages += take_arrived(ep);
	messages += take_arrived(ep);	/* those that the last round has passed before they ended */
	printf("%llu messages were received\n", (unsigned long long)messages);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	signal(SIGUSR1, stop);
	options.length = 65536;
	options.count = 1;
	options.window = 4;
	return run_pair(argc, argv, run_server, run_client);
}
