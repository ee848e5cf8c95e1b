// SPDX-License-Identifier: BSD-2-Clause
/*
 * 128 endpoints stream messages of 64 KiB to one endpoint, which receives them
 * in the order of arrival, over links that lose half of all frames for
 * --seconds.  When the loss has ended, everything must arrive within LIMIT.
 */
#include <stdio.h>

#include "endpoints.h"

#define STREAMS		128
#define WINDOW		10		/* messages under way of each stream */
#define LENGTH		65536
#define FIRST		16		/* endpoint of the first stream */
#define LIMIT		20.0		/* seconds */
#define END		0xffffffffu	/* number of a stream's last message */

struct stream {
	omx_endpoint_t ep;
	omx_endpoint_addr_t peer;
	omx_request_t requests[WINDOW], end;
	char *buffers[WINDOW];
	uint32_t begun, ended;
};

static uint64_t match_of(uint32_t stream, uint32_t number)
{
	return (uint64_t)stream << 32 | number;
}

static void begin_message(struct stream *stream, uint32_t i)
{
	uint32_t slot = stream->begun % WINDOW;

	fill(stream->buffers[slot], LENGTH, match_of(i, stream->begun), 0);
	MUST(omx_isend(stream->ep, stream->buffers[slot], LENGTH, stream->peer,
		       match_of(i, stream->begun), NULL, &stream->requests[slot]));
	stream->begun++;
}

static void go_on(struct stream *stream, uint32_t i)
{
	omx_status_t status;

	if (stream->begun - stream->ended == WINDOW) {
		if (!is_done(stream->ep, &stream->requests[stream->ended % WINDOW], &status))
			return;
		EQUAL(status.code, OMX_SUCCESS);
		stream->ended++;
	}
	begin_message(stream, i);
}

static void finish_stream(struct stream *stream)
{
	for (; stream->ended != stream->begun; stream->ended++)
		finish_with(stream->ep, &stream->requests[stream->ended % WINDOW], OMX_SUCCESS);
	finish_with(stream->ep, &stream->end, OMX_SUCCESS);
}

static void run_client(void)
{
	static struct stream streams[STREAMS];
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	char name[OMX_HOSTNAMELEN_MAX];
	uint64_t nic, messages = 0;
	double begin;
	uint32_t i, j;

	snprintf(name, sizeof(name), "%s", options.peer);
	MUST(omx_hostname_to_nic_id(name, &nic));
	for (i = 0; i < STREAMS; i++) {
		streams[i].ep = open_number(FIRST + i, NULL, 0);
		streams[i].peer = connect_to(streams[i].ep, nic, options.endpoint);
		for (j = 0; j < WINDOW; j++)
			streams[i].buffers[j] = allocate(LENGTH);
	}
	barrier(ep, peer);
	run_command("tc qdisc add dev eth0 root netem loss 50% delay 20ms limit 100000");
	for (begin = now(); now() - begin < options.seconds;)
		for (i = 0; i < STREAMS; i++)
			go_on(&streams[i], i);
	run_command("tc qdisc del dev eth0 root");
	begin = now();
	for (i = 0; i < STREAMS; i++)
		MUST(omx_issend(streams[i].ep, NULL, 0, streams[i].peer, match_of(i, END),
				NULL, &streams[i].end));
	for (i = 0; i < STREAMS; i++) {
		finish_stream(&streams[i]);
		messages += streams[i].begun;
		MUST(omx_close_endpoint(streams[i].ep));
	}
	printf("%llu messages have arrived %.3f s after the loss\n",
	       (unsigned long long)messages, now() - begin);
	CHECK(now() - begin < LIMIT, "%.3f s", now() - begin);
	part(ep, peer);
}

static void run_server(void)
{
	static char buffer[LENGTH];
	static uint32_t next[STREAMS];
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	omx_request_t request;
	omx_status_t status;
	uint32_t stream, ends = 0;

	barrier(ep, peer);
	while (ends < STREAMS) {
		MUST(omx_irecv(ep, buffer, LENGTH, 0, CONTROL, NULL, &request));
		status = finish_with(ep, &request, OMX_SUCCESS);
		stream = status.match_info >> 32;
		CHECK(stream < STREAMS);
		if ((uint32_t)status.match_info == END) {
			ends++;
			continue;
		}
		EQUAL((uint32_t)status.match_info, next[stream]++);
		EQUAL(status.msg_length, LENGTH);
		verify(buffer, LENGTH, status.match_info);
	}
	part(ep, peer);
}

int main(int argc, char **argv)
{
	options.seconds = 3;
	return run_pair(argc, argv, run_server, run_client);
}
