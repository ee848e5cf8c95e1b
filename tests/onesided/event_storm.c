// SPDX-License-Identifier: BSD-2-Clause
/*
 * A host without omx makes long puts of no bytes, each with an event, while the program
 * does not look: it is not to take more of the kernel's memory than the user may have.
 *
 * Runs on node 1.  The frames come from the interface of node 2, which omx does not use.
 *
 *	--count N	puts
 *	--length N	KiB that the kernel may need for them
 */
#include <arpa/inet.h>
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "accesses.h"
#include "ethernet.h"
#include "raw_host.h"

#define SIZE		(16 * PAGE)
#define IN_FLIGHT	32

static omx_endpoint_t ep;
static omx_key_t key;
static struct raw_host host;
static uint32_t session;
static uint32_t accepted;		/* of our packets */
static uint32_t received;		/* of the driver's */
static uint16_t flow;

static long unreclaimable(void)
{
	FILE *file = fopen("/proc/meminfo", "r");
	char line[128];
	long kib = 0;

	CHECK(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "SUnreclaim: %ld", &kib) == 1)
			break;
	fclose(file);
	return kib;
}

static void send_put(uint32_t seq)
{
	host.frame.put_rndv = (struct omx_wire_put_rndv){
		.sequence = {
			.flow = htons(1), .seq = htonl(seq), .ack_flow = flow,
			.ack = htonl(received), .window = htons(64),
		},
		.immediate = htobe64(seq),
		.message = htonl(seq),
		.flags = OMX_PUT_EVENT,
	};
	memcpy(&host.frame.put_rndv.key, &key, sizeof(key));
	raw_host_send(&host, OMX_WIRE_PUT_RNDV, 1, session, sizeof(host.frame.put_rndv));
}

/*
 * The driver keeps responses until they are acknowledged, also while it refuses puts.  If it
 * takes one for lost, it asks with a numbered probe, and sends again what the answer with
 * that number does not acknowledge.
 */
static void send_ack(uint8_t number)
{
	host.frame.ack = (struct omx_wire_ack){
		.flow = flow,
		.ack = htonl(received),
		.window = htons(flow ? 64 : 0),
		.flags = number,
	};
	raw_host_send(&host, OMX_WIRE_ACK, 1, session, sizeof(host.frame.ack));
}

static void note(uint32_t ack)
{
	if ((int32_t)(ack - accepted) > 0)
		accepted = ack;
}

static bool receive_one(int flags)
{
	static struct raw_frame frame;
	ssize_t length = recv(host.fd, &frame, sizeof(frame), flags);

	if (length <= 0)
		return false;
	if (frame.head.dst_session != htonl(session))
		return true;
	if (frame.head.type == OMX_WIRE_ACK) {
		note(ntohl(frame.ack.ack));
		if (frame.ack.flags & OMX_ACK_PROBE)
			send_ack(frame.ack.flags & OMX_ACK_NUMBER);
	} else if (frame.head.type == OMX_WIRE_NOTIFY) {
		note(ntohl(frame.sequence.ack));
		flow = frame.sequence.flow;
		if (ntohl(frame.sequence.seq) == received + 1)
			received++;
	}
	return true;
}

static uint32_t storm(void)
{
	double progress = now();
	uint32_t sent = 0, before, acked;

	while (accepted < options.count) {
		before = accepted;
		acked = received;
		for (; sent < options.count && sent < accepted + IN_FLIGHT; sent++)
			send_put(sent + 1);
		if (receive_one(0))
			while (receive_one(MSG_DONTWAIT))
				;
		if (received != acked)
			send_ack(0);
		if (accepted != before)
			progress = now();
		else if (now() > progress + 0.5)
			sent = accepted;	/* again */
		if (now() > progress + 5)
			break;
	}
	return accepted;
}

static void open_host(void)
{
	uint64_t nic = htobe64(nic_of(ep) << 16);
	int size = 4 << 20;

	session = (uint32_t)time(NULL) * 2654435761u | 1;
	host.endpoint = number_of(ep);
	memcpy(host.frame.eth.ether_dhost, &nic, ETH_ALEN);
	raw_host_open_on(&host, 2, "eth0");
	setsockopt(host.fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	raw_host_connect(&host, KEY, 1, session);
}

static void run_test(void)
{
	uint8_t *memory = map_anonymous(NULL, SIZE);
	omx_put_event_t event;
	omx_window_t window;
	uint32_t got, result, i;
	long kib;

	MUST(omx_init());
	ep = open_number(options.endpoint, NULL, 0);
	window = export_memory(ep, memory, SIZE);
	MUST(omx_window_key(ep, window, &key));
	open_host();
	kib = unreclaimable();
	got = storm();
	kib = unreclaimable() - kib;
	printf("one_event_storm: %u puts cost %ld KiB\n", got, kib);
	for (i = 0; i < got; i++) {
		AWAIT((MUST(omx_ipoll_put(ep, &event, &result)), result), 5, 1, "event %u", i);
		EQUAL(event.immediate, i + 1);
	}
	CHECK(kib < (long)options.length);
	MUST(omx_close_endpoint(ep));
	MUST(omx_finalize());
}

int main(int argc, char **argv)
{
	options.count = 100000;
	options.length = 4 << 10;
	options.timeout = 250;
	return run_alone(argc, argv, run_test);
}
