// SPDX-License-Identifier: BSD-2-Clause
/*
 * A host without omx puts, and looks at what the acks of the target say: which of its puts
 * have been performed.  Nothing is said too early:
 *
 * - A put that has failed, and those behind it, are not said to be performed before the
 *   response has been acknowledged, however often the host asks.
 * - Neither is a put that waits for a page; once the page is there, an ack says so.
 * - If the target is killed meanwhile, it is never said.
 *
 * A target that closes its endpoint repeats in a response what only ACKs have said.
 *
 * Runs on node 1.  The frames come from the interface of node 2, which omx does not use.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "accesses.h"
#include "ethernet.h"
#include "omx_abi.h"
#include "raw_host.h"
#include "userfault.h"

#define LENGTH		8
#define PROBES		20
#define QUICKLY		(1.0 * slowness())	/* s */
#define PUTS_MAX	32

struct victim {
	uint32_t number;		/* of its endpoint */
	omx_key_t key;
};

static struct raw_host host;
static uint32_t session;
static uint32_t sent;			/* packets of the host */
static uint32_t received;		/* of the target, and ... */
static uint32_t acked;			/* ... those of them that are acknowledged */
static uint16_t flow;			/* of the target, as on the cable */
static uint32_t arrived, performed;	/* what the target has said of our packets */
static uint8_t responses[PUTS_MAX];	/* to the put of this packet: 1 + status */
static unsigned int copies;		/* of responses */
static bool is_closed;

/* ---- the host --------------------------------------------------------------------- */

static void open_host(uint64_t nic, uint32_t endpoint)
{
	nic = htobe64(nic << 16);
	if (!session)
		raw_host_open_on(&host, 2, "eth0");
	session = session ? session + 1 : (uint32_t)time(NULL) * 2654435761u | 1;
	sent = received = acked = arrived = performed = copies = 0;
	is_closed = false;
	memset(responses, 0, sizeof(responses));
	host.endpoint = endpoint;
	memcpy(host.frame.eth.ether_dhost, &nic, ETH_ALEN);
	raw_host_connect(&host, KEY, 1, session);
}

static uint32_t put(omx_key_t key, uint64_t offset)
{
	host.frame.put = (struct omx_wire_put){
		.sequence = {
			.flow = htons(1),
			.seq = htonl(++sent),
			.ack_flow = flow,
			.ack = htonl(acked),
			.window = htons(64),
		},
		.offset = htobe64(offset),
		.access = htonl(sent),
		.length = htonl(LENGTH),
		.flags = OMX_PUT_FIRST | OMX_PUT_LAST | OMX_PUT_ACK,
	};
	CHECK(sent < PUTS_MAX);
	memcpy(&host.frame.put.key, &key, sizeof(key));
	memset(&host.frame.put + 1, (int)sent, LENGTH);
	raw_host_send(&host, OMX_WIRE_PUT, 1, session, sizeof(host.frame.put) + LENGTH);
	return sent;
}

static void send_ack(uint8_t flags)
{
	host.frame.ack = (struct omx_wire_ack){
		.flow = flow,
		.ack = htonl(acked),
		.window = htons(64),
		.flags = flags,
	};
	raw_host_send(&host, OMX_WIRE_ACK, 1, session, sizeof(host.frame.ack));
}

static void probe(void)
{
	send_ack(OMX_ACK_PROBE);
}

static void learn(uint32_t ack, uint8_t field)
{
	CHECK(ack <= sent);
	if (ack > arrived)
		arrived = ack;
	if (!field)
		return;
	CHECK(field - 1u <= ack, "%u of %u packets", field, ack);
	if (ack - (field - 1) > performed)
		performed = ack - (field - 1);
}

static void learn_response(const struct raw_frame *frame)
{
	uint32_t put_number = ntohl(frame->response.access);

	CHECK(put_number && put_number <= sent);
	copies += responses[put_number] == 1 + frame->response.status;
	responses[put_number] = 1 + frame->response.status;
	flow = frame->sequence.flow;
	if (ntohl(frame->sequence.seq) == received + 1)
		received++;
}

/* Frames that come within a tenth of a second. */
static void hear(void)
{
	struct raw_frame frame;

	while (raw_host_receive(&host, session, &frame)) {
		switch (frame.head.type) {
		case OMX_WIRE_ACK:
			learn(ntohl(frame.ack.ack), frame.ack.performed);
			if (frame.ack.flags & OMX_ACK_PROBE)
				send_ack(frame.ack.flags & OMX_ACK_NUMBER);
			break;
		case OMX_WIRE_ACCESS_RESPONSE:
			learn(ntohl(frame.sequence.ack), frame.sequence.performed);
			learn_response(&frame);
			break;
		case OMX_WIRE_NACK:
			is_closed = true;
			break;
		default:
			break;
		}
	}
}

static void probe_often(void)
{
	unsigned int i;

	for (i = 0; i < PROBES; i++)
		probe();
	hear();
}

/* ---- what is tried -------------------------------------------------------------------- */

