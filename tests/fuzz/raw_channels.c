// SPDX-License-Identifier: BSD-2-Clause
/*
 * raw_channels --to MAC --endpoint N --mode MODE --count N: a host that opens
 * channels to an endpoint and never completes its messages.  Its frames are
 * valid, but it does not respond to any frame.
 *
 * ahead: N channels, each of which sends packets 2 to 64 of a flow, all of
 * the largest size, and never packet 1.
 * fragments: N channels, each of which sends the first 30000 bytes of a message
 * of 65536 one by one.
 * sessions: N sessions, one after the other on each of 200 endpoints; each
 * sends one message of 8 bytes.
 * late: a session sends a request to the server of life_hosts, receives the
 * answer and reports that it is closed.  Then it sends the same packet N times
 * again, which must not be answered, and finally a request of a newer flow,
 * which must be answered.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "clock.h"
#include "ethernet.h"
#include "raw_host.h"

#define KEY		0x1234
#define WINDOW		64
#define ENDPOINTS	200
#define FRAGMENTS	30000
#define PAYLOAD_MAX	8944
#define QUESTION	1	/* of life_hosts */
#define CLOSED		2	/* status */

static struct raw_host host;
static uint32_t first_session;

static void open_channels_socket(const char *interface)
{
	int room = 128 << 20;	/* frames that the receiver keeps can count here */

	raw_host_open(&host, interface);
	if (setsockopt(host.fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room)))
		die("SO_SNDBUFFORCE");
}

static void send_fragment(uint16_t from, uint32_t from_session, uint32_t seq,
			  unsigned int payload, uint32_t offset, uint32_t length)
{
	host.frame.eager = (struct omx_wire_eager){
		.sequence = {
			.flow = htons(1),
			.seq = htonl(seq),
			.window = htons(WINDOW),
		},
		.msg_length = htonl(length),
		.offset = htonl(offset),
	};
	raw_host_send(&host, OMX_WIRE_EAGER, from, from_session, sizeof(host.frame.eager) + payload);
}

static void send_eager(uint16_t from, uint32_t from_session, uint32_t seq, unsigned int payload)
{
	send_fragment(from, from_session, seq, payload, 0, payload);
}

static void begin_with_fragments(unsigned int count)
{
	unsigned int i;
	uint32_t seq;

	for (i = 0; i < count; i++)
		for (seq = 1; seq <= FRAGMENTS; seq++) {
			send_fragment(ENDPOINTS + i, first_session + i, seq, 1, seq - 1,
				      OMX_WIRE_EAGER_MAX);
			if (seq % 64 == 0)
				usleep(500);
		}
}

static void begin_ahead(unsigned int count)
{
	unsigned int i;
	uint32_t seq;

	for (i = 0; i < count; i++) {
		for (seq = 2; seq <= WINDOW; seq++)
			send_eager(i, first_session + i, seq, PAYLOAD_MAX);
		usleep(2000);		/* so that no queue overflows */
	}
}

static void begin_sessions(unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		send_eager(i % ENDPOINTS, first_session + i, 1, 8);
		if (i % 16 == 0)
			usleep(1000);
	}
}

static void ask_server(uint16_t flow)
{
	host.frame.eager = (struct omx_wire_eager){
		.sequence = {
			.flow = htons(flow),
			.seq = htonl(1),
			.window = htons(WINDOW),
		},
		.match_info = htobe64(QUESTION),
		.msg_length = htonl(1),
	};
	raw_host_send(&host, OMX_WIRE_EAGER, ENDPOINTS, first_session, sizeof(host.frame.eager) + 1);
}

static void say_closed(void)
{
	host.frame.nack = (struct omx_wire_nack){ .status = CLOSED };
	raw_host_send(&host, OMX_WIRE_NACK, ENDPOINTS, first_session, sizeof(host.frame.nack));
}

/* Counts how often the server announces its synchronous answer in this time. */
static unsigned int count_answers(unsigned int tenths)
{
	double end = now() + tenths * 0.1;
	struct raw_frame answer;
	unsigned int n = 0;

	do {
		n += raw_host_receive(&host, first_session, &answer) &&
		     answer.head.type == OMX_WIRE_RNDV;
	} while (now() < end);
	return n;
}

/* On a busy machine it takes its time. */
static void await_answer(const char *what)
{
	unsigned int tenths;

	for (tenths = 0; tenths < 50; tenths++)
		if (count_answers(1))
			return;
	CHECK(false, "no answer%s", what);
}

static void repeat_late(unsigned int count)
{
	unsigned int i;

	ask_server(1);
	await_answer("");
	say_closed();
	count_answers(5);		/* the server handles the end; frames in flight arrive */
	for (i = 0; i < count; i++)
		ask_server(1);
	CHECK(!count_answers(10), "a message was delivered twice");
	ask_server(2);
	await_answer(" to a newer flow");
	say_closed();
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "to",		required_argument, NULL, 't' },
		{ "endpoint",	required_argument, NULL, 'e' },
		{ "mode",	required_argument, NULL, 'm' },
		{ "count",	required_argument, NULL, 'n' },
		{ NULL, 0, NULL, 0 },
	};
	const char *mode = "";
	unsigned int count = 0;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 't': ethernet_parse_mac(optarg, host.frame.eth.ether_dhost); break;
		case 'e': host.endpoint = atoi(optarg); break;
		case 'm': mode = optarg; break;
		case 'n': count = atoi(optarg); break;
		default: exit(2);
		}
	}
	first_session = (uint32_t)time(NULL) * 2654435761u | 1;
	open_channels_socket("eth0");
	raw_host_connect(&host, KEY, 0, first_session);
	if (!strcmp(mode, "ahead"))
		begin_ahead(count);
	else if (!strcmp(mode, "fragments"))
		begin_with_fragments(count);
	else if (!strcmp(mode, "sessions"))
		begin_sessions(count);
	else if (!strcmp(mode, "late"))
		repeat_late(count);
	else
		exit(2);
	printf("%s: %u channels begun\n", mode, count);
	return 0;
}
