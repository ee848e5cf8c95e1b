// SPDX-License-Identifier: BSD-2-Clause
/*
 * fuzz_frames --to MAC [OPTION...]: sends invalid frames of omx's EtherType,
 * from truncated ones to nearly valid ones.
 *
 * --victim N captures the frames of the interface and forges frames with the
 * valid sessions of the channels of endpoint N of the receiver.  A host that
 * knows the sessions can end these channels or insert messages, so the test
 * case does not rely on them; all other channels must not be affected.
 *
 * --fragments sends from a ring that is shared with the kernel.  The linear part
 * of such a packet ends behind the Ethernet header, and the omx header crosses
 * a page boundary.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <getopt.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* wire.h is written for the kernel */
#define __packed	__attribute__((packed))
#include "omx_wire.h"

#include "omx_abi.h"

#include "chance.h"
#include "check.h"
#include "ethernet.h"
#include "heard.h"

#define BATCH		64
#define FRAME_MAX	9014
#define RING_SLOT	16384
#define RING_PAGE	4096

enum kind {
	SHORT, LONG, NOISE, HEADS, EXTREMES, MUTATED, SESSIONS, STRANGERS, CAST, VICTIM, KINDS
};

static const char *const kind_names[KINDS] = {
	"too short", "too long", "random bytes", "valid head, random body",
	"valid frame, one extreme field", "heard frame, mutated",
	"right endpoint, other session", "hello, bye and connect of strangers",
	"to many, or from many", "of the victim's session",
};

struct frame {
	struct ether_header eth;
	union {
		struct omx_wire_head head;
		uint8_t bytes[FRAME_MAX - sizeof(struct ether_header)];
	};
} __packed;

static struct frame frames[BATCH];
static struct iovec vectors[BATCH];
static struct mmsghdr messages[BATCH];
static uint64_t sent[KINDS], total = 1000000;
static unsigned int endpoints = 4;
static int victim = -1;
static bool fragments;
static uint8_t *ring;
static uint8_t to_mac[ETH_ALEN], own_mac[ETH_ALEN];
static const char *interface = "eth0";

/* An extreme value over an aligned field of 1, 2, 4 or 8 bytes. */
static void spoil_field(uint8_t *bytes, unsigned int length)
{
	unsigned int size = 1u << any_below(4);
	uint64_t value = any_extreme();

	if (length >= size)
		memcpy(bytes + any_below(length / size) * size, &value, size);
}

static const unsigned int bodies[OMX_WIRE_TYPES] = {
	[OMX_WIRE_HELLO]	 = sizeof(struct omx_wire_hello),
	[OMX_WIRE_BYE]		 = sizeof(struct omx_wire_hello),
	[OMX_WIRE_CONNECT]	 = sizeof(struct omx_wire_connect),
	[OMX_WIRE_CONNECT_RESPONSE] = sizeof(struct omx_wire_connect_response),
	[OMX_WIRE_EAGER]	 = sizeof(struct omx_wire_eager),
	[OMX_WIRE_RNDV]		 = sizeof(struct omx_wire_rndv),
	[OMX_WIRE_NOTIFY]	 = sizeof(struct omx_wire_notify),
	[OMX_WIRE_ACK]		 = sizeof(struct omx_wire_ack),
	[OMX_WIRE_PULL_REQUEST]		 = sizeof(struct omx_wire_pull_request),
	[OMX_WIRE_PULL_RESPONSE]	 = sizeof(struct omx_wire_pull_response),
	[OMX_WIRE_NACK]		 = sizeof(struct omx_wire_nack),
	[OMX_WIRE_HOLD]		 = sizeof(struct omx_wire_hold),
	[OMX_WIRE_PUT]		 = sizeof(struct omx_wire_put),
	[OMX_WIRE_PUT_RNDV]	 = sizeof(struct omx_wire_put_rndv),
	[OMX_WIRE_GET]		 = sizeof(struct omx_wire_get),
	[OMX_WIRE_ATOMIC]	 = sizeof(struct omx_wire_atomic),
	[OMX_WIRE_ACCESS_RESPONSE] = sizeof(struct omx_wire_access_response),
	[OMX_WIRE_POST_KEY]	 = sizeof(struct omx_wire_post_key),
	[OMX_WIRE_FLUSH]	 = sizeof(struct omx_wire_flush),
	[OMX_WIRE_BUNDLE]	 = sizeof(struct omx_wire_bundle),
};

