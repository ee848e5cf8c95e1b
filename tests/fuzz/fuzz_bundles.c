// SPDX-License-Identifier: BSD-2-Clause
/*
 * fuzz_bundles [--count N] [--seed S]: a host without omx sends N packets with several
 * messages each: as many as fit, with none or 4096 bytes, or longer ones in long bundles, of
 * which a length is wrong, or cut.
 * It keeps to no window, and the program looks at its ring now and then only.  Whatever lies
 * before the first wrong message of a packet is delivered once, in order and with its bytes.
 *
 * Runs on node 1.  The frames come from the interface of node 2, which omx does not use.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "chance.h"
#include "endpoints.h"
#include "ethernet.h"
#include "raw_host.h"

#define WINDOW		64
#define OWN		200	/* endpoint */
#define FLOW		1
#define ROOM		8900	/* bytes of messages in a packet */

static struct raw_host host;
static omx_endpoint_t ep;
static uint32_t session, count = 2000;

/* What was sent and has not been acknowledged. */
static struct packet {
	uint8_t bytes[ROOM];
	unsigned int length;
	int is_long;		/* as a long bundle, of one packet */
} packets[WINDOW];

/* What has to be delivered, and has not been yet. */
struct message {
	struct message *next;
	uint64_t match;
	uint32_t length;
	uint8_t bytes[];
};
static struct message *expected, **expected_end = &expected;
static unsigned long long delivered, spoiled;

/* ---- packets ---- */

static void expect(const struct omx_wire_bundled *at)
{
	uint32_t length = ntohl(at->msg_length);
	struct message *message = allocate(sizeof(*message) + length);

	message->next = NULL;
	message->match = be64toh(at->match_info);
	message->length = length;
	memcpy(message->bytes, at + 1, length);
	*expected_end = message;
	expected_end = &message->next;
}

/* Everything before the first message that is not whole, or too long. */
static void expect_messages(const struct packet *packet)
{
	uint64_t at = 0, length;

	while (at < packet->length) {
		const struct omx_wire_bundled *message = (const void *)(packet->bytes + at);

		length = at + sizeof(*message) <= packet->length ? ntohl(message->msg_length) :
			 UINT32_MAX;
		if (length > (packet->is_long ? 16384 : 4096) ||
		    at + sizeof(*message) + length > packet->length) {
			spoiled++;
			return;
		}
		expect(message);
		at = (at + sizeof(*message) + length + 7) / 8 * 8;
	}
}

static uint32_t any_length(unsigned int shape, int is_long)
{
	switch (shape) {
	case 0:
		return 0;
	case 1:
		return any_below(9);
	case 2:
		return 4096 - any_below(2);
	case 3:
		return is_long ? 4096 + any_below(4700) : 4096;
	default:
		return any_below(any_below(4) ? 100 : 4097);
	}
}

static uint32_t wrong_length(uint32_t length)
{
	switch (any_below(4)) {
	case 0:
		return 4096 + any_below(3);
	case 1:
		return 16384 + any_below(3);
	case 2:
		return length + any_below(32) - 16;
	default:
		return any_extreme();
	}
}

static void make_packet(struct packet *packet)
{
	unsigned int shape = any_below(6), at = 0, n = 0;
	unsigned int wrong = any_below(3) ? ~0u : any_below(20);

	packet->is_long = any_below(2);
	any_bytes(packet->bytes, ROOM);
	do {
		struct omx_wire_bundled *message = (void *)(packet->bytes + at);
		uint32_t length = any_length(shape, packet->is_long);

		if (at + sizeof(*message) + length > ROOM)
			break;
		message->msg_length = htonl(n++ == wrong ? wrong_length(length) : length);
		at = (at + sizeof(*message) + length + 7) / 8 * 8;
	} while (at + sizeof(struct omx_wire_bundled) <= ROOM && any_below(400));
	if (!any_below(8))
		at -= any_below(at - sizeof(struct omx_wire_bundled) + 1);
	packet->length = at < ROOM ? at : ROOM;
	expect_messages(packet);
}

