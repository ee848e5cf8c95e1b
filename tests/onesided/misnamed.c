// SPDX-License-Identifier: BSD-2-Clause
/*
 * A key of a peer on this host fires a conditional get, and the response names an ordinary
 * message of that peer, not one of a window.  No driver sends such frames, but a host on
 * the cable can forge them.  The driver, which pulls in softirq, must not fault pages of
 * the program in there: the bytes arrive where nothing has been mapped yet.
 *
 * Runs on node 1.  The frames come from the other end of its cable, with its own address.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <string.h>

#include "memory.h"
#include "raw_endpoint.h"
#include "raw_host.h"

#define LENGTH		200000
#define TAG		5
#define CONTENTS	9
#define GET		1		/* the first number in the table of accesses */

static struct raw_endpoint initiator, peer;
static struct raw_host host;
static struct raw_frame announced;	/* the peer's message on its way */

/* ---- the two programs -------------------------------------------------------------------- */

static uint32_t connect_peer(void)
{
	struct omx_ioc_connect ioc = {
		.mac = initiator.open.mac,
		.endpoint = initiator.open.endpoint,
		.key = KEY,
		.timeout_ms = PATIENCE,
	};

	EQUAL(raw_endpoint_call(&peer, OMX_IOC_CONNECT, &ioc), 0);
	return raw_endpoint_await(&peer, OMX_EVENT_CONNECTED).channel;
}

/* A packet socket sees also what a host sends to itself. */
static struct omx_event announce(const uint8_t *bytes)
{
	struct omx_ioc_send_rndv ioc = {
		.length = LENGTH,
		.address = (uintptr_t)bytes,
		.channel = connect_peer(),
		.region = OMX_REGION_IMPLICIT,
	};
	struct raw_host ear;

	raw_host_open(&ear, "eth0");
	EQUAL(raw_endpoint_call(&peer, OMX_IOC_SEND_RNDV, &ioc), 0);
	AWAIT(raw_host_receive(&ear, initiator.open.session, &announced) &&
	      announced.head.type == OMX_WIRE_RNDV, PATIENCE_S, 0);
	return raw_endpoint_await(&initiator, OMX_EVENT_RNDV);
}

static void post_get(uint8_t *memory, uint32_t channel)
{
	struct omx_ioc_get_when ioc = {
		.tag = TAG,
		.length = LENGTH,
		.address = (uintptr_t)memory,
		.channel = channel,
		.region = OMX_REGION_IMPLICIT,
		.timeout_ms = OMX_ANY,
	};

	EQUAL(raw_endpoint_call(&initiator, OMX_IOC_GET_WHEN, &ioc), 0);
}

/* ---- the host that speaks in the name of the peer --------------------------------------------- */

static void send_as_peer(uint8_t type, unsigned int body)
{
	static uint32_t sent;

	host.frame.sequence = (struct omx_wire_sequence){
		.flow = announced.sequence.flow,
		.seq = htonl(ntohl(announced.sequence.seq) + ++sent),
		.window = htons(64),
	};
	raw_host_send(&host, type, peer.open.endpoint, peer.open.session, body);
}

/* The peer's own response comes too late: its number has been used. */
static void forge(uint32_t message)
{
	struct omx_wire_post_key *key = (void *)host.frame.bytes;

	raw_host_open_opposite(&host);
	host.frame.eth = announced.eth;
	host.endpoint = initiator.open.endpoint;
	host.session = initiator.open.session;
	*key = (struct omx_wire_post_key){
		.key.window = htonl(1),
		.length = htobe64(LENGTH),
		.tag = htobe64(TAG),
		.access = htonl(1),
	};
	send_as_peer(OMX_WIRE_POST_KEY, sizeof(*key));
	host.frame.response = (struct omx_wire_access_response){
		.value = htobe64(message),
		.access = htonl(GET),
	};
	send_as_peer(OMX_WIRE_ACCESS_RESPONSE, sizeof(host.frame.response));
}

static void run_test(void)
{
	uint8_t *bytes = map_anonymous(NULL, LENGTH), *memory = map_anonymous(NULL, LENGTH);
	struct omx_event event;

	fill(bytes, LENGTH, CONTENTS, 0);
	raw_endpoint_open(&initiator, KEY, PATIENCE);
	raw_endpoint_open(&peer, KEY, PATIENCE);
	event = announce(bytes);
	post_get(memory, event.channel);
	forge(event.remote_message);
	event = raw_endpoint_await(&initiator, OMX_EVENT_PULL_DONE);
	EQUAL(event.status, OMX_STATUS_OK);
	EQUAL(event.length, LENGTH);
	verify(memory, LENGTH, CONTENTS);
	raw_endpoint_close(&peer);
	raw_endpoint_close(&initiator);
}

int main(int argc, char **argv)
{
	return run_alone(argc, argv, run_test);
}
