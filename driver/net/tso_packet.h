/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The headers of TCP segments (net/tcp_segments.h), for who makes and receives them:
 * docs/PROTOCOL.md, "TCP segments".
 */
#ifndef OMX_TSO_PACKET_H
#define OMX_TSO_PACKET_H

#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/tcp.h>
#include <linux/types.h>

#include "omx_wire.h"

/* A router would have lowered it (RFC 5082). */
#define OMX_TSO_TTL		255

/* The headers of a frame of a type that travels so. */
struct omx_tso_frame {
	struct ethhdr eth;
	struct omx_wire_head head;
	union {
		struct omx_wire_eager eager;
		struct omx_wire_pull_response response;
		u8 body[sizeof(struct omx_wire_eager)];
	};
} __packed;

/* The headers of a packet, behind the Ethernet header. */
struct omx_tso_headers {
	struct iphdr ip;
	struct tcphdr tcp;
	struct omx_wire_tso option;
	union {
		struct omx_wire_tso_eager eager;
		u8 body[sizeof(struct omx_wire_tso_eager)];
	};
} __packed;

/* Of any type: all that is in front of its body. */
#define OMX_TSO_HEADERS_MIN	offsetof(struct omx_tso_headers, body)

/* Routers do not forward these (RFC 3927), and receive queues (RSS) spread peers by them. */
static inline __be32 omx_tso_address(const u8 *mac)
{
	return cpu_to_be32(OMX_WIRE_TSO_NET | mac[4] << 8 | mac[5]);
}

/* Of the option, behind struct omx_wire_tso; 0: frames of this type do not travel so. */
static inline unsigned int omx_tso_body_length(u8 type)
{
	switch (type) {
	case OMX_WIRE_EAGER:
		return sizeof(struct omx_wire_tso_eager);
	case OMX_WIRE_PULL_RESPONSE:
		return sizeof(struct omx_wire_pull_response);
	case OMX_WIRE_HELLO:
		return sizeof(struct omx_wire_hello);
	default:
		return 0;
	}
}

static inline unsigned int omx_tso_option_length(u8 type)
{
	return sizeof(struct omx_wire_tso) + omx_tso_body_length(type);
}

static inline unsigned int omx_tso_headers_length(u8 type)
{
	return offsetof(struct omx_tso_headers, option) + omx_tso_option_length(type);
}

#endif
