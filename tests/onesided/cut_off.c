// SPDX-License-Identifier: BSD-2-Clause
/*
 * Puts to active pages of which a host without omx sends the first packet, and the rest
 * late, never, or when their entry is not where it was:
 *
 * - The entries behind such a put are seen when the rest has come, or after the timeout,
 *   also if the host answers the driver's probes or goes on with other accesses, and
 *   with so many, whose responses it does not acknowledge, that the last ones wait.
 * - A program that moves the tail of its log past such an entry has it overwritten.  That
 *   is its own loss: nothing is written outside of the log.
 *
 * Runs on node 1.  The frames come from the interface of node 2, which omx does not use.
 *
 *	--seconds N	the driver's timeout, in which a host that acknowledges nothing can
 *			send so many accesses
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

#define TIMEOUT		((double)options.seconds)
#define FIRST		1400		/* bytes of the first packet */
#define OWN		100		/* bytes of the program's own puts */
#define ACTIVE		(OMX_ACTIVE_WLD | OMX_ACTIVE_E)
#define COUNTED		(OMX_ACTIVE_W | OMX_ACTIVE_WL | OMX_ACTIVE_E)
#define SIZE		(2 * PAGE)	/* of the window */
#define SLOTS		64u
#define DATA_MAX	((SLOTS / 2 - 1) * OMX_SLOT_SIZE)
#define BATCH		16		/* packets that are sent at once */
#define WINDOW		64		/* packets that may wait for the one before them */

enum rest { NEVER, ANSWERS, FLUSHES, LATE, FLOODS };

static const char *const names[] = {
	"silent", "answers probes", "flushes", "late", "acknowledges nothing",
};

static omx_endpoint_t ep;
static struct remote self;
static omx_window_t window, plain;
static struct raw_host host;

/* ---- the host without omx -------------------------------------------------------- */

/* A put of its own session, and so of a channel of its own. */
struct cut_put {
	uint32_t session;
	uint64_t offset;
	unsigned int length;
	unsigned int sent;
	uint32_t packets;
	uint16_t ack_flow;		/* of the latest response, as on the cable */
	uint32_t ack;
};

static struct cut_put any_put(uint64_t offset, unsigned int length)
{
	static uint32_t session;

	session = session ? session + 1 : (uint32_t)time(NULL) * 2654435761u | 1;
	return (struct cut_put){ .session = session, .offset = offset, .length = length };
}

static void send_packet(struct cut_put *put, unsigned int payload)
{
	host.frame.put = (struct omx_wire_put){
		.sequence = {
			.flow = htons(1),
			.seq = htonl(++put->packets),
			.window = htons(64),
		},
		.offset = htobe64(put->offset + put->sent),
		.access = htonl(1),
		.length = htonl(put->length),
		.flags = (put->sent ? 0 : OMX_PUT_FIRST) |
			 (put->sent + payload == put->length ? OMX_PUT_LAST : 0),
	};
	memcpy(&host.frame.put.key, &self.key, sizeof(self.key));
	memset(&host.frame.put + 1, 0xee, payload);
	raw_host_send(&host, OMX_WIRE_PUT, 1, put->session, sizeof(host.frame.put) + payload);
	put->sent += payload;
}

static void answer_probe(const struct cut_put *put)
{
	host.frame.ack = (struct omx_wire_ack){ .window = htons(64) };
	raw_host_send(&host, OMX_WIRE_ACK, 1, put->session, sizeof(host.frame.ack));
}

static void receive_responses(struct cut_put *put)
{
	struct raw_frame frame;

	while (raw_host_receive(&host, put->session, &frame)) {
		if (frame.head.type != OMX_WIRE_ACCESS_RESPONSE)
			continue;
		put->ack_flow = frame.response.sequence.flow;
		put->ack = frame.response.sequence.seq;
	}
}

/* Another access between the packets of the put. */
static void send_flush(struct cut_put *put)
{
	host.frame.flush = (struct omx_wire_flush){
		.sequence = {
			.flow = htons(1),
			.seq = htonl(++put->packets),
			.ack_flow = put->ack_flow,
			.ack = put->ack,
			.window = htons(64),
		},
		.access = htonl(2),
	};
	raw_host_send(&host, OMX_WIRE_FLUSH, 1, put->session, sizeof(host.frame.flush));
	receive_responses(put);
}

