// SPDX-License-Identifier: BSD-2-Clause
/*
 * fuzz_segments --to MAC [OPTION...]: sends TCP segments as a NIC makes them of frames of omx,
 * nearly all of which are wrong somewhere, and prints what the receiver has to do with how
 * many of them (segment.h).
 *
 * --victim N captures the frames of the interface and forges segments with the valid sessions
 * of the channels of endpoint N of the receiver, as fuzz_frames does.
 *
 * --series sends nothing but valid segments, those of one packet in their order.
 *
 * --directed NAME sends the segments of one situation.
 *
 * --own gives them the Ethertype of omx instead of that of IPv4.
 */
#include <arpa/inet.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "chance.h"
#include "check.h"
#include "ethernet.h"
#include "heard.h"
#include "segment.h"
#include "segment_spoil.h"

#define BATCH		64
#define ENDPOINTS	4
#define ROUNDS		10	/* of a directed situation */
#define TOLD_MAX	3880	/* bytes of payload that fit in a segment */
#define PROBE_PAYLOAD	512	/* of each of the two segments of a hello */

enum kind {
	VALID, SERIES, HELLO, FIRST_WRONG, VICTIM = FIRST_WRONG + WRONGS, KINDS
};

static const char *const kind_names[KINDS] = {
	"valid", "several of one packet", "hello of a stranger",
	"other window", "other sequence number", "other lengths", "other option", "other type",
	"truncated", "too much or too little payload", "wrong checksum", "one extreme field",
	"for others", "for a VLAN", "of the victim's session",
};

static const char *const verdict_names[VERDICTS] = {
	"received", "dropped", "ignored", "left", "left to IP", "unclear", "frames",
};

/* Ten times, from a stranger, one after the other. */
static const struct directed {
	const char *name;
	uint8_t type;
	unsigned int segments, told;	/* what the window says */
	uint32_t before;
	unsigned int payload;
} directed[] = {
	{ "whole",	OMX_WIRE_PULL_RESPONSE,	4, 512,	0,	512 },
	{ "whole",	OMX_WIRE_PULL_RESPONSE,	4, 512,	512,	512 },
	{ "whole",	OMX_WIRE_PULL_RESPONSE,	4, 512,	1024,	512 },
	{ "whole",	OMX_WIRE_PULL_RESPONSE,	4, 512,	1536,	100 },
	{ "short",	OMX_WIRE_PULL_RESPONSE,	4, 512,	0,	256 },
	{ "short",	OMX_WIRE_PULL_RESPONSE,	4, 512,	256,	256 },
	{ "short",	OMX_WIRE_EAGER,		4, 512,	0,	511 },
	{ "short",	OMX_WIRE_EAGER,		4, 512,	1024,	8 },
	{ "halved",	OMX_WIRE_EAGER,		4, 512,	1536,	100 },
	{ "long",	OMX_WIRE_EAGER,		4, 512,	0,	520 },
	{ "long",	OMX_WIRE_PULL_RESPONSE,	4, 512,	0,	1024 },
	{ "long",	OMX_WIRE_PULL_RESPONSE,	4, 512,	1536,	513 },
	{ "empty",	OMX_WIRE_PULL_RESPONSE,	4, 512,	2048,	0 },
	{ "empty",	OMX_WIRE_EAGER,		4, 512,	0,	0 },
	{ "probe",	OMX_WIRE_HELLO,		2, 512,	0,	512 },
	{ "probe",	OMX_WIRE_HELLO,		2, 512,	512,	512 },
	{ "second",	OMX_WIRE_HELLO,		2, 512,	512,	512 },
	{ "tiny",	OMX_WIRE_PULL_RESPONSE,	63, 16,	0,	1008 },
	{ "tiny",	OMX_WIRE_EAGER,		63, 16,	0,	32 },
	{ "tiny",	OMX_WIRE_EAGER,		63, 16,	496,	512 },
	{ "beyond",	OMX_WIRE_PULL_RESPONSE,	4, 512,	2048,	8 },
	{ "beyond",	OMX_WIRE_PULL_RESPONSE,	4, 512,	2560,	0 },
	{ "beyond",	OMX_WIRE_EAGER,		4, 512,	-512,	512 },
	{ "beyond",	OMX_WIRE_EAGER,		63, 2048, 65536, 2048 },
	{ "beside",	OMX_WIRE_PULL_RESPONSE,	4, 512,	8,	512 },
	{ "beside",	OMX_WIRE_EAGER,		4, 512,	1,	8 },
	{ "nothing",	OMX_WIRE_PULL_RESPONSE,	0, 512,	0,	512 },
	{ "nothing",	OMX_WIRE_PULL_RESPONSE,	4, 0,	0,	8 },
	{ "nothing",	OMX_WIRE_EAGER,		0, 0,	0,	0 },
	{ "nested",	OMX_WIRE_PULL_RESPONSE,	4, 512,	0,	512 },
	{ "nested",	OMX_WIRE_EAGER,		4, 512,	0,	512 },
	{ "checksum",	OMX_WIRE_PULL_RESPONSE,	4, 512,	0,	512 },
	{ "checksum",	OMX_WIRE_EAGER,		4, 512,	1536,	100 },
};