static void from_stranger(struct frame *frame)
{
	uint16_t who = any_below(2048);

	memcpy(frame->eth.ether_shost, "\x02\xf0\x00\x00", 4);
	memcpy(frame->eth.ether_shost + 4, &who, sizeof(who));
}

static bool is_announcement(uint8_t type)
{
	return type == OMX_WIRE_HELLO || type == OMX_WIRE_BYE;
}

/* ---- bundles ---- */

#define BUNDLE_MOST	8900	/* bytes of messages */

/* Many that take a slot of the ring each, many of no bytes, or few long ones. */
static unsigned int any_bundled_length(unsigned int shape)
{
	switch (shape) {
	case 0:
		return 0;
	case 1:
		return any_below(9);
	case 2:
		return OMX_WIRE_BUNDLED_MAX - any_below(3);
	default:
		return any_below(any_below(4) ? 100 : OMX_WIRE_BUNDLED_MAX + 1);
	}
}

/* The length of a message is not what it was when the others were put behind it. */
static void spoil_message(struct omx_wire_bundled *message)
{
	uint32_t length = ntohl(message->msg_length);

	switch (any_below(4)) {
	case 0:
		length = OMX_WIRE_BUNDLED_MAX + any_below(3);
		break;
	case 1:
		length += any_below(32) - 16;
		break;
	case 2:
		length = any_extreme();
		break;
	default:
		any_bytes((uint8_t *)message, sizeof(*message));
		return;
	}
	message->msg_length = htonl(length);
}

/* Messages whose bytes are random already; at least one.  Returns how many bytes they take. */
static unsigned int build_messages(uint8_t *at)
{
	unsigned int shape = any_below(6), room = any_below(4) ? 1400 : BUNDLE_MOST;
	unsigned int used = 0, count = 0, wrong = any_below(2) ? any_below(4) : ~0u;

	do {
		struct omx_wire_bundled *message = (void *)(at + used);
		unsigned int length = any_bundled_length(shape);

		if (used + sizeof(*message) + length > BUNDLE_MOST)
			break;
		message->msg_length = htonl(length);
		message->reserved = 0;
		if (count++ == wrong)
			spoil_message(message);
		used += sizeof(*message) + length;
		used += -used % OMX_WIRE_BUNDLE_ALIGN;
	} while (used < room && any_below(64));
	/* Cut in the middle of the last ones, or with bytes behind them. */
	if (!any_below(4) && used > 3 * sizeof(struct omx_wire_bundled))
		used -= any_below(2 * sizeof(struct omx_wire_bundled));
	return used;
}

