// SPDX-License-Identifier: BSD-2-Clause
/*
 * Of the accesses to a host that never answers the driver takes 256, without the library
 * that would keep the others; a key more is refused, too.  All of them end when the
 * driver gives the host up.
 *
 * Runs on node 1.  The host's frames come from the interface of node 2, which omx does not
 * use.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "memory.h"
#include "raw_endpoint.h"
#include "raw_host.h"

#define LIMIT		256
#define TIMEOUT_MS	2000
#define ENDPOINT_KEY	7

static struct raw_endpoint ep;
static struct raw_host host;

/* The channel that a message of the host has made. */
static uint32_t meet_host(void)
{
	uint32_t session = (uint32_t)time(NULL) * 2654435761u | 1;
	uint64_t nic = htobe64(ep.open.mac << 16);

	host.endpoint = ep.open.endpoint;
	memcpy(host.frame.eth.ether_dhost, &nic, ETH_ALEN);
	raw_host_open_on(&host, 2, "eth0");
	raw_host_connect(&host, ENDPOINT_KEY, 1, session);
	host.frame.eager = (struct omx_wire_eager){
		.sequence = { .flow = htons(1), .seq = htonl(1), .window = htons(64) },
		.msg_length = htonl(8),
	};
	raw_host_send(&host, OMX_WIRE_EAGER, 1, session, sizeof(host.frame.eager) + 8);
	return raw_endpoint_await(&ep, OMX_EVENT_RECV).channel;
}

/* ---- accesses --------------------------------------------------------------------- */

static int post_atomic(uint32_t channel, uint64_t cookie)
{
	struct omx_ioc_atomic ioc = {
		.key.window = 1,
		.cookie = cookie,
		.channel = channel,
		.size = 8,
	};

	return raw_endpoint_call(&ep, OMX_IOC_ATOMIC, &ioc);
}

static int post_key(uint32_t channel)
{
	struct omx_ioc_post_key ioc = { .key.window = 1, .channel = channel };

	return raw_endpoint_call(&ep, OMX_IOC_POST_KEY, &ioc);
}

static void end_all(void)
{
	static bool ended[LIMIT];
	unsigned int i;

	for (i = 0; i < LIMIT; i++) {
		struct omx_event event = raw_endpoint_await(&ep, OMX_EVENT_ACCESS_DONE);

		EQUAL(event.status, OMX_STATUS_UNREACHABLE);
		CHECK(event.cookie < LIMIT && !ended[event.cookie]);
		ended[event.cookie] = true;
	}
}

static void run_test(void)
{
	uint32_t channel;
	uint64_t i;

	raw_endpoint_open(&ep, ENDPOINT_KEY, TIMEOUT_MS);
	channel = meet_host();
	for (i = 0; i < LIMIT; i++)
		EQUAL(post_atomic(channel, i), 0);
	EQUAL(post_atomic(channel, LIMIT), EBUSY);
	EQUAL(post_key(channel), EBUSY);
	LASTS(TIMEOUT_MS / 2, end_all());
	EQUAL(post_atomic(channel, 0), ENOTCONN);
	raw_endpoint_close(&ep);
}

int main(int argc, char **argv)
{
	return run_alone(argc, argv, run_test);
}
