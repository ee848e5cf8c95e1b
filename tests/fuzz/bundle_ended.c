// SPDX-License-Identifier: BSD-2-Clause
/*
 * bundle_ended: the ring of a program has room for some of the messages in the first packet of
 * a channel only. The channel ends, the program makes room, and the packet arrives once
 * more, as one does that the network has delayed. None of its messages is delivered twice.
 *
 * Runs on node 1.  The frames come from the interface of node 2, which omx does not use.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "endpoints.h"
#include "ethernet.h"
#include "omx_abi.h"
#include "raw_host.h"

#define FILLER		200	/* endpoint, whose messages fill the ring */
#define ENDS		201	/* ... whose channel ends */
#define MESSAGES	500	/* of a packet; empty ones take a slot of the ring each */
#define PACKETS		30	/* of FILLER: the ring has 16384 slots, 15360 of them for messages */
#define OF_ENDS		(1ull << 40)	/* its match infos */

static struct raw_host host;
static omx_endpoint_t ep;
static uint8_t received[MESSAGES];	/* of ENDS: how often */
static unsigned int count;

static void send_packet(uint16_t from, uint32_t session, uint32_t seq, uint64_t match)
{
	struct omx_wire_bundled *message = (void *)(&host.frame.sequence + 1);
	unsigned int i;

	host.frame.sequence = (struct omx_wire_sequence){
		.flow = htons(1),
		.seq = htonl(seq),
		.window = htons(64),
	};
	for (i = 0; i < MESSAGES; i++)
		message[i] = (struct omx_wire_bundled){ .match_info = htobe64(match + i) };
	raw_host_send(&host, OMX_WIRE_BUNDLE, from, session,
		      sizeof(host.frame.sequence) + MESSAGES * sizeof(*message));
}

static void receive_one(void)
{
	omx_request_t request;
	omx_status_t status;

	MUST(omx_irecv(ep, NULL, 0, 0, 0, NULL, &request));
	status = finish_with(ep, &request, OMX_SUCCESS);
	if (!(status.match_info & OF_ENDS))
		return;
	CHECK(status.match_info - OF_ENDS < MESSAGES);
	CHECK(!received[status.match_info - OF_ENDS]++, "a message was received twice");
	count++;
}

/* What has arrived, and what arrives within a moment. */
static void receive_all(void)
{
	uint32_t result;

	for (;;) {
		MUST(omx_probe(ep, 0, 0, NULL, &result, 500));
		if (!result)
			return;
		receive_one();
	}
}

int main(void)
{
	uint32_t session = (uint32_t)time(NULL) * 2654435761u | 1, seq;

	MUST(omx_init());
	ep = open_any();
	raw_host_open_on(&host, 2, "eth0");
	ethernet_own_mac("eth0", host.frame.eth.ether_dhost);
	host.endpoint = number_of(ep);
	raw_host_connect(&host, KEY, FILLER, session);
	for (seq = 1; seq <= PACKETS; seq++)
		send_packet(FILLER, session, seq, 0);
	send_packet(ENDS, session + 2, 1, OF_ENDS);
	host.frame.nack = (struct omx_wire_nack){ .status = OMX_STATUS_CLOSED };
	raw_host_send(&host, OMX_WIRE_NACK, ENDS, session + 2, sizeof(host.frame.nack));
	/* Once there is room, the rest is delivered, unless the channel has ended by then. */
	sleep_ms(200 * slowness());
	receive_all();
	printf("%u of %u messages were received before the channel ended\n", count, MESSAGES);
	CHECK(count && count < MESSAGES, "the ring was not full in the middle of the packet");
	send_packet(ENDS, session + 2, 1, OF_ENDS);
	receive_all();
	MUST(omx_close_endpoint(ep));
	MUST(omx_finalize());
	return 0;
}