/* A frame that passes omx_wire_validate(), for an endpoint that may exist. */
static unsigned int build_valid(struct frame *frame, uint8_t type)
{
	unsigned int length = sizeof(frame->head) + bodies[type], payload = 0;
	void *body = frame->bytes + sizeof(frame->head);
	struct omx_wire_hello *hello = body;
	struct omx_wire_eager *eager = body;
	struct omx_wire_pull_request *pull = body;
	struct omx_wire_pull_response *reply = body;
	struct omx_wire_put *put = body;
	struct omx_wire_put_rndv *put_rndv = body;
	struct omx_wire_get *get = body;
	struct omx_wire_atomic *atomic = body;
	struct omx_wire_access_response *response = body;
	struct omx_wire_post_key *post_key = body;

	any_bytes(frame->bytes, length);
	frame->head.version = OMX_WIRE_VERSION;
	frame->head.type = type;
	frame->head.dst_endpoint = htons(any_below(endpoints));
	frame->head.src_endpoint = htons(any_below(endpoints));
	switch (type) {
	case OMX_WIRE_HELLO:
	case OMX_WIRE_BYE:
		payload = 1 + any_below(OMX_WIRE_NAME_LEN - 1);
		hello->name_length = payload;
		hello->mtu = htons(any_below(4) ? 1500 + any_below(7500) : any_below(65536));
		memset(hello + 1, 'a' + any_below(26), payload);
		break;
	case OMX_WIRE_EAGER:
		payload = 1 + any_below(1400);
		eager->offset = htonl(any_below(2) ? 0 : any_below(60000));
		eager->msg_length = htonl(ntohl(eager->offset) + payload + any_below(4000));
		break;
	case OMX_WIRE_PULL_REQUEST:
		pull->frame_length = htons(1 + any_below(9000));
		pull->length = htonl(1 + any_below(32 * ntohs(pull->frame_length)));
		pull->offset &= htonl(~0u >> 1);
		pull->wanted = htonl(1 + 2 * any_below(2));
		break;
	case OMX_WIRE_PULL_RESPONSE:
		payload = 1 + any_below(1400);
		reply->offset &= htonl(~0u >> 1);
		break;
	case OMX_WIRE_PUT:
		payload = 1 + any_below(1400);
		put->offset &= htonl(~0u >> 1);
		put->length = htonl(payload + (any_below(2) ? 0 : any_below(4000)));
		put->flags = any_below(32);
		break;
	case OMX_WIRE_PUT_RNDV:
		put_rndv->offset &= htonl(~0u >> 1);
		put_rndv->length &= htonl(~0u >> 1);
		break;
	case OMX_WIRE_GET:
		get->offset &= htonl(~0u >> 1);
		get->length = any_below(2) ? htobe64(any_below(OMX_WIRE_GET_MAX + 1)) :
			get->length & htonl(~0u >> 1);
		get->flags = be64toh(get->length) > OMX_WIRE_GET_MAX ? OMX_GET_ANNOUNCE : any_below(2);
		break;
	case OMX_WIRE_ATOMIC:
		atomic->operation = any_below(OMX_WIRE_OPERATIONS);
		atomic->size = 4 << any_below(2);
		break;
	case OMX_WIRE_BUNDLE:
		any_bytes((uint8_t *)body + bodies[type], BUNDLE_MOST);
		payload = build_messages((uint8_t *)body + bodies[type]);
		break;
	case OMX_WIRE_ACCESS_RESPONSE:
		payload = any_below(2) ? 0 : any_below(1400);
		response->access = htonl(any_below(300));
		response->status = any_below(OMX_STATUSES + 1);
		break;
	case OMX_WIRE_POST_KEY:
		post_key->offset &= htonl(~0u >> 1);
		post_key->length &= htonl(~0u >> 1);
		post_key->tag = htobe64(any_below(8));
		break;
	}
	if (!is_announcement(type) && type != OMX_WIRE_BUNDLE)
		any_bytes((uint8_t *)body + bodies[type], payload);
	frame->head.length = htons(length + payload);
	return length + payload;
}

static uint8_t any_type(void)
{
	return OMX_WIRE_HELLO + any_below(OMX_WIRE_TYPES - OMX_WIRE_HELLO);
}

static void hide_sender(struct frame *frame)
{
	/*
	 * Peers believe announcements of this node, so none are sent in its
	 * name.
	 */
	if (is_announcement(frame->head.type))
		from_stranger(frame);
}

static unsigned int mutate_heard(struct frame *frame)
{
	const struct heard *heard = heard_any();
	unsigned int length, i;

	if (!heard)
		return build_valid(frame, any_type());
	length = heard->length;
	memcpy(frame->bytes, heard->bytes, length);
	/* the victim's own sessions are for VICTIM only */
	frame->head.dst_session = (uint32_t)any_word();
	for (i = any_below(4); i-- > 0;)
		spoil_field(frame->bytes, length);
	if (!any_below(8))
		length = any_below(length + 1);
	return length;
}

/* Number and flow of the sender, so that it is among the next packets. */
static void continue_sequence(struct frame *frame, const struct omx_wire_head *real)
{
	struct omx_wire_sequence *sequence = (void *)(frame->bytes + sizeof(frame->head));

	memcpy(sequence, real + 1, sizeof(*sequence));
	sequence->seq = htonl(ntohl(sequence->seq) + any_below(16));
}

/*
 * The sessions are valid ones of the victim; the rest of the frame is random.
 */
