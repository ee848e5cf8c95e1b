/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TCP segments that carry frames of omx, with the Ethertype of IPv4 or that of omx, for programs
 * that send them from a packet socket, and what a receiver has to do with each of them.
 */
#ifndef TESTS_FUZZ_SEGMENT_H
#define TESTS_FUZZ_SEGMENT_H

#include <net/ethernet.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <stdint.h>

/* omx_wire.h is written for the kernel */
#ifndef __packed
#define __packed	__attribute__((packed))
#endif
#include "omx_wire.h"

#define SEGMENT_MAX	4014	/* with the Ethernet header; drivers send no longer ones */

struct segment {
	struct ether_header eth;
	struct iphdr ip;
	struct tcphdr tcp;
	struct omx_wire_tso option;
	union {
		struct omx_wire_tso_eager eager;
		struct omx_wire_pull_response response;
		struct omx_wire_hello hello;
		uint8_t bytes[SEGMENT_MAX - 66];
	};
} __packed;

enum verdict {
	RECEIVED,	/* counted as a TCP packet; its frame may be wrong */
	DROPPED,	/* its header is bad */
	IGNORED,	/* not counted: there is nothing in it */
	LEFT,		/* to others: it is not ours */
	LEFT_TO_IP,	/* the same, and IP counts it */
	UNCLEAR,	/* as its receiver likes */
	A_FRAME,	/* it is no segment, but has the Ethertype of omx */
	VERDICTS
};

/* Of the option, behind struct omx_wire_tso; 0: this type does not travel so. */
unsigned int segment_body(uint8_t type);
/* All bytes in front of the payload. */
unsigned int segment_headers(uint8_t type);
/* A valid one with this Ethertype, whose option and payload are as they were; its length. */
unsigned int segment_fill(struct segment *to, uint16_t ethertype, uint8_t type,
			  unsigned int segments, unsigned int told, uint32_t before,
			  unsigned int payload);
/* Checksums that are right for an Ethernet frame of this length. */
void segment_seal(struct segment *segment, unsigned int length);
/* What a receiver with this MAC does with an Ethernet frame of this length. */
enum verdict segment_judge(const struct segment *segment, unsigned int length,
			   const uint8_t mac[ETH_ALEN]);

#endif
