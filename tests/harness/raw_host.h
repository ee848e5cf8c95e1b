/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A host without omx, which speaks to one endpoint with frames of its own making.  The
 * driver must not run on its interface, or it answers, too.
 */
#ifndef TESTS_HARNESS_RAW_HOST_H
#define TESTS_HARNESS_RAW_HOST_H

#include <net/ethernet.h>
#include <stdbool.h>
#include <stdint.h>

/* omx_wire.h is written for the kernel */
#ifndef __packed
#define __packed	__attribute__((packed))
#endif
#include "omx_wire.h"

#define RAW_BODY_MAX	(9000 - sizeof(struct omx_wire_head))

struct raw_frame {
	struct ether_header eth;
	struct omx_wire_head head;
	union {
		struct omx_wire_connect connect;
		struct omx_wire_connect_response reply;
		struct omx_wire_sequence sequence;
		struct omx_wire_eager eager;
		struct omx_wire_notify notify;
		struct omx_wire_ack ack;
		struct omx_wire_nack nack;
		struct omx_wire_put put;
		struct omx_wire_put_rndv put_rndv;
		struct omx_wire_get get;
		struct omx_wire_atomic atomic;
		struct omx_wire_flush flush;
		struct omx_wire_access_response response;
		uint8_t bytes[RAW_BODY_MAX];
	};
} __packed;

struct raw_host {
	int fd;
	uint16_t endpoint;		/* of the peer */
	uint32_t session;		/* of that endpoint, once connected */
	struct raw_frame frame;		/* to be sent; its destination is the peer */
};

/* The socket; it waits 0.1 s for a frame. */
void raw_host_open(struct raw_host *host, const char *interface);
/* The same with an interface of another node of this guest. */
void raw_host_open_on(struct raw_host *host, unsigned int node, const char *interface);
/*
 * The same at the other end of node 1's cable, which is a port of the bridge if there are
 * more than two nodes.  Frames that have node 1's address as their source must come from
 * there: a bridge learns that address at the port where they enter, and does not send them
 * out of that port again.
 */
void raw_host_open_opposite(struct raw_host *host);
/* The body in host->frame, from that endpoint of ours. */
void raw_host_send(struct raw_host *host, uint8_t type, uint16_t from, uint32_t from_session,
		   unsigned int body);
/* Any frame for this session of ours; false: none has come. */
bool raw_host_receive(struct raw_host *host, uint32_t own_session, struct raw_frame *frame);
/* Learns the session of the peer's endpoint. */
void raw_host_connect(struct raw_host *host, uint32_t key, uint16_t from, uint32_t from_session);

#endif
