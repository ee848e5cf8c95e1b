// SPDX-License-Identifier: BSD-2-Clause
/* What the victim's peers on this node send to it, from a packet socket. */
#include "heard.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "chance.h"
#include "ethernet.h"
#include "raw_host.h"

#define AT_ONCE	64
#define KEPT	256

static struct heard heard[KEPT];
static unsigned int count, next;
static int ear = -1, to_endpoint;

void heard_open(const char *interface, int victim)
{
	ear = ethernet_open(interface, ETH_P_ALL);
	to_endpoint = victim;
}

void heard_listen(void)
{
	static struct raw_frame frame;
	struct sockaddr_ll from;
	socklen_t size;
	ssize_t length;
	int tries;

	for (tries = 0; tries < AT_ONCE; tries++) {
		size = sizeof(from);
		length = recvfrom(ear, &frame, sizeof(frame), MSG_DONTWAIT,
				  (struct sockaddr *)&from, &size);
		if (length < 0)
			return;
		if (from.sll_pkttype != PACKET_OUTGOING ||
		    frame.eth.ether_type != htons(OMX_ETHERTYPE_DEFAULT) ||
		    length < (ssize_t)(sizeof(frame.eth) + sizeof(frame.head)) ||
		    frame.head.type <= OMX_WIRE_CONNECT || frame.head.type >= OMX_WIRE_TYPES ||
		    frame.head.dst_endpoint != htons(to_endpoint) || !frame.head.dst_session)
			continue;
		length -= sizeof(frame.eth);
		if (length > HEARD_MAX)
			length = HEARD_MAX;
		memcpy(heard[next].bytes, &frame.head, length);
		heard[next].length = length;
		next = (next + 1) % KEPT;
		if (count < KEPT)
			count++;
	}
}

unsigned int heard_count(void)
{
	return count;
}

const struct heard *heard_any(void)
{
	return count ? &heard[any_below(count)] : NULL;
}