/*
 * Its packets are gets of the plain window up to this one, then the first packet of a put,
 * then flushes.
 */
struct flood {
	struct cut_put put;
	uint32_t gets;
	uint32_t accepted;		/* packets that the driver has acknowledged */
	uint32_t responses;		/* number of the last one that has arrived */
};

static struct omx_wire_sequence flood_sequence(const struct flood *flood, uint32_t seq)
{
	return (struct omx_wire_sequence){
		.flow = htons(1),
		.seq = htonl(seq),
		.ack_flow = flood->put.ack_flow,
		.ack = flood->put.ack,
		.window = htons(WINDOW),
	};
}

static void flood_get(const struct flood *flood, uint32_t seq)
{
	omx_key_t key;

	MUST(omx_window_key(ep, plain, &key));
	host.frame.get = (struct omx_wire_get){
		.sequence = flood_sequence(flood, seq),
		.length = htobe64(FIRST),
		.access = htonl(seq),
	};
	memcpy(&host.frame.get.key, &key, sizeof(key));
	raw_host_send(&host, OMX_WIRE_GET, 1, flood->put.session, sizeof(host.frame.get));
}

static void flood_put(const struct flood *flood, uint32_t seq)
{
	host.frame.put = (struct omx_wire_put){
		.sequence = flood_sequence(flood, seq),
		.access = htonl(seq),
		.length = htonl(flood->put.length),
		.flags = OMX_PUT_FIRST,
	};
	memcpy(&host.frame.put.key, &self.key, sizeof(self.key));
	raw_host_send(&host, OMX_WIRE_PUT, 1, flood->put.session,
		      sizeof(host.frame.put) + FIRST);
}

static void flood_flush(const struct flood *flood, uint32_t seq)
{
	host.frame.flush = (struct omx_wire_flush){
		.sequence = flood_sequence(flood, seq),
		.access = htonl(seq),
	};
	raw_host_send(&host, OMX_WIRE_FLUSH, 1, flood->put.session, sizeof(host.frame.flush));
}

static void flood_send(const struct flood *flood, uint32_t seq)
{
	if (seq <= flood->gets)
		flood_get(flood, seq);
	else if (seq == flood->gets + 1)
		flood_put(flood, seq);
	else
		flood_flush(flood, seq);
}

/* The first response is acknowledged, or the driver would take the host for a new one. */
static void flood_note(struct flood *flood, const struct raw_frame *frame)
{
	uint32_t ack = 0;

	if (frame->head.type == OMX_WIRE_ACK && frame->ack.flow == htons(1))
		ack = ntohl(frame->ack.ack);
	if (frame->head.type == OMX_WIRE_ACCESS_RESPONSE) {
		ack = ntohl(frame->sequence.ack);
		if (ntohl(frame->sequence.seq) > flood->responses)
			flood->responses = ntohl(frame->sequence.seq);
		if (!flood->put.ack_flow) {
			flood->put.ack_flow = frame->sequence.flow;
			flood->put.ack = htonl(1);
		}
	}
	if (ack > flood->accepted)
		flood->accepted = ack;
}

/* Returns whether the driver has accepted any packet. */
static bool flood_more(struct flood *flood)
{
	uint32_t before = flood->accepted, i;
	struct raw_frame frame;
	double end;

	for (i = 1; i <= BATCH; i++)
		flood_send(flood, before + i);
	end = now() + 0.1;	/* sending may take longer than that */
	while (flood->accepted < before + BATCH && now() < end)
		if (raw_host_receive(&host, flood->put.session, &frame))
			flood_note(flood, &frame);
	return flood->accepted != before;
}

/* An ack for a response that the driver has not sent yet would be dropped. */
static void flood_acknowledge(struct flood *flood, uint32_t responses)
{
	uint32_t ack = ntohl(flood->put.ack) + responses;

	flood->put.ack = htonl(ack < flood->responses ? ack : flood->responses);
}

