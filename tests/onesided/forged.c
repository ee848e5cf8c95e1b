// SPDX-License-Identifier: BSD-2-Clause
/*
 * one_forged --to MAC --endpoint N --keys 'WINDOW SECRET SECRET SECRET...': a host
 * without omx that accesses the windows of one_guarded with frames of its own making:
 * with keys that it made up, with valid keys where they do not permit it, with fields
 * that no initiator sends.  It checks each response, and responds to nothing itself.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "omx_abi.h"

#include "check.h"
#include "clock.h"
#include "contents.h"
#include "ethernet.h"
#include "raw_host.h"

#define ENDPOINT_KEY	0x1234
#define SIZE		(64 * 4096ull)	/* of the windows */
#define INITIAL		1		/* their contents */
#define OWN_ENDPOINT	7
#define MESSAGE		77		/* that we announce and never supply */
#define PAYLOAD_MAX	5000
#define GET_LENGTH	1400		/* nobody has told the target our MTU */

enum { ALL, OTHERS, GET_ONLY, WINDOWS };

static struct raw_host host;
static struct raw_frame answer;
static uint32_t own_session;
static uint32_t next_seq = 1, acked;
static uint16_t acked_flow;
static uint32_t next_access = 1;
static struct omx_wire_key keys[WINDOWS];

/* ---- frames ---------------------------------------------------------------------- */

static void send_sequenced(uint8_t type, unsigned int body)
{
	host.frame.sequence = (struct omx_wire_sequence){
		.flow = htons(1),
		.ack_flow = htons(acked_flow),
		.seq = htonl(next_seq),
		.ack = htonl(acked),
		.window = htons(64),
	};
	raw_host_send(&host, type, OWN_ENDPOINT, own_session, body);
}

static bool is_sequenced(uint8_t type)
{
	return (type >= OMX_WIRE_EAGER && type <= OMX_WIRE_NOTIFY) ||
	       (type >= OMX_WIRE_PUT && type <= OMX_WIRE_POST_KEY);
}

/* A new frame for this session, in answer.  Frames that are repeated are no new ones. */
static bool receive_frame(void)
{
	if (!raw_host_receive(&host, own_session, &answer))
		return false;
	if (!is_sequenced(answer.head.type))
		return true;
	if (ntohl(answer.sequence.seq) != acked + 1)
		return false;
	acked++;
	acked_flow = ntohs(answer.sequence.flow);
	return true;
}

/* ---- accesses ----------------------------------------------------------------------- */

static void *clear_body(void)
{
	memset(host.frame.bytes, 0, sizeof(host.frame.bytes));
	return host.frame.bytes;
}

static void make_put(const struct omx_wire_key *key, uint64_t offset, unsigned int payload)
{
	struct omx_wire_put *put = clear_body();

	put->key = *key;
	put->offset = htobe64(offset);
	put->access = htonl(next_access);
	put->length = htonl(payload);
	put->flags = OMX_PUT_LAST;
	memset(put + 1, 0xee, payload);
}

static void make_get(const struct omx_wire_key *key, uint64_t offset, uint64_t length,
		     uint8_t flags)
{
	struct omx_wire_get *get = clear_body();

	get->key = *key;
	get->offset = htobe64(offset);
	get->length = htobe64(length);
	get->access = htonl(next_access);
	get->flags = flags;
}

static void make_atomic(const struct omx_wire_key *key, uint64_t offset, uint8_t operation,
			uint8_t size)
{
	struct omx_wire_atomic *atomic = clear_body();

	atomic->key = *key;
	atomic->offset = htobe64(offset);
	atomic->operand = ~0ull;
	atomic->access = htonl(next_access);
	atomic->operation = operation;
	atomic->size = size;
}

static void make_put_rndv(const struct omx_wire_key *key, uint64_t offset, uint64_t length)
{
	struct omx_wire_put_rndv *put = clear_body();

	put->key = *key;
	put->offset = htobe64(offset);
	put->length = htobe64(length);
	put->message = htonl(MESSAGE);
}

/* Sends the access, which is the next packet, and waits for the response. */
static void expect_status(uint8_t type, unsigned int body, uint8_t status, const char *what)
{
	double end = now() + 5;

	send_sequenced(type, body);
	next_seq++;
	do {
		CHECK(now() < end, "%s: no response", what);
	} while (!receive_frame() || answer.head.type != OMX_WIRE_ACCESS_RESPONSE ||
		 answer.response.access != htonl(next_access));
	CHECK(answer.response.status == status, "%s: status %u instead of %u", what,
	      answer.response.status, status);
	next_access++;
}

