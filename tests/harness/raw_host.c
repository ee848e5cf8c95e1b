// SPDX-License-Identifier: BSD-2-Clause
#include "raw_host.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "check.h"
#include "clock.h"
#include "ethernet.h"

#define CONNECT_S	5
#define NODE1_PORT	"to1"		/* of the bridge between more than two nodes */

void raw_host_open(struct raw_host *host, const char *interface)
{
	struct timeval timeout = { .tv_usec = 100000 };

	host->fd = ethernet_open(interface, OMX_ETHERTYPE_DEFAULT);
	setsockopt(host->fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	ethernet_own_mac(interface, host->frame.eth.ether_shost);
}

static int open_network(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		die(path);
	return fd;
}

static void enter_network(int fd)
{
	if (setns(fd, CLONE_NEWNET))
		die("setns");
	close(fd);
}

void raw_host_open_on(struct raw_host *host, unsigned int node, const char *interface)
{
	int own = open_network("/proc/self/ns/net");
	char path[64];

	snprintf(path, sizeof(path), "/proc/1/root/run/netns/node%u", node);
	enter_network(open_network(path));
	raw_host_open(host, interface);
	enter_network(own);
}

void raw_host_open_opposite(struct raw_host *host)
{
	int own = open_network("/proc/self/ns/net");
	bool bridged;

	enter_network(open_network("/proc/1/ns/net"));
	bridged = if_nametoindex(NODE1_PORT);
	if (bridged)
		raw_host_open(host, NODE1_PORT);
	enter_network(own);
	if (!bridged)
		raw_host_open_on(host, 2, "eth0");
}

void raw_host_send(struct raw_host *host, uint8_t type, uint16_t from, uint32_t from_session,
		   unsigned int body)
{
	struct raw_frame *frame = &host->frame;
	unsigned int length = sizeof(frame->head) + body;

	frame->eth.ether_type = htons(OMX_ETHERTYPE_DEFAULT);
	frame->head = (struct omx_wire_head){
		.version = OMX_WIRE_VERSION,
		.type = type,
		.length = htons(length),
		.dst_endpoint = htons(host->endpoint),
		.src_endpoint = htons(from),
		.dst_session = type == OMX_WIRE_CONNECT ? 0 : htonl(host->session),
		.src_session = htonl(from_session),
	};
	if (send(host->fd, frame, sizeof(frame->eth) + length, 0) < 0)
		die("send");
}

bool raw_host_receive(struct raw_host *host, uint32_t own_session, struct raw_frame *frame)
{
	ssize_t length = recv(host->fd, frame, sizeof(*frame), 0);

	return length >= (ssize_t)(sizeof(frame->eth) + sizeof(frame->head)) &&
	       frame->head.dst_session == htonl(own_session);
}

void raw_host_connect(struct raw_host *host, uint32_t key, uint16_t from, uint32_t from_session)
{
	double end = now() + CONNECT_S;
	struct raw_frame answer;

	while (now() < end) {
		host->frame.connect = (struct omx_wire_connect){ htonl(key), htonl(from_session) };
		raw_host_send(host, OMX_WIRE_CONNECT, from, from_session,
			      sizeof(host->frame.connect));
		while (raw_host_receive(host, from_session, &answer)) {
			if (answer.head.type != OMX_WIRE_CONNECT_RESPONSE ||
			    answer.reply.cookie != htonl(from_session) || answer.reply.status)
				continue;
			host->session = ntohl(answer.head.src_session);
			return;
		}
	}
	CHECK(false, "nobody answers");
}