static struct segment packets[BATCH];
static struct iovec vectors[BATCH];
static struct mmsghdr messages[BATCH];
static unsigned int filled;
static int fd;

static uint64_t sent[KINDS], verdicts[VERDICTS], versions, total = 30000;
static int victim = -1;
static bool series_only;
static uint16_t ethertype = ETHERTYPE_IP;
static const char *situation;
static uint8_t to_mac[ETH_ALEN], own_mac[ETH_ALEN];

/* ---- sending ---- */

static void send_filled(void)
{
	ethernet_send(fd, messages, filled);
	filled = 0;
}

/* Of a frame in a segment, or of what is none, but has a head. */
static bool has_other_version(const struct segment *packet, unsigned int length,
			      enum verdict verdict)
{
	const struct omx_wire_head *head = (const void *)&packet->ip;

	if (verdict == A_FRAME)
		return length >= sizeof(packet->eth) + sizeof(*head) &&
		       head->version != OMX_WIRE_VERSION;
	return verdict == RECEIVED && packet->option.version != OMX_WIRE_VERSION;
}

static void count_packet(const struct segment *packet, unsigned int length)
{
	enum verdict verdict = segment_judge(packet, length, to_mac);

	verdicts[verdict]++;
	versions += has_other_version(packet, length, verdict);
	vectors[filled++].iov_len = length;
	if (filled == BATCH)
		send_filled();
}

/* ---- valid segments ---- */

/* Peers believe hellos, so none are sent in the name of this node. */
static void hide_sender(struct segment *packet, uint8_t type)
{
	uint16_t who = any_below(2048);

	if (type != OMX_WIRE_HELLO)
		return;
	memcpy(packet->eth.ether_shost, "\x02\xf0\x00\x00", 4);
	memcpy(packet->eth.ether_shost + 4, &who, sizeof(who));
}

/* The name, and behind it the nonce, in the payload of the first segment. */
static void fill_hello(struct segment *to)
{
	to->hello.name_length = 1 + any_below(OMX_WIRE_NAME_LEN - 1);
	to->hello.mtu = htons(any_below(4) ? 1500 + any_below(7500) : any_below(65536));
	if (any_below(4))
		to->hello.flags |= OMX_HELLO_PROBE;
	memset(&to->hello + 1, 'a' + any_below(26), to->hello.name_length);
}

static void fill_body(struct segment *to, uint8_t type)
{
	switch (type) {
	case OMX_WIRE_HELLO:
		fill_hello(to);
		break;
	case OMX_WIRE_EAGER:
		to->eager.offset = htons(any_below(2) ? 0 : any_below(60000));
		to->eager.msg_last = htons(any_below(2) ? 65535 : any_below(65536));
		break;
	case OMX_WIRE_PULL_RESPONSE:
		to->response.offset &= htonl(~0u >> 1);
		break;
	}
}

/* A segment that is shorter than others is at the end of its message. */
static void end_message(struct segment *to, unsigned int length)
{
	unsigned int offset = any_below(65536 - length % 65536);

	if (to->option.type != OMX_WIRE_EAGER)
		return;
	to->eager.offset = htons(offset);
	to->eager.msg_last = htons(offset + length - 1);
}

/* Its endpoint may exist, its session does not. */
static unsigned int make_with(struct segment *to, uint8_t type, unsigned int segments,
			      unsigned int told, uint32_t before, unsigned int payload)
{
	unsigned int length;

	any_bytes(&to->ip, segment_headers(type) - sizeof(to->eth) + payload);
	memcpy(to->eth.ether_dhost, to_mac, ETH_ALEN);
	memcpy(to->eth.ether_shost, own_mac, ETH_ALEN);
	hide_sender(to, type);
	length = segment_fill(to, ethertype, type, segments, told, before, payload);
	to->option.dst_endpoint = htons(any_below(ENDPOINTS));
	fill_body(to, type);
	if (payload % (told ?: 1))
		end_message(to, before + payload);
	segment_seal(to, length);
	return length;
}