static void expect_notify(unsigned int body, uint8_t status, const char *what)
{
	double end = now() + 5;

	send_sequenced(OMX_WIRE_PUT_RNDV, body);
	next_seq++;
	do {
		CHECK(now() < end, "%s: no response", what);
	} while (!receive_frame() || answer.head.type != OMX_WIRE_NOTIFY ||
		 answer.notify.message != htonl(MESSAGE));
	CHECK(answer.notify.status == status, "%s: status %u instead of %u", what,
	      answer.notify.status, status);
}

/* The frame is dropped: the packet that follows it has the same number. */
static void send_invalid(uint8_t type, unsigned int body)
{
	send_sequenced(type, body);
}

static void put_with_status(const struct omx_wire_key *key, uint64_t offset,
			    unsigned int payload, uint8_t status, const char *what)
{
	make_put(key, offset, payload);
	expect_status(OMX_WIRE_PUT, sizeof(struct omx_wire_put) + payload, status, what);
}

static void get_with_status(const struct omx_wire_key *key, uint64_t offset, uint64_t length,
			    uint8_t flags, uint8_t status, const char *what)
{
	make_get(key, offset, length, flags);
	expect_status(OMX_WIRE_GET, sizeof(struct omx_wire_get), status, what);
}

static void atomic_with_status(const struct omx_wire_key *key, uint64_t offset, uint8_t status,
			       const char *what)
{
	make_atomic(key, offset, OMX_WIRE_SWAP, 8);
	expect_status(OMX_WIRE_ATOMIC, sizeof(struct omx_wire_atomic), status, what);
}

/* ---- what is tried --------------------------------------------------------------------- */

static void forge_keys(void)
{
	struct omx_wire_key forged = keys[ALL];

	forged.secret[2] ^= htonl(1);
	put_with_status(&forged, 0, 8, OMX_STATUS_BAD_WINDOW, "another secret");
	get_with_status(&forged, 0, 8, 0, OMX_STATUS_BAD_WINDOW, "another secret");
	get_with_status(&forged, 0, SIZE, OMX_GET_ANNOUNCE, OMX_STATUS_BAD_WINDOW,
			"another secret, announced");
	forged = keys[ALL];
	forged.window = keys[GET_ONLY].window;
	atomic_with_status(&forged, 0, OMX_STATUS_BAD_WINDOW, "another window's secret");
	forged.window = 0;
	put_with_status(&forged, 0, 8, OMX_STATUS_BAD_WINDOW, "window 0");
	forged.window = ~0u;
	put_with_status(&forged, 0, 8, OMX_STATUS_BAD_WINDOW, "window ~0");
	put_with_status(&keys[OTHERS], 0, 8, OMX_STATUS_BAD_WINDOW, "another peer's key");
	make_put_rndv(&forged, 0, 8);
	expect_notify(sizeof(struct omx_wire_put_rndv), OMX_STATUS_BAD_WINDOW, "put, announced");
}

static void exceed_rights(void)
{
	put_with_status(&keys[GET_ONLY], 0, 8, OMX_STATUS_NO_RIGHT, "a put without the right");
	atomic_with_status(&keys[GET_ONLY], 0, OMX_STATUS_NO_RIGHT, "an atomic without it");
	make_put_rndv(&keys[GET_ONLY], 0, SIZE);
	expect_notify(sizeof(struct omx_wire_put_rndv), OMX_STATUS_NO_RIGHT, "a long put without");
}

static void leave_range(void)
{
	put_with_status(&keys[ALL], SIZE, 1, OMX_STATUS_BAD_RANGE, "behind the end");
	put_with_status(&keys[ALL], SIZE - 7, 8, OMX_STATUS_BAD_RANGE, "across the end");
	put_with_status(&keys[ALL], 1ull << 63, 8, OMX_STATUS_BAD_RANGE, "half way round");
	get_with_status(&keys[ALL], SIZE - 4095, 4096, 0, OMX_STATUS_BAD_RANGE, "a get");
	get_with_status(&keys[ALL], 1, ~0ull - 1, OMX_GET_ANNOUNCE, OMX_STATUS_BAD_RANGE,
			"a get of everything");
	atomic_with_status(&keys[ALL], SIZE, OMX_STATUS_BAD_RANGE, "an atomic");
	atomic_with_status(&keys[ALL], 12, OMX_STATUS_BAD_RANGE, "an atomic, not aligned");
	make_put_rndv(&keys[ALL], SIZE - 1, 2);
	expect_notify(sizeof(struct omx_wire_put_rndv), OMX_STATUS_BAD_RANGE, "a long put");
	make_put_rndv(&keys[ALL], 1, ~0ull - 1);
	expect_notify(sizeof(struct omx_wire_put_rndv), OMX_STATUS_BAD_RANGE, "a longest put");
}

