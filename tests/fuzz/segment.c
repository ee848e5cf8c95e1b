// SPDX-License-Identifier: BSD-2-Clause
/*
 * The rules for TCP segments once more, as contract/omx_wire.h states them and without the
 * network stack: nothing merges segments, and nobody but the receiver has verified checksums,
 * which count only with the Ethertype of IPv4.
 */
#include "segment.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define IP_AT	sizeof(struct ether_header)
#define TCP_AT	(IP_AT + sizeof(struct iphdr))
#define BODY_AT	offsetof(struct segment, bytes)

unsigned int segment_body(uint8_t type)
{
	switch (type) {
	case OMX_WIRE_HELLO:
		return sizeof(struct omx_wire_hello);
	case OMX_WIRE_EAGER:
		return sizeof(struct omx_wire_tso_eager);
	case OMX_WIRE_PULL_RESPONSE:
		return sizeof(struct omx_wire_pull_response);
	default:
		return 0;
	}
}

unsigned int segment_headers(uint8_t type)
{
	return BODY_AT + segment_body(type);
}

static uint32_t address_of(const uint8_t *mac)
{
	return htonl(OMX_WIRE_TSO_NET | mac[4] << 8 | mac[5]);
}

unsigned int segment_fill(struct segment *to, uint16_t ethertype, uint8_t type,
			  unsigned int segments, unsigned int told, uint32_t before,
			  unsigned int payload)
{
	const unsigned int length = segment_headers(type) + payload;

	to->eth.ether_type = htons(ethertype);
	to->ip = (struct iphdr){
		.version = 4,
		.ihl = sizeof(to->ip) / 4,
		.tot_len = htons(length - IP_AT),
		.frag_off = htons(IP_DF),
		.ttl = 255,
		.protocol = IPPROTO_TCP,
		.saddr = address_of(to->eth.ether_shost),
		.daddr = address_of(to->eth.ether_dhost),
	};
	to->tcp = (struct tcphdr){
		.source = to->tcp.source | htons(OMX_WIRE_TSO_SOURCE),
		.dest = htons(OMX_WIRE_TSO_DEST),
		.seq = htonl(before),
		.ack_seq = to->tcp.ack_seq,
		.doff = (segment_headers(type) - TCP_AT) / 4,
		.psh = 1,
		.ack = 1,
		.window = htons(OMX_WIRE_TSO_WINDOW(segments, told)),
	};
	to->option.kind = OMX_WIRE_TSO_KIND;
	to->option.option_length = sizeof(to->option) + segment_body(type);
	to->option.experiment = htons(OMX_ETHERTYPE_DEFAULT);
	to->option.version = OMX_WIRE_VERSION;
	to->option.type = type;
	return length;
}

/* ---- checksums ---- */

static uint32_t add_words(const void *data, unsigned int length, uint32_t sum)
{
	const uint8_t *byte = data;

	for (; length > 1; length -= 2, byte += 2)
		sum += byte[0] << 8 | byte[1];
	return length ? sum + (byte[0] << 8) : sum;
}