/* Mostly the first half, which is all that matters. */
static unsigned int make_probe(struct segment *to)
{
	return make_with(to, OMX_WIRE_HELLO, 2, PROBE_PAYLOAD, any_below(4) ? 0 : PROBE_PAYLOAD,
			 PROBE_PAYLOAD);
}

static unsigned int make_valid(struct segment *to, uint8_t type)
{
	unsigned int told = 16 * (1 + any_below(any_below(16) ? 90 : TOLD_MAX / 16));
	unsigned int segments, i;

	if (type == OMX_WIRE_HELLO)
		return make_probe(to);
	segments = 1 + any_below(65535 / told < 63 ? 65535 / told : 63);
	i = any_below(4) ? any_below(segments) : segments - 1;
	return make_with(to, type, segments, told, i * told,
			 i + 1 < segments ? told : 1 + any_below(told));
}

static uint8_t any_type(void)
{
	static const uint8_t types[] = {
		OMX_WIRE_EAGER, OMX_WIRE_EAGER, OMX_WIRE_PULL_RESPONSE, OMX_WIRE_PULL_RESPONSE,
		OMX_WIRE_HELLO,
	};

	return types[any_below(sizeof(types))];
}

/* ---- several segments of one packet ---- */

static struct segment series;	/* the next one */
static unsigned int series_left, series_told, series_end;

static void begin_series(void)
{
	series_told = any_below(2) ? 512 : 16 * (1 + any_below(90));
	series_left = 2 + any_below(any_below(4) ? 5 : 20);
	make_with(&series, any_below(2) ? OMX_WIRE_EAGER : OMX_WIRE_PULL_RESPONSE, series_left,
		  series_told, 0, series_told);
	/* Each frame is valid. */
	series_end = (series_left - 1) * series_told + 1 + any_below(series_told);
	if (series.option.type == OMX_WIRE_EAGER) {
		series.eager.offset = 0;
		series.eager.msg_last = htons(series_end - 1);
	}
}

static unsigned int continue_series(struct segment *to)
{
	unsigned int before = ntohl(series.tcp.seq);
	unsigned int payload = --series_left ? series_told : series_end - before;
	unsigned int length = segment_headers(series.option.type) + payload;

	memcpy(to, &series, segment_headers(series.option.type) + series_told);
	to->ip.tot_len = htons(length - sizeof(to->eth));
	to->tcp.psh = !series_left;	/* in the last one only, as NICs do it */
	segment_seal(to, length);
	series.tcp.seq = htonl(before + series_told);
	return length;
}

/* ---- all kinds ---- */

/* The sessions are valid ones of the victim, and perhaps the flow and its numbers. */
static void forge_victim(struct segment *packet, unsigned int length)
{
	const struct heard *heard = heard_any();
	const struct omx_wire_head *real;
	const struct omx_wire_sequence *sequence;

	if (!heard)
		return;
	real = (const struct omx_wire_head *)heard->bytes;
	sequence = (const struct omx_wire_sequence *)(real + 1);
	packet->option.dst_endpoint = real->dst_endpoint;
	packet->option.src_session = real->src_session;
	packet->tcp.ack_seq = real->dst_session;
	packet->tcp.source = real->src_endpoint | htons(OMX_WIRE_TSO_SOURCE);
	if (packet->option.type == OMX_WIRE_PULL_RESPONSE && any_below(2)) {
		packet->response.offset = 0;
		packet->response.pull = htonl(any_below(64));
	} else if (packet->option.type == OMX_WIRE_EAGER &&
		   heard->length >= sizeof(*real) + sizeof(*sequence)) {
		packet->eager.flow = sequence->flow;
		packet->eager.seq = htonl(ntohl(sequence->seq) + any_below(16));
	}
	segment_seal(packet, length);
}

static unsigned int make_kind(struct segment *packet, enum kind kind)
{
	unsigned int length;

	if (kind == SERIES)
		return continue_series(packet);
	length = make_valid(packet, kind == HELLO ? OMX_WIRE_HELLO : any_type());
	if (kind == VICTIM)
		forge_victim(packet, length);
	else if (kind >= FIRST_WRONG)
		length = segment_spoil(packet, length, kind - FIRST_WRONG);
	if (!memcmp(packet->eth.ether_shost, own_mac, ETH_ALEN))
		hide_sender(packet, packet->option.type);
	return length;
}

/* ---- what is sent ---- */

/* Somebody speaks to it most of the time. */
static void await_victim(void)
{
	unsigned int tries;

	for (tries = 0; tries < 600 && !heard_count(); tries++) {
		usleep(50000);
		heard_listen();
	}
	CHECK(heard_count(), "nobody speaks to the victim");
}

