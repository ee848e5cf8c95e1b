/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether the rules of a firewall let frames of omx pass. */
#ifndef OMX_TOOLS_RULESET_H
#define OMX_TOOLS_RULESET_H

#include <stdbool.h>

struct finding;
struct json_object;

/* A frame, or a UDP packet with one, that arrives at an interface or leaves it. */
struct packet {
	bool udp, v6;
	unsigned int port;		/* if `udp` */
	unsigned int ethertype;		/* of a frame */
	const char *interface;
	bool bridge;			/* it is a bridge, whose own rules apply as well */
};

/*
 * Reads what `nft -j list ruleset` prints.  True: the packet is dropped, or may be, and
 * `finding` has the commands that let it pass.
 */
bool ruleset_drops(struct json_object *ruleset, const struct packet *packet,
		   struct finding *finding);

/* Reads what `tc filter show` prints, about the direction ingress or egress. */
bool filters_drop(const char *text, const struct packet *packet, const char *direction,
		  struct finding *finding);

#endif
