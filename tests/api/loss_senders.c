// SPDX-License-Identifier: BSD-2-Clause
/*
 * --count endpoints on one host stream messages of 64 KiB to one endpoint, which
 * verifies them in the order of arrival and answers each.  A stream has a few messages
 * under way whose answers it awaits: the rate is that of the receiver.  After BEFORE seconds without loss the link loses
 * --percent of all frames for --seconds, and after that none: in the second
 * second after the loss as much must arrive as in the second one before it.
 */
#include <stdio.h>

#include "endpoints.h"

#define STREAMS_MAX	128
#define WINDOW		4		/* messages under way of each stream */
#define LENGTH		65536
#define FIRST		16		/* endpoint of the first stream */
#define BEFORE		2		/* seconds */
#define AFTER		2
#define NOTICE		(CONTROL + 100)
#define END		0xffffffffu	/* number of a stream's last message */
#define ENOUGH		0.75		/* of the rate before the loss */
#define BIN		0.1		/* s */
#define BINS		6000

/* A message and its answer. */
struct exchange {
	char *buffer;
	omx_request_t send, answer;
	bool is_sent;
};

struct stream {
	omx_endpoint_t ep;
	omx_endpoint_addr_t peer;
	struct exchange exchanges[WINDOW];
	omx_request_t end;
	uint32_t begun, ended;
};

/* When what happened, by the clock that both sides share. */
struct notice {
	double began, lost, healed;
};

static struct stream streams[STREAMS_MAX];

static uint64_t match_of(uint32_t stream, uint32_t number)
{
	return (uint64_t)stream << 32 | number;
}

static void open_stream(struct stream *stream, uint32_t i, uint64_t nic)
{
	uint32_t slot;

	stream->ep = open_number(FIRST + i, NULL, 0);
	stream->peer = connect_to(stream->ep, nic, options.endpoint);
	for (slot = 0; slot < WINDOW; slot++) {
		stream->exchanges[slot].buffer = allocate(LENGTH);
		fill(stream->exchanges[slot].buffer, LENGTH, match_of(i, slot), 0);
	}
}

static bool has_ended(struct stream *stream, struct exchange *exchange)
{
	omx_status_t status;

	if (!exchange->is_sent) {
		if (!is_done(stream->ep, &exchange->send, &status))
			return false;
		EQUAL(status.code, OMX_SUCCESS);
		exchange->is_sent = true;
	}
	if (!is_done(stream->ep, &exchange->answer, &status))
		return false;
	EQUAL(status.code, OMX_SUCCESS);
	return true;
}

static void go_on(struct stream *stream, uint32_t i)
{
	struct exchange *exchange = &stream->exchanges[stream->begun % WINDOW];
	uint64_t match = match_of(i, stream->begun);

	if (stream->begun - stream->ended == WINDOW) {
		if (!has_ended(stream, exchange))
			return;
		stream->ended++;
	}
	MUST(omx_irecv(stream->ep, NULL, 0, match, ~0ull, NULL, &exchange->answer));
	MUST(omx_isend(stream->ep, exchange->buffer, LENGTH, stream->peer, match, NULL,
		       &exchange->send));
	exchange->is_sent = false;
	stream->begun++;
}

/* Returns when it began. */
static double stream_for(double seconds)
{
	double begin = now();
	uint32_t i;

	while (now() - begin < seconds)
		for (i = 0; i < options.count; i++)
			go_on(&streams[i], i);
	return begin;
}

static void finish_stream(struct stream *stream)
{
	for (; stream->ended != stream->begun; stream->ended++) {
		struct exchange *exchange = &stream->exchanges[stream->ended % WINDOW];

		if (!exchange->is_sent)
			finish_with(stream->ep, &exchange->send, OMX_SUCCESS);
		finish_with(stream->ep, &exchange->answer, OMX_SUCCESS);
	}
	finish_with(stream->ep, &stream->end, OMX_SUCCESS);
	MUST(omx_close_endpoint(stream->ep));
}

static void run_client(void)
{
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	char name[OMX_HOSTNAMELEN_MAX], command[100];
	struct notice notice;
	uint64_t nic;
	uint32_t i;

	snprintf(name, sizeof(name), "%s", options.peer);
	MUST(omx_hostname_to_nic_id(name, &nic));
	for (i = 0; i < options.count; i++)
		open_stream(&streams[i], i, nic);
	barrier(ep, peer);
	notice.began = stream_for(BEFORE);
	snprintf(command, sizeof(command), "tc qdisc add dev eth0 root netem loss %u%% limit 100000",
		 options.percent);
	run_command(command);
	notice.lost = stream_for(options.seconds);
	run_command("tc qdisc del dev eth0 root");
	notice.healed = stream_for(AFTER);
	for (i = 0; i < options.count; i++)
		MUST(omx_issend(streams[i].ep, NULL, 0, streams[i].peer, match_of(i, END), NULL,
				&streams[i].end));
	for (i = 0; i < options.count; i++)
		finish_stream(&streams[i]);
	send_sync(ep, peer, &notice, sizeof(notice), NOTICE);
	part(ep, peer);
}

/* How many messages arrived in the second that begins then. */
static uint32_t arrived_in(const uint32_t *bins, double begin)
{
	uint32_t i, sum = 0, first = begin / BIN + 1;

	for (i = 0; i < 1 / BIN - 1; i++)
		sum += bins[first + i];
	return sum;
}

static void judge(const uint32_t *bins, double origin, const struct notice *notice)
{
	uint32_t before = arrived_in(bins, notice->began + 1 - origin);
	uint32_t with = arrived_in(bins, notice->lost + options.seconds - 1 - origin);
	uint32_t first = arrived_in(bins, notice->healed - origin);
	uint32_t second = arrived_in(bins, notice->healed + 1 - origin);

	printf("messages per second: %u before the loss, %u at its end, %u and %u after it\n",
	       before, with, first, second);
	CHECK(second >= ENOUGH * before, "%u and %u", before, second);
}

static void run_server(void)
{
	static char buffer[LENGTH];
	static uint32_t next[STREAMS_MAX], bins[BINS];
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	struct notice notice;
	omx_request_t request;
	omx_status_t status;
	uint32_t stream, ends = 0;
	double origin;

	barrier(ep, peer);
	for (origin = now(); ends < options.count;) {
		MUST(omx_irecv(ep, buffer, LENGTH, 0, CONTROL, NULL, &request));
		status = finish_with(ep, &request, OMX_SUCCESS);
		stream = status.match_info >> 32;
		CHECK(stream < options.count);
		if ((uint32_t)status.match_info == END) {
			ends++;
			continue;
		}
		EQUAL((uint32_t)status.match_info, next[stream]);
		EQUAL(status.msg_length, LENGTH);
		verify(buffer, LENGTH, match_of(stream, next[stream]++ % WINDOW));
		MUST(omx_isend(ep, NULL, 0, status.addr, status.match_info, NULL, &request));
		finish_with(ep, &request, OMX_SUCCESS);
		bins[(uint32_t)((now() - origin) / BIN) % BINS]++;
	}
	EQUAL(receive(ep, &notice, sizeof(notice), NOTICE).xfer_length, sizeof(notice));
	judge(bins, origin, &notice);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	options.count = STREAMS_MAX;
	options.percent = 50;
	options.seconds = 5;
	return run_pair(argc, argv, run_server, run_client);
}