static unsigned int forge_heard(struct frame *frame)
{
	const struct heard *heard = heard_any();
	const struct omx_wire_head *real;
	unsigned int length;

	if (!heard)
		return build_valid(frame, OMX_WIRE_CONNECT);
	real = (const struct omx_wire_head *)heard->bytes;
	if (!any_below(4)) {
		length = build_valid(frame, OMX_WIRE_BUNDLE);
		if (heard->length >= sizeof(*real) + sizeof(struct omx_wire_sequence))
			continue_sequence(frame, real);
	} else if (any_below(2)) {
		length = heard->length;
		memcpy(frame->bytes, heard->bytes, length);
		spoil_field(frame->bytes + sizeof(*real), length - sizeof(*real));
	} else {
		length = build_valid(frame, OMX_WIRE_CONNECT +
				     any_below(OMX_WIRE_TYPES - OMX_WIRE_CONNECT));
	}
	frame->head.dst_endpoint = real->dst_endpoint;
	frame->head.dst_session = real->dst_session;
	frame->head.src_endpoint = any_below(64) ? real->src_endpoint : htons(any_below(65536));
	frame->head.src_session = any_below(64) ? real->src_session : (uint32_t)any_word();
	return length;
}

static unsigned int make_frame(struct frame *frame, enum kind kind)
{
	static const uint8_t everybody[] = "\xff\xff\xff\xff\xff\xff";
	unsigned int length;

	memcpy(frame->eth.ether_dhost, to_mac, ETH_ALEN);
	memcpy(frame->eth.ether_shost, own_mac, ETH_ALEN);
	frame->eth.ether_type = htons(OMX_ETHERTYPE_DEFAULT);
	switch (kind) {
	case SHORT:
		length = any_below(build_valid(frame, any_type()));
		break;
	case LONG:
		length = build_valid(frame, any_type());
		if (any_below(2))
			frame->head.length = htons(length + 1 + any_below(65535 - length));
		else
			length += any_below(any_below(16) ? 100 : 5000);
		if (length > sizeof(frame->bytes))
			length = sizeof(frame->bytes);
		break;
	case NOISE:
		length = any_below(any_below(16) ? 200 : 9000);
		any_bytes(frame->bytes, length);
		break;
	case HEADS:
		length = build_valid(frame, any_type());
		any_bytes(frame->bytes + sizeof(frame->head), length - sizeof(frame->head));
		break;
	case EXTREMES:
		length = build_valid(frame, any_type());
		spoil_field(frame->bytes, length);
		break;
	case MUTATED:
		length = mutate_heard(frame);
		break;
	case SESSIONS:
		length = build_valid(frame, OMX_WIRE_CONNECT_RESPONSE +
				      any_below(OMX_WIRE_TYPES - OMX_WIRE_CONNECT_RESPONSE));
		frame->head.dst_endpoint = htons(0);
		break;
	case STRANGERS:
		length = build_valid(frame, OMX_WIRE_HELLO + any_below(3));
		from_stranger(frame);
		if (any_below(2))
			memcpy(frame->eth.ether_dhost, everybody, ETH_ALEN);
		break;
	case CAST:
		length = build_valid(frame, any_type());
		if (any_below(2))
			memcpy(frame->eth.ether_dhost, everybody, ETH_ALEN);
		else
			memcpy(frame->eth.ether_dhost, "\x33\x33\x00\x00\x00\x01", ETH_ALEN);
		if (any_below(2))
			frame->eth.ether_shost[0] |= 1;
		break;
	default:
		return forge_heard(frame);
	}
	hide_sender(frame);
	return length;
}

static void send_from_ring(int fd, unsigned int count)
{
	unsigned int i, offset;

	for (i = 0; i < count; i++) {
		struct tpacket2_hdr *slot = (void *)(ring + i * RING_SLOT);

		offset = RING_PAGE - sizeof(struct ether_header) - any_below(64);
		memcpy((uint8_t *)slot + offset, &frames[i], vectors[i].iov_len);
		slot->tp_mac = offset;
		slot->tp_len = vectors[i].iov_len;
		/* Pairs with the kernel's read of the status. */
		__atomic_store_n(&slot->tp_status, TP_STATUS_SEND_REQUEST, __ATOMIC_RELEASE);
	}
	/* Returns when all slots are ours again. */
	while (send(fd, NULL, 0, 0) < 0)
		if (errno != ENOBUFS && errno != EAGAIN && errno != EINTR)
			die("send");
}