/* A host that acknowledges nothing is given up after the timeout, so this one does, rarely. */
static void flood_until_full(struct flood *flood)
{
	double end = now() + PATIENCE_S / 2, acknowledged = now();
	unsigned int stalls = 0;

	while (stalls < 5) {
		CHECK(now() < end, "%u accesses, and more", flood->accepted);
		stalls = flood_more(flood) ? 0 : stalls + 1;
		if (now() - acknowledged < TIMEOUT / 2)
			continue;
		flood_acknowledge(flood, 1);
		acknowledged = now();
	}
	CHECK(flood->accepted > 10 * WINDOW, "%u accesses", flood->accepted);
	/* What is ahead of its turn may have arrived, too. */
	flood->gets = flood->accepted + WINDOW;
	printf("one_cut_off: the driver accepts %u gets, %u of whose responses are acknowledged\n",
	       flood->accepted, ntohl(flood->put.ack));
}

static void open_host(void)
{
	uint64_t nic = htobe64(nic_of(ep) << 16);

	host.endpoint = number_of(ep);
	memcpy(host.frame.eth.ether_dhost, &nic, ETH_ALEN);
	raw_host_open_on(&host, 2, "eth0");
	raw_host_connect(&host, KEY, 1, 1);
}

/* ---- entries behind it -------------------------------------------------------------- */

/* Returns how long that took. */
static double await_entry(omx_log_t log, omx_log_entry_t *entry, struct flood *flood,
			  enum rest rest)
{
	struct cut_put *put = &flood->put;
	double start = now();
	uint32_t result;

	do {
		if (rest == ANSWERS)
			answer_probe(put);
		if (rest == FLUSHES)
			send_flush(put);
		if (rest == FLOODS)
			flood_more(flood);
		if (rest == LATE && now() - start > TIMEOUT / 2 && put->sent < put->length)
			send_packet(put, put->length - put->sent);
		MUST(omx_log_wait(ep, log, entry, &result, 100));
		CHECK(result || now() - start < 4 * TIMEOUT, "an unfinished entry stays");
	} while (!result);
	return now() - start;
}

static void check_entries(omx_log_t log, struct flood *flood, enum rest rest)
{
	omx_log_entry_t entry;
	omx_log_stats_t stats;
	double took = await_entry(log, &entry, flood, rest);

	printf("one_cut_off: %s: the next entry comes after %.1f s\n", names[rest], took);
	CHECK(took > TIMEOUT * 0.4);
	if (rest == LATE) {
		EQUAL(entry.data_length, flood->put.length);
		MUST(omx_log_release(ep, log));
		took = await_entry(log, &entry, flood, rest);
		CHECK(took < TIMEOUT / 2);
	}
	EQUAL(entry.data_length, OWN);
	verify(entry.data, OWN, rest);
	MUST(omx_log_release(ep, log));
	MUST(omx_log_stats(ep, log, &stats));
	EQUAL(stats.failed, rest != LATE);
	EQUAL(stats.used, 0);
}

static bool has_entry(omx_log_t log)
{
	omx_log_stats_t stats;

	MUST(omx_log_stats(ep, log, &stats));
	return stats.used;
}

static void begin_behind_gets(struct flood *flood, omx_log_t log)
{
	double end;

	flood->gets = UINT32_MAX;
	flood_until_full(flood);
	end = now() + PATIENCE_S / 2;
	while (!has_entry(log)) {
		CHECK(now() < end, "%u of %u accesses accepted, %u of %u responses acknowledged",
		      flood->accepted, flood->gets + 1, ntohl(flood->put.ack),
		      flood->responses);
		/* A few packets more are performed. */
		flood_acknowledge(flood, 8);
		flood_more(flood);
	}
}

static void check_rest(enum rest rest)
{
	struct flood flood = { .put = any_put(0, 2 * FIRST) };
	omx_log_t log;

	MUST(omx_log_create(ep, 0, &log));
	MUST(omx_window_activate(ep, window, 0, SIZE, ACTIVE, log));
	if (rest == FLOODS)
		begin_behind_gets(&flood, log);
	else
		send_packet(&flood.put, FIRST);
	AWAIT(has_entry(log), 5, 1);
	put_pattern(&self, PAGE, OWN, rest);
	check_entries(log, &flood, rest);
	MUST(omx_window_activate(ep, window, 0, SIZE, OMX_ACTIVE_W | OMX_ACTIVE_R, NULL));
	MUST(omx_log_destroy(ep, log));
}

