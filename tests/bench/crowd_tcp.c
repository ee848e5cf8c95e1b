/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A node of a crowd by TCP: a connection for each pair of nodes that talk, without Nagle,
 * the kernel's own buffer sizes, epoll.  How many messages are under way is up to these
 * buffers.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "crowd.h"
#include "meter.h"
#include "transport.h"

#define PORT		7472
#define EVENTS		64
#define TURN		(64 << 10)	/* bytes */

const char transport_name[] = "tcp";

static struct connection {
	int sock;
	unsigned int node;		/* the other one */
	bool outgoing;
	size_t done;			/* bytes of the current message */
	uint64_t departure;		/* of an incoming one, as far as it is there */
} outgoing[CROWD_NODES], incoming[CROWD_NODES];

static unsigned int outgoing_count, incoming_count;
static int listener, events;
static char *message, *space;

static void set_option(int sock, int level, int option)
{
	int on = 1;

	if (setsockopt(sock, level, option, &on, sizeof(on)) < 0)
		err(1, "socket option");
}

/* Connections that are accepted have it from their listener. */
static int open_socket(const struct crowd *crowd)
{
	int sock = socket(AF_INET, SOCK_STREAM, 0);

	if (sock < 0)
		err(1, "socket");
	if (crowd->control && setsockopt(sock, IPPROTO_TCP, TCP_CONGESTION, crowd->control,
					 strlen(crowd->control)) < 0)
		err(1, "%s", crowd->control);
	return sock;
}

void crowd_listen(const struct crowd *crowd)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(PORT) };

	listener = open_socket(crowd);
	set_option(listener, SOL_SOCKET, SO_REUSEADDR);
	if (bind(listener, (struct sockaddr *)&any, sizeof(any)) < 0 ||
	    listen(listener, CROWD_NODES) < 0)
		err(1, "listen");
}

static void connect_to(const struct crowd *crowd, struct connection *connection)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	uint32_t name = crowd->self;
	char address[32];

	snprintf(address, sizeof(address), "10.0.0.%u", connection->node);
	inet_pton(AF_INET, address, &to.sin_addr);
	connection->sock = open_socket(crowd);
	if (connect(connection->sock, (struct sockaddr *)&to, sizeof(to)) < 0)
		err(1, "node %u: connect to %s", crowd->self, address);
	set_option(connection->sock, IPPROTO_TCP, TCP_NODELAY);
	/* Says who it is. */
	if (send(connection->sock, &name, sizeof(name), 0) != sizeof(name))
		err(1, "node %u: send", crowd->self);
}

void crowd_connect(const struct crowd *crowd)
{
	unsigned int i;

	for (i = 0; i < crowd->to_count; i++) {
		outgoing[i].node = crowd->to[i];
		outgoing[i].outgoing = true;
		connect_to(crowd, &outgoing[i]);
	}
	outgoing_count = crowd->to_count;
}

static void accept_one(struct connection *connection)
{
	uint32_t name;

	connection->sock = accept(listener, NULL, NULL);
	if (connection->sock < 0 ||
	    recv(connection->sock, &name, sizeof(name), MSG_WAITALL) != sizeof(name))
		err(1, "accept");
	connection->node = name;
}

static void watch(struct connection *connection)
{
	struct epoll_event event = {
		.events = connection->outgoing ? EPOLLOUT : EPOLLIN,
		.data.ptr = connection,
	};

	if (fcntl(connection->sock, F_SETFL, O_NONBLOCK) < 0 ||
	    epoll_ctl(events, EPOLL_CTL_ADD, connection->sock, &event) < 0)
		err(1, "epoll");
}

void crowd_prepare(const struct crowd *crowd)
{
	unsigned int i;

	events = epoll_create1(0);
	message = malloc(crowd->size);
	space = malloc(TURN);
	if (events < 0 || !message || !space)
		err(1, "buffers");
	memset(message, 'm', crowd->size);
	memset(space, 'm', TURN);
	for (i = 0; i < crowd->from_count; i++)
		accept_one(&incoming[i]);
	incoming_count = crowd->from_count;
	for (i = 0; i < incoming_count; i++)
		watch(&incoming[i]);
	for (i = 0; i < outgoing_count; i++)
		watch(&outgoing[i]);
}

/* ---- messages ---- */

static bool would_block(ssize_t n, const char *what)
{
	if (n < 0 && errno == EAGAIN)
		return true;
	if (n <= 0)
		crowd_fail(what, n < 0 ? strerror(errno) : "the other side is gone");
	return false;
}

/* One call for each message, or for what is left of one; then others have their turn. */
static void send_some(struct connection *connection, size_t size)
{
	uint64_t departure;
	ssize_t n, sent;

	for (sent = 0; sent < TURN && crowd_goes_on(); sent += n) {
		if (!connection->done) {
			departure = now_ns();
			memcpy(message, &departure, sizeof(departure));
		}
		n = send(connection->sock, message + connection->done,
			 size - connection->done, MSG_NOSIGNAL);
		if (would_block(n, "send"))
			return;
		connection->done = (connection->done + n) % size;
	}
}

/* Takes what belongs to the current message; returns how much that was. */
static size_t take(struct connection *connection, const char *bytes, size_t length, size_t size)
{
	size_t part = size - connection->done < length ? size - connection->done : length, head;

	if (connection->done < sizeof(connection->departure)) {
		head = sizeof(connection->departure) - connection->done;
		memcpy((char *)&connection->departure + connection->done, bytes,
		       head < part ? head : part);
	}
	connection->done += part;
	if (connection->done == size) {
		connection->done = 0;
		crowd_received(connection->node, connection->departure);
	}
	return part;
}

static void receive_some(struct connection *connection, size_t size)
{
	ssize_t n = recv(connection->sock, space, TURN, 0), at;

	if (would_block(n, "receive"))
		return;
	for (at = 0; at < n;)
		at += take(connection, space + at, n - at, size);
}

void crowd_exchange(const struct crowd *crowd)
{
	struct epoll_event ready[EVENTS];
	struct connection *connection;
	int count, i;

	while (crowd_goes_on()) {
		count = epoll_wait(events, ready, EVENTS, CROWD_PATIENCE_MS);
		for (i = 0; i < count; i++) {
			connection = ready[i].data.ptr;
			if (connection->outgoing)
				send_some(connection, crowd->size);
			else
				receive_some(connection, crowd->size);
		}
	}
}

/* ---- counters ---- */

static const char *const names[] = {
	"segments sent", "segments with data sent", "segments sent again",
	"segments delivered with a mark",
};

const char *crowd_counter_name(unsigned int i)
{
	return i < sizeof(names) / sizeof(*names) ? names[i] : NULL;
}

static void add_counters(const struct connection *connection, uint64_t *values)
{
	struct tcp_info info;
	socklen_t length = sizeof(info);

	if (getsockopt(connection->sock, IPPROTO_TCP, TCP_INFO, &info, &length) < 0)
		err(1, "TCP_INFO");
	values[0] += info.tcpi_segs_out;
	values[1] += info.tcpi_data_segs_out;
	values[2] += info.tcpi_total_retrans;
	values[3] += info.tcpi_delivered_ce;
}

void crowd_read_counters(uint64_t *values)
{
	unsigned int i;

	memset(values, 0, CROWD_COUNTERS * sizeof(*values));
	for (i = 0; i < outgoing_count; i++)
		add_counters(&outgoing[i], values);
	for (i = 0; i < incoming_count; i++)
		add_counters(&incoming[i], values);
}