static void set_option(int fd, int option, int value)
{
	if (setsockopt(fd, SOL_PACKET, option, &value, sizeof(value)))
		die("setsockopt");
}

static void open_ring(int fd)
{
	struct tpacket_req request = {
		.tp_block_size = RING_SLOT,
		.tp_block_nr = BATCH,
		.tp_frame_size = RING_SLOT,
		.tp_frame_nr = BATCH,
	};

	set_option(fd, PACKET_VERSION, TPACKET_V2);
	set_option(fd, PACKET_TX_HAS_OFF, 1);
	set_option(fd, PACKET_LOSS, 1);		/* skip what the interface does not take */
	if (setsockopt(fd, SOL_PACKET, PACKET_TX_RING, &request, sizeof(request)))
		die("PACKET_TX_RING");
	ring = mmap(NULL, BATCH * RING_SLOT, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED)
		die("mmap");
}

static void parse_options(int argc, char **argv)
{
	static const struct option options[] = {
		{ "to",		required_argument, NULL, 't' },
		{ "interface",	required_argument, NULL, 'i' },
		{ "count",	required_argument, NULL, 'n' },
		{ "seed",	required_argument, NULL, 's' },
		{ "victim",	required_argument, NULL, 'v' },
		{ "endpoints",	required_argument, NULL, 'e' },
		{ "fragments",	no_argument, NULL, 'f' },
		{ NULL, 0, NULL, 0 },
	};
	int c, known = 0;

	chance.state = time(NULL) * 1000003ull ^ getpid();
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 't':
			ethernet_parse_mac(optarg, to_mac);
			known = 1;
			break;
		case 'i':
			interface = optarg;
			break;
		case 'n':
			total = strtoull(optarg, NULL, 0);
			break;
		case 's':
			chance.state = strtoull(optarg, NULL, 0);
			break;
		case 'v':
			victim = atoi(optarg);
			break;
		case 'e':
			endpoints = atoi(optarg);
			break;
		case 'f':
			fragments = true;
			break;
		default:
			exit(2);
		}
	}
	if (!known || !endpoints || optind < argc) {
		fputs("usage: fuzz_frames --to MAC [--interface NAME] [--count N] [--seed S]\n"
		      "                   [--victim ENDPOINT] [--endpoints N] [--fragments]\n",
		      stderr);
		exit(2);
	}
	if (!chance.state)
		chance.state = 1;
}

int main(int argc, char **argv)
{
	unsigned int i, count, kinds;
	int fd;
	uint64_t done = 0;

	parse_options(argc, argv);
	printf("seed %llu\n", (unsigned long long)chance.state);
	fflush(stdout);
	fd = ethernet_open(interface, 0);
	ethernet_own_mac(interface, own_mac);
	if (fragments)
		open_ring(fd);
	if (victim >= 0)
		heard_open(interface, victim);
	kinds = victim >= 0 ? KINDS : VICTIM;

	for (i = 0; i < BATCH; i++) {
		vectors[i].iov_base = &frames[i];
		messages[i].msg_hdr.msg_iov = &vectors[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
	for (; done < total; done += count) {
		count = total - done < BATCH ? total - done : BATCH;
		if (victim >= 0 && done % (16 * BATCH) == 0)
			heard_listen();
		for (i = 0; i < count; i++) {
			enum kind kind = any_below(kinds);
			unsigned int length = make_frame(&frames[i], kind);

			vectors[i].iov_len = sizeof(struct ether_header) + length;
			sent[kind]++;
		}
		if (fragments)
			send_from_ring(fd, count);
		else
			ethernet_send(fd, messages, count);
	}

	for (i = 0; i < KINDS; i++)
		printf("%8llu %s\n", (unsigned long long)sent[i], kind_names[i]);
	printf("%8llu frames sent, %u frames of the victim heard\n",
	       (unsigned long long)done, heard_count());
	return 0;
}
