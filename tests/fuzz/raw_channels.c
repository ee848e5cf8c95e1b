// SPDX-License-Identifier: BSD-2-Clause
/*
 * raw_channels --to MAC --endpoint N --mode MODE --count N: a host
 * that begins channels with an endpoint and never goes on with them.  Their
 * frames are those of the protocol, but nothing here answers.
 *
 * ahead: N channels, each of which sends packets 2 to 64 of a flow, all of
 * the largest size, and never packet 1.
 * fragments: N channels, each of which sends the first 30000 bytes of a message
 * of 65536 one by one.
 * sessions: N sessions, one after the other on each of 200 endpoints; each
 * sends one message of 8 bytes.
 * late: a session asks the server of life_hosts, is answered and says that it is
 * closed.  Then it sends the same packet N times again, which nobody may answer,
 * and at last asks with a newer flow, which must be answered.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <getopt.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* wire.h is written for the kernel */
#define __packed	__attribute__((packed))
#include "omx_wire.h"

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

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void open_socket(const char *interface)
{
	struct timeval timeout = { .tv_usec = 100000 };
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(OMX_ETHERTYPE_DEFAULT),
		.sll_ifindex = if_nametoindex(interface),
	};
	int room = 128 << 20;	/* frames that the receiver keeps can count here */
	struct ifreq request = { 0 };

	fd = socket(AF_PACKET, SOCK_RAW, htons(OMX_ETHERTYPE_DEFAULT));
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)))
		die("socket");
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room)))
		die("SO_SNDBUFFORCE");
	strncpy(request.ifr_name, interface, IFNAMSIZ - 1);
	if (ioctl(fd, SIOCGIFHWADDR, &request))
		die(interface);
	memcpy(frame.eth.ether_shost, request.ifr_hwaddr.sa_data, ETH_ALEN);
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
	fputs("raw_channels: nobody answers\n", stderr);
	exit(1);
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

static void fragments(unsigned int count)
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

static void ahead(unsigned int count)
{
	unsigned int i;
	uint32_t seq;

	for (i = 0; i < count; i++) {
		for (seq = 2; seq <= WINDOW; seq++)
			send_eager(i, first_session + i, seq, PAYLOAD_MAX);
		usleep(2000);		/* no queue on the way shall drop them */
	}
}

static void sessions(unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		send_eager(i % ENDPOINTS, first_session + i, 1, 8);
		if (i % 16 == 0)
			usleep(1000);
	}
}

static void ask(uint16_t flow)
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

/* How many times the answer, which is synchronous, is announced in this time. */
static unsigned int answers(unsigned int tenths)
{
	struct timespec begin, now;
	struct frame answer;
	unsigned int n = 0;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		if (recv(fd, &answer, sizeof(answer), 0) > 0 &&
		    answer.head.type == OMX_WIRE_RNDV &&
		    answer.head.dst_session == htonl(first_session))
			n++;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 10 +
		 (now.tv_nsec - begin.tv_nsec) / 100000000 < tenths);
	return n;
}

static void must(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "raw_channels: %s\n", what);
	exit(1);
}

static void late(unsigned int count)
{
	unsigned int i;

	ask(1);
	must(answers(5) > 0, "no answer");
	say_closed();
	answers(5);		/* the end is noticed; what was on its way arrives */
	for (i = 0; i < count; i++)
		ask(1);
	must(!answers(10), "a message was delivered twice");
	ask(2);
	must(answers(5) > 0, "no answer to a newer flow");
	say_closed();
}

static void parse_mac(const char *text)
{
	unsigned int byte[ETH_ALEN], i;

	if (sscanf(text, "%x:%x:%x:%x:%x:%x", &byte[0], &byte[1], &byte[2], &byte[3],
		   &byte[4], &byte[5]) != ETH_ALEN)
		exit(2);
	for (i = 0; i < ETH_ALEN; i++)
		frame.eth.ether_dhost[i] = byte[i];
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
		case 't': parse_mac(optarg); break;
		case 'e': endpoint = atoi(optarg); break;
		case 'm': mode = optarg; break;
		case 'n': count = atoi(optarg); break;
		default: exit(2);
		}
	}
	first_session = (uint32_t)time(NULL) * 2654435761u | 1;
	open_socket("eth0");
	connect_to_endpoint();
	if (!strcmp(mode, "ahead"))
		ahead(count);
	else if (!strcmp(mode, "fragments"))
		fragments(count);
	else if (!strcmp(mode, "sessions"))
		sessions(count);
	else if (!strcmp(mode, "late"))
		late(count);
	else
		exit(2);
	printf("%s: %u channels begun\n", mode, count);
	return 0;
}
