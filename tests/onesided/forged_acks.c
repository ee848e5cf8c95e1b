// SPDX-License-Identifier: BSD-2-Clause
/*
 * Puts to a host without omx, whose acks say too much, too little or nothing: a put ends
 * when an ack of what was sent says that it has been performed, or with a response, and
 * once only.  The driver asks again and again about a put that has arrived.
 *
 * Runs on node 1.  The host's frames come from the interface of node 2, which omx does not
 * use.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <string.h>
#include <time.h>

#include "memory.h"
#include "raw_endpoint.h"
#include "raw_host.h"

#define ENDPOINT_KEY	7
#define A_WHILE		100		/* ms in which a put could end by mistake */
#define ASKED_AGAIN	5		/* times in a second, at least */

static struct raw_endpoint ep;
static struct raw_host host;
static uint32_t session, channel;
static uint32_t sent = 1;		/* packets of the host */
static struct omx_wire_put put;		/* the latest that has come */

/* ---- the host ------------------------------------------------------------------------ */

static void send_eager(uint8_t performed)
{
	host.frame.eager = (struct omx_wire_eager){
		.sequence = {
			.flow = htons(1),
			.seq = htonl(sent++),
			.ack_flow = put.sequence.flow,
			.ack = put.sequence.seq,
			.window = htons(64),
			.performed = performed,
		},
		.msg_length = htonl(8),
	};
	raw_host_send(&host, OMX_WIRE_EAGER, 1, session, sizeof(host.frame.eager) + 8);
}

/* The channel that a message of the host has made. */
static void meet_host(void)
{
	uint64_t nic = htobe64(ep.open.mac << 16);

	session = (uint32_t)time(NULL) * 2654435761u | 1;
	host.endpoint = ep.open.endpoint;
	memcpy(host.frame.eth.ether_dhost, &nic, ETH_ALEN);
	raw_host_open_on(&host, 2, "eth0");
	raw_host_connect(&host, ENDPOINT_KEY, 1, session);
	send_eager(0);
	channel = raw_endpoint_await(&ep, OMX_EVENT_RECV).channel;
}

/* Up to the packet that is so many behind the latest put. */
static void ack(uint16_t flow_more, int32_t more, uint8_t performed)
{
	host.frame.ack = (struct omx_wire_ack){
		.flow = htons(ntohs(put.sequence.flow) + flow_more),
		.ack = htonl(ntohl(put.sequence.seq) + more),
		.window = htons(64),
		.performed = performed,
	};
	raw_host_send(&host, OMX_WIRE_ACK, 1, session, sizeof(host.frame.ack));
}

static void respond(uint8_t status)
{
	host.frame.response = (struct omx_wire_access_response){
		.sequence = {
			.flow = htons(1),
			.seq = htonl(sent++),
			.ack_flow = put.sequence.flow,
			.ack = put.sequence.seq,
			.window = htons(64),
		},
		.access = put.access,
		.status = status,
	};
	raw_host_send(&host, OMX_WIRE_ACCESS_RESPONSE, 1, session, sizeof(host.frame.response));
}

static unsigned int count_probes(double seconds)
{
	double end = now() + seconds;
	struct raw_frame frame;
	unsigned int n = 0;

	while (now() < end)
		n += raw_host_receive(&host, session, &frame) &&
		     frame.head.type == OMX_WIRE_ACK && frame.ack.flags & OMX_ACK_PROBE;
	return n;
}

/* ---- the initiator --------------------------------------------------------------------- */

static void post_put(uint64_t cookie)
{
	static uint64_t word;
	struct omx_ioc_put ioc = {
		.buffer = { .address = (uintptr_t)&word, .length = sizeof(word) },
		.key.window = 1,
		.cookie = cookie,
		.channel = channel,
	};
	struct raw_frame frame;

	EQUAL(raw_endpoint_call(&ep, OMX_IOC_PUT, &ioc), 0);
	do {
		while (!raw_host_receive(&host, session, &frame))
			;
	} while (frame.head.type != OMX_WIRE_PUT ||
		 ntohl(frame.sequence.seq) <= ntohl(put.sequence.seq));
	put = frame.put;
	CHECK(put.flags & OMX_PUT_ACK);
}

static void nothing_ends(void)
{
	sleep_ms(A_WHILE);
	EQUAL(__atomic_load_n(&ep.ring->khead, __ATOMIC_ACQUIRE), ep.user->utail);
}

static void ends(uint64_t cookie, uint8_t status)
{
	struct omx_event event = raw_endpoint_await(&ep, OMX_EVENT_ACCESS_DONE);

	EQUAL(event.cookie, cookie);
	EQUAL(event.status, status);
}

/* ---- all --------------------------------------------------------------------------------- */

static void lie(void)
{
	post_put(1);
	ack(0, 0, 0);			/* it has arrived */
	nothing_ends();
	ack(0, 0, 2);			/* all before it have been performed */
	ack(0, 0, 255);
	ack(0, 1, 1);			/* what was not sent has been performed, too */
	ack(0, 1, 2);
	ack(0, 100, 101);
	ack(1, 0, 1);			/* of another flow */
	ack(0, -1, 1);			/* an old one, that comes late */
	nothing_ends();
	CHECK(count_probes(1) >= ASKED_AGAIN);
	ack(0, 0, 1);
	ends(1, OMX_STATUS_OK);
	ack(0, 0, 1);
	respond(OMX_STATUS_OK);
	nothing_ends();
}

static void end_some(void)
{
	post_put(2);
	post_put(3);
	ack(0, 0, 2);
	ends(2, OMX_STATUS_OK);
	nothing_ends();
	respond(OMX_STATUS_BAD_RANGE);
	ends(3, OMX_STATUS_BAD_RANGE);
	ack(0, 0, 1);
	nothing_ends();
}

/* With a message that goes to the initiator in any case. */
static void end_with_message(void)
{
	post_put(4);
	send_eager(1);
	ends(4, OMX_STATUS_OK);
	raw_endpoint_await(&ep, OMX_EVENT_RECV);
	nothing_ends();
}

static void run_test(void)
{
	raw_endpoint_open(&ep, ENDPOINT_KEY, PATIENCE);
	meet_host();
	lie();
	end_some();
	end_with_message();
	raw_endpoint_close(&ep);
}

int main(int argc, char **argv)
{
	return run_alone(argc, argv, run_test);
}