static void send_random(void)
{
	uint64_t done;

	if (victim >= 0)
		await_victim();
	for (done = 0; done < total; done++) {
		struct segment *packet = &packets[filled];
		enum kind kind = SERIES;

		if (victim >= 0 && done % BATCH == 0)
			heard_listen();
		if (!series_left && !series_only)
			kind = any_below(victim >= 0 ? KINDS : VICTIM);
		if (!series_left && kind == SERIES)
			begin_series();
		sent[kind]++;
		count_packet(packet, make_kind(packet, kind));
	}
	send_filled();
}

static void send_row(const struct directed *row)
{
	struct segment *packet = &packets[filled];
	unsigned int length = make_with(packet, row->type, row->segments, row->told, row->before,
					row->payload);

	/* The name does not matter, but must be valid. */
	if (row->type == OMX_WIRE_HELLO) {
		packet->hello.flags = OMX_HELLO_PROBE | OMX_HELLO_WANT_RESPONSE;
		packet->hello.mtu = htons(1500);
		segment_seal(packet, length);
	}
	/* The rest of the message would be in the other half. */
	if (!strcmp(row->name, "halved")) {
		packet->eager.msg_last = htons(65535);
		segment_seal(packet, length);
	}
	if (!strcmp(row->name, "nested")) {
		packet->option.version = OMX_WIRE_TSO_FIRST;
		segment_seal(packet, length);
	}
	if (!strcmp(row->name, "checksum"))
		packet->tcp.check ^= 1;
	count_packet(packet, length);
}

static void send_situation(void)
{
	unsigned int round, i, rows = 0;

	for (round = 0; round < ROUNDS; round++)
		for (i = 0; i < sizeof(directed) / sizeof(*directed); i++)
			if (!strcmp(directed[i].name, situation)) {
				send_row(&directed[i]);
				rows++;
			}
	CHECK(rows, "no situation %s", situation);
	send_filled();
}

static void parse_options(int argc, char **argv)
{
	static const struct option options[] = {
		{ "to",		required_argument, NULL, 't' },
		{ "count",	required_argument, NULL, 'n' },
		{ "seed",	required_argument, NULL, 's' },
		{ "victim",	required_argument, NULL, 'v' },
		{ "series",	no_argument, NULL, 'r' },
		{ "directed",	required_argument, NULL, 'd' },
		{ "own",	no_argument, NULL, 'o' },
		{ NULL, 0, NULL, 0 },
	};
	bool known = false;
	int c;

	chance.state = time(NULL) * 1000003ull ^ getpid();
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 't': ethernet_parse_mac(optarg, to_mac); known = true; break;
		case 'n': total = strtoull(optarg, NULL, 0); break;
		case 's': chance.state = strtoull(optarg, NULL, 0); break;
		case 'v': victim = atoi(optarg); break;
		case 'r': series_only = true; break;
		case 'd': situation = optarg; break;
		case 'o': ethertype = OMX_ETHERTYPE_DEFAULT; break;
		default: exit(2);
		}
	}
	if (!known || optind < argc) {
		fputs("usage: fuzz_segments --to MAC [--count N] [--seed S] [--victim ENDPOINT]\n"
		      "                     [--series] [--directed NAME] [--own]\n", stderr);
		exit(2);
	}
	if (!chance.state)
		chance.state = 1;
}

static void print_counts(void)
{
	unsigned int i;

	for (i = 0; i < KINDS; i++)
		if (sent[i])
			printf("%8llu sent: %s\n", (unsigned long long)sent[i], kind_names[i]);
	if (victim >= 0)
		printf("%8u frames of the victim heard\n", heard_count());
	for (i = 0; i < VERDICTS; i++)
		printf("%8llu %s\n", (unsigned long long)verdicts[i], verdict_names[i]);
	printf("%8llu other version\n", (unsigned long long)versions);
}

int main(int argc, char **argv)
{
	unsigned int i;

	parse_options(argc, argv);
	printf("seed %llu\n", (unsigned long long)chance.state);
	fflush(stdout);
	fd = ethernet_open("eth0", 0);
	ethernet_own_mac("eth0", own_mac);
	if (victim >= 0)
		heard_open("eth0", victim);
	for (i = 0; i < BATCH; i++) {
		vectors[i].iov_base = &packets[i];
		messages[i].msg_hdr.msg_iov = &vectors[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
	if (situation)
		send_situation();
	else
		send_random();
	print_counts();
	return 0;
}