static void succeed(omx_key_t key)
{
	uint32_t last;

	put(key, 0);
	last = put(key, LENGTH);
	AWAIT((hear(), performed == last), QUICKLY, 0);
	CHECK(!responses[1] && !responses[2]);
	performed = 0;			/* as if that ack had been lost */
	probe();
	AWAIT((hear(), performed == last), QUICKLY, 0);
}

/* The host receives the response, and does not say so before the end. */
static void fail_put(omx_key_t key)
{
	uint32_t bad = put(key, 1ull << 40), good = put(key, 0);

	AWAIT((hear(), responses[bad]), QUICKLY, 0);
	EQUAL(responses[bad], 1 + OMX_STATUS_BAD_RANGE);
	AWAIT((hear(), responses[good]), QUICKLY, 0);
	EQUAL(responses[good], 1 + OMX_STATUS_OK);
	probe_often();
	EQUAL(arrived, good);
	EQUAL(performed, bad - 1);
	acked = received;
	probe();
	AWAIT((hear(), performed == good), QUICKLY, 0);
	good = put(key, 0);
	AWAIT((hear(), performed == good), QUICKLY, 0);
	CHECK(!responses[good]);
}

static void wait_for_page(omx_key_t key, omx_key_t late, int faults, void *memory)
{
	uint32_t first = put(late, 0), last = put(key, 0);

	AWAIT((hear(), arrived == last), QUICKLY, 0);
	probe_often();
	EQUAL(performed, first - 1);
	supply_zeros(faults, memory, PAGE);
	AWAIT((hear(), performed == last), QUICKLY, 0);
	CHECK(!responses[first] && !responses[last]);
}

static void kill_target(const struct victim *victim, pid_t pid)
{
	uint32_t first = put(victim->key, 0);
	unsigned int i;

	for (i = 0; i < 10; i++)
		put(victim->key, 0);
	AWAIT((hear(), arrived == sent), QUICKLY, 0);
	probe_often();
	kill(pid, SIGKILL);
	AWAIT((probe(), hear(), is_closed), 10, 0);
	probe_often();
	CHECK(performed < first);
	CHECK(waitpid(pid, NULL, 0) == pid);
}

static void *close_endpoint(void *ep)
{
	MUST(omx_close_endpoint(ep));
	return NULL;
}

/* As if all responses had been lost: what the host says to probes has them come again. */
static void close_target(omx_endpoint_t ep, omx_key_t key)
{
	pthread_t closing;
	uint32_t last;

	put(key, 0);
	last = put(key, 0);
	AWAIT((hear(), performed == last), QUICKLY, 0);
	CHECK(!responses[last]);
	CHECK(!pthread_create(&closing, NULL, close_endpoint, ep));
	AWAIT((hear(), is_closed), 5 * QUICKLY, 0);
	CHECK(!pthread_join(closing, NULL));
	EQUAL(responses[last], 1 + OMX_STATUS_OK);
	CHECK(copies);
}

/* ---- the targets -------------------------------------------------------------------------- */

/* Its window's page never comes. */
static void be_victim(int out)
{
	void *memory = map_anonymous(NULL, PAGE);
	struct victim victim;
	omx_window_t window;
	omx_endpoint_t ep;

	watch(open_userfault(0), memory, PAGE);
	MUST(omx_init());
	ep = open_any();
	window = export_memory(ep, memory, PAGE);
	victim.number = number_of(ep);
	MUST(omx_window_key(ep, window, &victim.key));
	CHECK(write(out, &victim, sizeof(victim)) == sizeof(victim));
	for (;;)
		pause();
}

static pid_t start_victim(struct victim *victim)
{
	int ends[2];
	pid_t pid;

	CHECK(!pipe(ends));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid)
		be_victim(ends[1]);
	CHECK(read(ends[0], victim, sizeof(*victim)) == sizeof(*victim));
	return pid;
}

static omx_key_t export_key(omx_endpoint_t ep, void *memory)
{
	omx_window_t window = export_memory(ep, memory, PAGE);
	omx_key_t key;

	MUST(omx_window_key(ep, window, &key));
	return key;
}

static void run_test(void)
{
	uint8_t *memory = map_anonymous(NULL, PAGE), *late = map_anonymous(NULL, PAGE);
	int faults = open_userfault(0);
	struct victim victim;
	pid_t pid = start_victim(&victim);
	omx_key_t key, late_key;
	omx_endpoint_t ep;

	MUST(omx_init());
	ep = open_any();
	watch(faults, late, PAGE);
	key = export_key(ep, memory);
	late_key = export_key(ep, late);
	open_host(nic_of(ep), number_of(ep));
	succeed(key);
	fail_put(key);
	wait_for_page(key, late_key, faults, late);
	open_host(nic_of(ep), victim.number);
	kill_target(&victim, pid);
	open_host(nic_of(ep), number_of(ep));
	close_target(ep, key);
	MUST(omx_finalize());
}

int main(int argc, char **argv)
{
	return run_alone(argc, argv, run_test);
}
