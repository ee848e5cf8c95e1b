// SPDX-License-Identifier: BSD-2-Clause
/*
 * A host without omx sends the first packet of a put to a page that is logged, and then
 * begins anew, with a flow that numbers its packets from 1: the rest of the put will never
 * come.  So the entries behind it are seen at once, and the new flow stays alive.
 *
 * Runs on node 1.  The frames come from the interface of node 2, which omx does not use.
 *
 *	--act late	nothing but messages comes behind the put
 */
#include <arpa/inet.h>
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ethernet.h"
#include "raw_host.h"
#include "raw_log.h"

#define TIMEOUT_MS	"2000"		/* of the driver */
#define TIMEOUT		2.0
#define FIRST		1400		/* bytes of the first packet */
#define OWN		100		/* bytes of the program's own put */
#define SIZE		(2 * PAGE)	/* of the window */
#define MATCH		10

static omx_endpoint_t ep;
static struct remote self;
static struct raw_host host;
static uint32_t session;

static void set_sequence(uint16_t flow, uint32_t seq)
{
	host.frame.sequence = (struct omx_wire_sequence){
		.flow = htons(flow), .seq = htonl(seq), .window = htons(64),
	};
}

static void begin_put(void)
{
	host.frame.put = (struct omx_wire_put){
		.access = htonl(1), .length = htonl(2 * FIRST), .flags = OMX_PUT_FIRST,
	};
	set_sequence(1, 1);
	memcpy(&host.frame.put.key, &self.key, sizeof(self.key));
	memset(&host.frame.put + 1, 0xee, FIRST);
	raw_host_send(&host, OMX_WIRE_PUT, 1, session, sizeof(host.frame.put) + FIRST);
}

/* The same packet again and again until it is acknowledged. */
static void send_message(uint32_t seq)
{
	double end = now() + 2 * TIMEOUT;
	struct raw_frame answer;

	do {
		CHECK(now() < end, "message %u is not acknowledged", seq);
		host.frame.eager = (struct omx_wire_eager){ .match_info = htobe64(MATCH) };
		set_sequence(2, seq);
		raw_host_send(&host, OMX_WIRE_EAGER, 1, session, sizeof(host.frame.eager));
	} while (!raw_host_receive(&host, session, &answer) ||
		 answer.head.type != OMX_WIRE_ACK || answer.ack.flow != htons(2) ||
		 ntohl(answer.ack.ack) < seq);
}

static bool has_entry(omx_log_t log)
{
	omx_log_stats_t stats;

	MUST(omx_log_stats(ep, log, &stats));
	return stats.used;
}

static void open_host(void)
{
	uint64_t nic = htobe64(nic_of(ep) << 16);

	session = (uint32_t)time(NULL) * 2654435761u | 1;
	host.endpoint = number_of(ep);
	memcpy(host.frame.eth.ether_dhost, &nic, ETH_ALEN);
	raw_host_open_on(&host, 2, "eth0");
	raw_host_connect(&host, KEY, 1, session);
}

static void await_own_entry(omx_log_t log)
{
	double start = now();
	omx_log_entry_t entry;
	uint32_t result;

	MUST(omx_log_wait(ep, log, &entry, &result, 3 * TIMEOUT * 1000));
	printf("one_begun_anew: the next entry comes after %.1f s\n", now() - start);
	CHECK(result);
	EQUAL(entry.data_length, OWN);
	verify(entry.data, OWN, 7);
	MUST(omx_log_release(ep, log));
	CHECK(now() - start < TIMEOUT / 2, "%.1f s", now() - start);
}

static void run_test(void)
{
	uint8_t *memory = map_anonymous(NULL, SIZE);
	bool late = options.act && !strcmp(options.act, "late");
	omx_window_t window;
	omx_log_t log;

	setenv("OMX_TIMEOUT_MS", TIMEOUT_MS, 1);
	MUST(omx_init());
	ep = open_number(options.endpoint, NULL, 0);
	MUST(omx_window_create(ep, memory, SIZE, RIGHTS_ALL | OMX_WINDOW_RIGHT_ACTIVE, NULL,
			       &window));
	MUST(omx_log_create(ep, 0, &log));
	MUST(omx_window_activate(ep, window, 0, SIZE, OMX_ACTIVE_WLD | OMX_ACTIVE_E, log));
	self = (struct remote){ .ep = ep, .addr = connect_self(ep) };
	MUST(omx_window_key(ep, window, &self.key));
	open_host();
	begin_put();
	AWAIT(has_entry(log), 5, 1);
	send_message(1);
	receive(ep, NULL, 0, MATCH);
	if (!late) {
		put_pattern(&self, PAGE, OWN, 7);
		await_own_entry(log);
	}
	sleep_ms(1500 * TIMEOUT);
	send_message(2);
	receive(ep, NULL, 0, MATCH);
	MUST(omx_close_endpoint(ep));
	MUST(omx_finalize());
}

int main(int argc, char **argv)
{
	return run_alone(argc, argv, run_test);
}