static uint16_t fold_sum(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

static uint16_t ip_sum(const struct segment *segment)
{
	return fold_sum(add_words((const uint8_t *)segment + IP_AT, sizeof(segment->ip), 0));
}

/* Of TCP; where IP's length is nonsense, of all that there is. */
static uint16_t tcp_sum(const struct segment *segment, unsigned int length)
{
	const uint8_t *bytes = (const uint8_t *)segment;
	unsigned int end = IP_AT + ntohs(segment->ip.tot_len);
	uint32_t sum;

	if (end < TCP_AT || end > length)
		end = length;
	sum = IPPROTO_TCP + end - TCP_AT;
	sum = add_words(bytes + IP_AT + offsetof(struct iphdr, saddr), 8, sum);
	return fold_sum(add_words(bytes + TCP_AT, end - TCP_AT, sum));
}

void segment_seal(struct segment *segment, unsigned int length)
{
	if (length < TCP_AT + sizeof(segment->tcp))
		return;
	segment->ip.check = 0;
	segment->ip.check = htons(ip_sum(segment));
	segment->tcp.check = 0;
	segment->tcp.check = htons(tcp_sum(segment, length));
}

/* ---- the receiver ---- */

static bool address_is_ours(uint32_t address)
{
	return (ntohl(address) & 0xffff0000) == OMX_WIRE_TSO_NET;
}

static bool has_own_type(const struct segment *segment)
{
	return segment->eth.ether_type == htons(OMX_ETHERTYPE_DEFAULT);
}

/* The first byte, behind an Ethertype of omx. */
static bool is_frame(const struct segment *segment, unsigned int length)
{
	return length == IP_AT || ((const uint8_t *)segment)[IP_AT] != OMX_WIRE_TSO_FIRST;
}

static bool headers_are_ours(const struct segment *segment, unsigned int length)
{
	return length >= BODY_AT && segment->ip.ihl == 5 &&
	       segment->ip.ttl == 255 && !(segment->ip.frag_off & htons(IP_MF | IP_OFFMASK)) &&
	       segment->ip.protocol == IPPROTO_TCP && address_is_ours(segment->ip.saddr) &&
	       address_is_ours(segment->ip.daddr) &&
	       segment->tcp.dest == htons(OMX_WIRE_TSO_DEST) &&
	       segment->option.kind == OMX_WIRE_TSO_KIND &&
	       segment->option.experiment == htons(OMX_ETHERTYPE_DEFAULT);
}

static bool is_for(const struct segment *segment, const uint8_t *mac)
{
	return !memcmp(segment->eth.ether_dhost, mac, ETH_ALEN);
}

static bool is_broadcast(const struct segment *segment)
{
	return segment->eth.ether_dhost[0] & 1;
}

/* IP does not look at what is for another host, which includes what is for another VLAN. */
static bool is_for_ip(const struct segment *segment, const uint8_t *mac)
{
	return segment->eth.ether_type == htons(ETHERTYPE_IP) &&
	       (is_broadcast(segment) || is_for(segment, mac));
}

static bool lengths_are_right(const struct segment *segment, unsigned int length)
{
	const uint8_t type = segment->option.type;
	const unsigned int end = IP_AT + ntohs(segment->ip.tot_len);

	return segment_body(type) &&
	       segment->option.option_length == sizeof(segment->option) + segment_body(type) &&
	       TCP_AT + 4 * segment->tcp.doff == segment_headers(type) &&
	       end >= segment_headers(type) && end <= length;
}

static bool addresses_are_right(const struct segment *segment)
{
	return segment->ip.saddr == address_of(segment->eth.ether_shost) &&
	       segment->ip.daddr == address_of(segment->eth.ether_dhost);
}

/* Shorter than the others is only the end of a message. */
static bool eager_is_right(const struct segment *segment, unsigned int payload)
{
	const unsigned int told = OMX_WIRE_TSO_PAYLOAD(ntohs(segment->tcp.window));

	return segment->option.type != OMX_WIRE_EAGER || payload % told == 0 ||
	       ntohs(segment->eager.offset) + ntohl(segment->tcp.seq) + payload ==
	       ntohs(segment->eager.msg_last) + 1u;
}

/* Does it lie where one of the segments does that the window describes? */
static bool place_is_right(const struct segment *segment, unsigned int payload)
{
	const unsigned int segments = OMX_WIRE_TSO_SEGMENTS(ntohs(segment->tcp.window));
	const unsigned int told = OMX_WIRE_TSO_PAYLOAD(ntohs(segment->tcp.window));
	const uint64_t before = ntohl(segment->tcp.seq);

	if (!told || before > 65535 || before % told || before + payload > segments * told)
		return false;
	if (payload > told)
		return false;
	return !payload || payload == told || before / told == segments - 1;
}

/* That of IPv4. */
static bool judge_ip(const struct segment *segment, unsigned int length, const uint8_t *mac,
		     enum verdict *verdict)
{
	if (segment->eth.ether_type == htons(ETHERTYPE_IP) && is_for(segment, mac) &&
	    headers_are_ours(segment, length))
		return true;
	*verdict = is_for_ip(segment, mac) ? LEFT_TO_IP : LEFT;
	return false;
}

static bool judge_own(const struct segment *segment, unsigned int length, const uint8_t *mac,
		      enum verdict *verdict)
{
	if (!is_broadcast(segment) && !is_for(segment, mac))
		*verdict = LEFT;
	else if (is_frame(segment, length))
		*verdict = A_FRAME;
	else if (!headers_are_ours(segment, length))
		*verdict = DROPPED;
	else
		return true;
	return false;
}

enum verdict segment_judge(const struct segment *segment, unsigned int length,
			   const uint8_t mac[ETH_ALEN])
{
	const bool own = has_own_type(segment);
	enum verdict verdict;
	unsigned int payload;

	if (!(own ? judge_own : judge_ip)(segment, length, mac, &verdict))
		return verdict;
	if (!lengths_are_right(segment, length))
		return DROPPED;
	payload = IP_AT + ntohs(segment->ip.tot_len) - segment_headers(segment->option.type);
	/* A frame must not look like another segment. */
	if (segment->option.version == OMX_WIRE_TSO_FIRST)
		return DROPPED;
	if (!addresses_are_right(segment) || !place_is_right(segment, payload) ||
	    !eager_is_right(segment, payload))
		return DROPPED;
	if (!own && (ip_sum(segment) || tcp_sum(segment, length)))
		return DROPPED;
	/* Nobody sends bytes behind such a packet: they may count as part of it, or not. */
	if (length > IP_AT + ntohs(segment->ip.tot_len))
		return UNCLEAR;
	if (!payload || (segment->option.type == OMX_WIRE_HELLO && segment->tcp.seq))
		return IGNORED;
	return RECEIVED;
}
