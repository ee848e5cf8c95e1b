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
#include <net/ethernet.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* wire.h is written for the kernel */
#define __packed	__attribute__((packed))
#include "omx_wire.h"

#include "check.h"
#include "clock.h"
#include "ethernet.h"

#define KEY		0x1234
#define WINDOW		64
#define ENDPOINTS	200
#define FRAGMENTS	30000
#define PAYLOAD_MAX	8944
#define TRIES		20	/* connects, 0.1 s each */
#define QUESTION	1	/* of life_hosts */
#define CLOSED		2	/* status */

struct frame {
	struct ether_header eth;
	struct omx_wire_head head;
	union {
		struct omx_wire_connect connect;
		struct omx_wire_connect_response reply;
		struct omx_wire_eager eager;
		struct omx_wire_nack nack;
		uint8_t bytes[sizeof(struct omx_wire_eager) + PAYLOAD_MAX];
	};
} __packed;

static int fd;
static struct frame frame;
static uint16_t endpoint;
static uint32_t session, first_session;

static void open_channels_socket(const char *interface)
{
	struct timeval timeout = { .tv_usec = 100000 };
	int room = 128 << 20;	/* frames that the receiver keeps can count here */

	fd = ethernet_open(interface, OMX_ETHERTYPE_DEFAULT);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room)))
		die("SO_SNDBUFFORCE");
	ethernet_own_mac(interface, frame.eth.ether_shost);
}

static void send_frame(uint8_t type, uint16_t from, uint32_t from_session, unsigned int body)
{
	unsigned int length = sizeof(frame.head) + body;

	frame.eth.ether_type = htons(OMX_ETHERTYPE_DEFAULT);
	frame.head = (struct omx_wire_head){
		.version = OMX_WIRE_VERSION,
		.type = type,
		.length = htons(length),
		.dst_endpoint = htons(endpoint),
		.src_endpoint = htons(from),
		.dst_session = type == OMX_WIRE_CONNECT ? 0 : htonl(session),
		.src_session = htonl(from_session),
	};
	if (send(fd, &frame, sizeof(frame.eth) + length, 0) < 0)
		die("send");
}

/* Learns the session of the endpoint. */
static void connect_to_endpoint(void)
{
	struct frame answer;
	int tries;

	for (tries = 0; tries < TRIES; tries++) {
		frame.connect = (struct omx_wire_connect){ htonl(KEY), htonl(first_session) };
		send_frame(OMX_WIRE_CONNECT, 0, first_session, sizeof(frame.connect));
		while (recv(fd, &answer, sizeof(answer), 0) > 0) {
			if (answer.head.type != OMX_WIRE_CONNECT_RESPONSE ||
			    answer.reply.cookie != htonl(first_session) || answer.reply.status)
				continue;
			session = ntohl(answer.head.src_session);
			return;
		}
	}
	CHECK(false, "nobody answers");
}

static void send_fragment(uint16_t from, uint32_t from_session, uint32_t seq,
			  unsigned int payload, uint32_t offset, uint32_t length)
{
	frame.eager = (struct omx_wire_eager){
		.sequence = {
			.flow = htons(1),
			.seq = htonl(seq),
			.window = htons(WINDOW),
		},
		.msg_length = htonl(length),
		.offset = htonl(offset),
	};
	send_frame(OMX_WIRE_EAGER, from, from_session, sizeof(frame.eager) + payload);
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
	frame.eager = (struct omx_wire_eager){
		.sequence = {
			.flow = htons(flow),
			.seq = htonl(1),
			.window = htons(WINDOW),
		},
		.match_info = htobe64(QUESTION),
		.msg_length = htonl(1),
	};
	send_frame(OMX_WIRE_EAGER, ENDPOINTS, first_session, sizeof(frame.eager) + 1);
}

static void say_closed(void)
{
	frame.nack = (struct omx_wire_nack){ .status = CLOSED };
	send_frame(OMX_WIRE_NACK, ENDPOINTS, first_session, sizeof(frame.nack));
}

/* Counts how often the server announces its synchronous answer in this time. */
static unsigned int count_answers(unsigned int tenths)
{
	double end = now() + tenths * 0.1;
	struct frame answer;
	unsigned int n = 0;

	do {
		if (recv(fd, &answer, sizeof(answer), 0) > 0 &&
		    answer.head.type == OMX_WIRE_RNDV &&
		    answer.head.dst_session == htonl(first_session))
			n++;
	} while (now() < end);
	return n;
}

static void repeat_late(unsigned int count)
{
	unsigned int i;

	ask_server(1);
	CHECK(count_answers(5) > 0, "no answer");
	say_closed();
	count_answers(5);		/* the server handles the end; frames in flight arrive */
	for (i = 0; i < count; i++)
		ask_server(1);
	CHECK(!count_answers(10), "a message was delivered twice");
	ask_server(2);
	CHECK(count_answers(5) > 0, "no answer to a newer flow");
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
		case 't': ethernet_parse_mac(optarg, frame.eth.ether_dhost); break;
		case 'e': endpoint = atoi(optarg); break;
		case 'm': mode = optarg; break;
		case 'n': count = atoi(optarg); break;
		default: exit(2);
		}
	}
	first_session = (uint32_t)time(NULL) * 2654435761u | 1;
	open_channels_socket("eth0");
	connect_to_endpoint();
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
