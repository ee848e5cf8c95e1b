// SPDX-License-Identifier: BSD-2-Clause
/* What can be wrong with a TCP segment, one thing at a time. */
#include "segment_spoil.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <string.h>

#include "chance.h"

#define IP_AT	sizeof(struct ether_header)
#define TCP_AT	(IP_AT + sizeof(struct iphdr))

static void spoil_window(struct segment *packet)
{
	unsigned int told = OMX_WIRE_TSO_PAYLOAD(ntohs(packet->tcp.window));
	unsigned int segments = OMX_WIRE_TSO_SEGMENTS(ntohs(packet->tcp.window));

	switch (any_below(5)) {
	case 0: packet->tcp.window = any_word(); break;
	case 1: packet->tcp.window = htons(OMX_WIRE_TSO_WINDOW(63, 16 * any_below(3))); break;
	case 2: packet->tcp.window = htons(OMX_WIRE_TSO_WINDOW(segments, told + 16)); break;
	case 3: packet->tcp.window = htons(OMX_WIRE_TSO_WINDOW(segments, told - 16)); break;
	default: packet->tcp.window = htons(OMX_WIRE_TSO_WINDOW(any_below(64), told)); break;
	}
}

static void spoil_sequence(struct segment *packet)
{
	uint32_t told = OMX_WIRE_TSO_PAYLOAD(ntohs(packet->tcp.window));

	switch (any_below(5)) {
	case 0: packet->tcp.seq = htonl(told * any_below(70)); break;
	case 1: packet->tcp.seq = htonl(-told * any_below(70)); break;
	case 2: packet->tcp.seq = htonl(ntohl(packet->tcp.seq) + any_below(16) - 8); break;
	case 3: packet->tcp.seq = htonl(65536 + any_below(3) - 1); break;
	default: packet->tcp.seq = htonl(any_extreme()); break;
	}
}

static void spoil_lengths(struct segment *packet)
{
	switch (any_below(4)) {
	case 0: packet->ip.tot_len = any_extreme(); break;
	case 1: packet->ip.tot_len = htons(ntohs(packet->ip.tot_len) + 1 + any_below(32)); break;
	case 2: packet->tcp.doff = any_below(16); break;
	default: packet->ip.ihl = any_below(16); break;
	}
}

static void spoil_option(struct segment *packet)
{
	switch (any_below(5)) {
	case 0: packet->option.option_length = any_extreme(); break;
	case 1: packet->option.option_length += any_below(9) - 4; break;
	case 2: packet->option.kind = any_below(2) ? 254 : any_extreme(); break;
	case 3: packet->option.version = any_extreme(); break;
	default: packet->option.experiment = any_extreme(); break;
	}
}

/* With the lengths of the type that it was, or of the one that it is. */
static void spoil_type(struct segment *packet)
{
	packet->option.type = any_below(4) ? any_below(OMX_WIRE_TYPES + 4) : any_extreme();
	if (any_below(4))
		return;
	packet->option.option_length = sizeof(packet->option) + segment_body(packet->option.type);
	packet->tcp.doff = (sizeof(packet->tcp) + packet->option.option_length) / 4;
}

static unsigned int truncate_packet(struct segment *packet, unsigned int length)
{
	if (any_below(2))
		length = segment_headers(packet->option.type);	/* perhaps somewhere in these */
	length = sizeof(packet->eth) + any_below(length - sizeof(packet->eth));
	if (any_below(2))
		packet->ip.tot_len = htons(length - sizeof(packet->eth));
	return length;
}

/* IP knows, or does not. */
static unsigned int spoil_payload(struct segment *packet, unsigned int length)
{
	unsigned int headers = segment_headers(packet->option.type);

	switch (any_below(4)) {
	case 0: length = headers; break;
	case 1: length += 1 + any_below(any_below(2) ? 16 : SEGMENT_MAX - length - 1); break;
	case 2: length -= any_below(length - headers); break;
	default: length = headers + 8 * any_below(180); break;
	}
	if (any_below(8))
		packet->ip.tot_len = htons(length - sizeof(packet->eth));
	return length;
}

static void spoil_checksum(struct segment *packet, unsigned int length)
{
	uint8_t *bytes = (uint8_t *)packet;

	switch (any_below(4)) {
	case 0: packet->ip.check ^= htons(1u << any_below(16)); break;
	case 1: packet->tcp.check ^= htons(1u << any_below(16)); break;
	case 2: packet->tcp.check = any_below(2) ? 0 : 0xffff; break;
	default: bytes[TCP_AT + any_below(length - TCP_AT)] ^= 1u << any_below(8); break;
	}
}

static void spoil_field(struct segment *packet)
{
	unsigned int size = 1u << any_below(3);
	unsigned int at = any_below((segment_headers(packet->option.type) - IP_AT) / size) * size;
	uint64_t value = any_extreme();

	memcpy((uint8_t *)&packet->ip + at, &value, size);
}

/* Not for a board of the receiver. */
static void send_elsewhere(struct segment *packet)
{
	switch (any_below(5)) {
	case 0: memset(packet->eth.ether_dhost, 0xff, ETH_ALEN); break;
	case 1: packet->eth.ether_dhost[5] ^= 1 + any_below(255); break;
	case 2: packet->ip.daddr = any_word(); break;
	case 3: packet->ip.saddr ^= htonl(1u << (16 + any_below(16))); break;
	default: packet->tcp.dest = htons(OMX_WIRE_TSO_DEST + any_below(3) - 1); break;
	}
}

/* For VLAN 1; it is valid otherwise. */
static unsigned int tag_packet(struct segment *packet, unsigned int length)
{
	static const uint8_t tag[] = { 0x81, 0, 0, 1 };
	uint8_t *type = (uint8_t *)&packet->eth.ether_type;

	memmove(type + sizeof(tag), type, length - offsetof(struct ether_header, ether_type));
	memcpy(type, tag, sizeof(tag));
	return length + sizeof(tag);
}

unsigned int segment_spoil(struct segment *packet, unsigned int length, enum wrong wrong)
{
	switch (wrong) {
	case WRONG_WINDOW: spoil_window(packet); break;
	case WRONG_SEQUENCE: spoil_sequence(packet); break;
	case WRONG_LENGTHS: spoil_lengths(packet); break;
	case WRONG_OPTION: spoil_option(packet); break;
	case WRONG_TYPE: spoil_type(packet); break;
	case WRONG_END: length = truncate_packet(packet, length); break;
	case WRONG_PAYLOAD: length = spoil_payload(packet, length); break;
	case WRONG_CHECKSUM: spoil_checksum(packet, length); return length;
	case WRONG_FIELD: spoil_field(packet); break;
	case WRONG_PLACE: send_elsewhere(packet); break;
	case WRONG_VLAN: return tag_packet(packet, length);
	default: break;
	}
	segment_seal(packet, length);
	return length;
}