static void send_packet(uint32_t seq)
{
	const struct packet *packet = &packets[seq % WINDOW];
	unsigned int body;

	host.frame.sequence = (struct omx_wire_sequence){
		.flow = htons(FLOW),
		.seq = htonl(seq),
		.window = htons(WINDOW),
	};
	if (packet->is_long) {
		host.frame.eager.sequence.flags = OMX_SEQUENCE_BUNDLE;
		host.frame.eager.match_info = 0;
		host.frame.eager.msg_length = htonl(packet->length);
		host.frame.eager.offset = 0;
	}
	body = packet->is_long ? sizeof(host.frame.eager) : sizeof(host.frame.sequence);
	memcpy(host.frame.bytes + body, packet->bytes, packet->length);
	raw_host_send(&host, packet->is_long ? OMX_WIRE_EAGER : OMX_WIRE_BUNDLE, OWN, session,
		      body + packet->length);
}

/* The newest acknowledgement that has come. */
static uint32_t receive_ack(uint32_t acked)
{
	struct raw_frame frame;
	uint32_t ack;

	while (raw_host_receive(&host, session, &frame)) {
		CHECK(frame.head.type != OMX_WIRE_NACK, "status %u", frame.nack.status);
		ack = ntohl(frame.ack.ack);
		if (frame.head.type == OMX_WIRE_ACK && frame.ack.flow == htons(FLOW) && ack > acked)
			return ack;
	}
	return acked;
}

/* ---- the program ---- */

static void receive_one(void)
{
	struct message *message = expected;
	static uint8_t buffer[ROOM];
	omx_request_t request;
	omx_status_t status;

	MUST(omx_irecv(ep, buffer, sizeof(buffer), 0, 0, NULL, &request));
	status = finish_with(ep, &request, OMX_SUCCESS);
	EQUAL(status.match_info, message->match);
	EQUAL(status.xfer_length, message->length);
	CHECK(!memcmp(buffer, message->bytes, message->length), "message %llu", delivered);
	expected = message->next;
	if (!expected)
		expected_end = &expected;
	free(message);
	delivered++;
}

/* Reads what has arrived, up to some moment. */
static void receive_some(void)
{
	uint32_t result = 1;

	while (any_below(2000)) {
		MUST(omx_iprobe(ep, 0, 0, NULL, &result));
		if (!result)
			return;
		CHECK(expected, "after %llu messages", delivered);
		receive_one();
	}
}

static void run(void)
{
	uint32_t next = 1, acked = 0, now_acked, seq;
	double progress = now();

	while (acked < count) {
		for (; next <= count && next - acked <= WINDOW; next++) {
			make_packet(&packets[next % WINDOW]);
			send_packet(next);
		}
		now_acked = receive_ack(acked);
		if (now_acked > acked)
			progress = now();
		else
			for (seq = acked + 1; seq < next; seq++)
				send_packet(seq);
		acked = now_acked;
		/* More and more of the ring is taken meanwhile. */
		if (!any_below(3))
			receive_some();
		CHECK(now() - progress < PATIENCE_S, "packet %u", acked + 1);
	}
	while (expected)
		receive_one();
	receive_some();
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "count",	required_argument, NULL, 'n' },
		{ "seed",	required_argument, NULL, 's' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	chance.state = time(NULL) * 1000003ull | 1;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'n': count = atoi(optarg); break;
		case 's': chance.state = strtoull(optarg, NULL, 0); break;
		default: exit(2);
		}
	}
	printf("seed %llu\n", (unsigned long long)chance.state);
	fflush(stdout);
	session = any_word() | 1;
	MUST(omx_init());
	ep = open_any();
	raw_host_open_on(&host, 2, "eth0");
	ethernet_own_mac("eth0", host.frame.eth.ether_dhost);
	host.endpoint = number_of(ep);
	raw_host_connect(&host, KEY, OWN, session);
	run();
	printf("%u packets, of which %llu were wrong: %llu messages\n", count, spoiled, delivered);
	CHECK(spoiled > count / 10 && delivered > count);
	MUST(omx_close_endpoint(ep));
	MUST(omx_finalize());
	return 0;
}