/* ---- a tail that is wrong ----------------------------------------------------------- */

static void put_ones(size_t length)
{
	static uint8_t ones[DATA_MAX];

	memset(ones, 1, sizeof(ones));
	MUST(try_put(&self, PAGE, ones, length));
}

static void begin_in_last_slot(struct raw_log *log, struct cut_put *put)
{
	put_ones(DATA_MAX);
	put_ones(DATA_MAX - OMX_SLOT_SIZE);
	EQUAL(log->kernel->khead, SLOTS - 1);
	raw_log_skip(log);
	send_packet(put, FIRST);
	AWAIT(__atomic_load_n(&log->kernel->khead, __ATOMIC_ACQUIRE) == SLOTS, 5, 1);
}

/* Without data: the entry's only slot is the last one of the ring. */
static void overwrite_counted(struct raw_log *log)
{
	struct cut_put put = any_put(0, 2 * FIRST);
	uint32_t commits;

	begin_in_last_slot(log, &put);
	raw_log_skip(log);		/* though it is not complete */
	put_ones(DATA_MAX);
	put_ones(DATA_MAX);
	EQUAL(log->kernel->khead, 2 * SLOTS);
	EQUAL(raw_log_slot(log, SLOTS - 1)->data_length, 0x01010101);
	commits = log->kernel->kcommits;
	send_packet(&put, FIRST);
	AWAIT(__atomic_load_n(&log->kernel->kcommits, __ATOMIC_ACQUIRE) == commits + 1, 5, 1);
	EQUAL(raw_log_slot(log, SLOTS - 1)->data_length, 0x01010101);
	raw_log_skip(log);
}

/* With data, which others overwrite before and after its second packet. */
static void overwrite_logged(struct raw_log *log)
{
	struct cut_put put = any_put(PAGE, FIRST);
	uint32_t commits, i;

	send_packet(&put, 500);
	AWAIT(__atomic_load_n(&log->kernel->khead, __ATOMIC_ACQUIRE) % SLOTS, 5, 1);
	for (i = 0; i < 3; i++) {
		raw_log_skip(log);
		put_ones(DATA_MAX);
		send_packet(&put, 100);
	}
	commits = log->kernel->kcommits;
	send_packet(&put, put.length - put.sent);
	AWAIT(__atomic_load_n(&log->kernel->kcommits, __ATOMIC_ACQUIRE) == commits + 1, 5, 1);
	raw_log_skip(log);
}

static void check_tail(void)
{
	struct raw_log log;

	EQUAL(raw_log_create(&log, ep, SLOTS), 0);
	raw_log_map(&log);
	raw_log_activate(&log, ep, window, 0, PAGE, COUNTED);
	raw_log_activate(&log, ep, window, PAGE, PAGE, ACTIVE);
	overwrite_counted(&log);
	overwrite_logged(&log);
	put_ones(OWN);
	MUST(omx_window_destroy(ep, window));
	raw_log_destroy(&log);
	raw_log_unmap(&log);
}

/* ---- all ----------------------------------------------------------------------------- */

static void run_test(void)
{
	uint8_t *memory = map_anonymous(NULL, SIZE);
	char timeout_ms[20];
	enum rest rest;

	snprintf(timeout_ms, sizeof(timeout_ms), "%u", 1000 * options.seconds);
	setenv("OMX_TIMEOUT_MS", timeout_ms, 1);
	MUST(omx_init());
	ep = open_number(options.endpoint, NULL, 0);
	MUST(omx_window_create(ep, memory, SIZE, RIGHTS_ALL | OMX_WINDOW_RIGHT_ACTIVE, NULL,
			       &window));
	plain = export_memory(ep, memory, SIZE);
	self = (struct remote){ .ep = ep, .addr = connect_self(ep) };
	MUST(omx_window_key(ep, window, &self.key));
	open_host();
	for (rest = NEVER; rest <= FLOODS; rest++)
		check_rest(rest);
	check_tail();
	MUST(omx_close_endpoint(ep));
	MUST(omx_finalize());
}

int main(int argc, char **argv)
{
	options.seconds = 2;
	return run_alone(argc, argv, run_test);
}