static void break_frames(void)
{
	make_put(&keys[ALL], 0, 100);
	host.frame.put.length = htonl(99);
	send_invalid(OMX_WIRE_PUT, sizeof(host.frame.put) + 100);
	make_put(&keys[ALL], -8ull, 100);
	send_invalid(OMX_WIRE_PUT, sizeof(host.frame.put) + 100);
	make_put(&keys[ALL], 0, 100);
	host.frame.put.length = htonl(1 << 30);
	send_invalid(OMX_WIRE_PUT, sizeof(host.frame.put) + 100);
	make_get(&keys[ALL], 0, 4097, 0);
	send_invalid(OMX_WIRE_GET, sizeof(host.frame.get));
	make_get(&keys[ALL], 0, 8, 0);
	send_invalid(OMX_WIRE_GET, sizeof(host.frame.get) + 1);
	make_atomic(&keys[ALL], 0, OMX_WIRE_OPERATIONS, 8);
	send_invalid(OMX_WIRE_ATOMIC, sizeof(host.frame.atomic));
	make_atomic(&keys[ALL], 0, OMX_WIRE_SWAP, 3);
	send_invalid(OMX_WIRE_ATOMIC, sizeof(host.frame.atomic));
}

/* An answer to what nobody asked. */
static void respond_unasked(void)
{
	struct omx_wire_access_response *response = clear_body();

	response->access = htonl(1);
	send_sequenced(OMX_WIRE_ACCESS_RESPONSE, sizeof(*response));
	next_seq++;
}

/* The frames are right: without this, the refusals would prove nothing. */
static void access_rightly(void)
{
	uint8_t bytes[PAYLOAD_MAX];

	make_put(&keys[ALL], 4096, PAYLOAD_MAX);
	fill(bytes, PAYLOAD_MAX, INITIAL, 4096);
	memcpy(&host.frame.put + 1, bytes, PAYLOAD_MAX);
	expect_status(OMX_WIRE_PUT, sizeof(host.frame.put) + PAYLOAD_MAX, OMX_STATUS_OK, "a put");
	get_with_status(&keys[GET_ONLY], 8, GET_LENGTH, 0, OMX_STATUS_OK, "a get");
	EQUAL(ntohs(answer.head.length),
	      sizeof(answer.head) + sizeof(answer.response) + GET_LENGTH);
	CHECK(differs_at(&answer.response + 1, GET_LENGTH, INITIAL, 8) == GET_LENGTH);
}

/* Transfers that begin and never end. */
static void begin_transfers(void)
{
	get_with_status(&keys[ALL], 0, SIZE, OMX_GET_ANNOUNCE, OMX_STATUS_OK, "a long get");
	make_put_rndv(&keys[ALL], 0, SIZE);
	send_sequenced(OMX_WIRE_PUT_RNDV, sizeof(host.frame.put_rndv));
	next_seq++;
	while (!receive_frame() || answer.head.type != OMX_WIRE_PULL_REQUEST)
		;
}

static void parse_keys(char *text)
{
	unsigned int i, j;

	for (i = 0; i < WINDOWS; i++) {
		keys[i].window = htonl(strtoul(text, &text, 16));
		for (j = 0; j < 3; j++)
			keys[i].secret[j] = htonl(strtoul(text, &text, 16));
	}
	CHECK(keys[GET_ONLY].window);
}

static void read_arguments(int argc, char **argv)
{
	static const struct option options[] = {
		{ "to",		required_argument, NULL, 't' },
		{ "endpoint",	required_argument, NULL, 'e' },
		{ "keys",	required_argument, NULL, 'k' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 't': ethernet_parse_mac(optarg, host.frame.eth.ether_dhost); break;
		case 'e': host.endpoint = atoi(optarg); break;
		case 'k': parse_keys(optarg); break;
		default: exit(2);
		}
	}
}

int main(int argc, char **argv)
{
	read_arguments(argc, argv);
	own_session = (uint32_t)time(NULL) * 2654435761u | 1;
	raw_host_open(&host, "eth0");
	raw_host_connect(&host, ENDPOINT_KEY, OWN_ENDPOINT, own_session);
	access_rightly();
	forge_keys();
	exceed_rights();
	leave_range();
	break_frames();
	access_rightly();
	respond_unasked();
	access_rightly();
	begin_transfers();
	printf("one_forged: %u accesses\n", next_access - 1);
	return 0;
}
