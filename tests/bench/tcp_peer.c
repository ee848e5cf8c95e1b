/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TCP as a program that cares would use it: blocking calls, no Nagle, the
 * kernel's own buffer sizes.
 */
#include <err.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "transport.h"

#define PORT		7471
#define PORT_NAME	"7471"
#define CONNECT_TRIES	100	/* 5 s */

const char transport_name[] = "tcp";

static int sock;

static void do_not_delay(void)
{
	int on = 1;

	if (setsockopt(sock, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) < 0)
		err(1, "TCP_NODELAY");
}

void transport_accept(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	if (listener < 0 ||
	    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(listener, (struct sockaddr *)&any, sizeof(any)) < 0 ||
	    listen(listener, 1) < 0)
		err(1, "listen");
	say_ready();
	sock = accept(listener, NULL, NULL);
	if (sock < 0)
		err(1, "accept");
	close(listener);
	do_not_delay();
}

static int try_connect(const struct addrinfo *to)
{
	int fd = socket(to->ai_family, to->ai_socktype, to->ai_protocol);

	if (fd < 0 || connect(fd, to->ai_addr, to->ai_addrlen) == 0)
		return fd;
	close(fd);
	return -1;
}

void transport_connect(const char *host)
{
	struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM };
	struct addrinfo *to;
	int ret, try;

	ret = getaddrinfo(host, PORT_NAME, &hints, &to);
	if (ret)
		errx(1, "%s: %s", host, gai_strerror(ret));
	for (try = 0; (sock = try_connect(to)) < 0; try++) {
		if (errno != ECONNREFUSED || try == CONNECT_TRIES)
			err(1, "connect to %s", host);
		usleep(50000);
	}
	freeaddrinfo(to);
	do_not_delay();
}

void transport_close(void)
{
	close(sock);
}

void transport_send(void *buffer, size_t length)
{
	char *at = buffer;
	ssize_t n;

	for (; length; at += n, length -= n) {
		n = send(sock, at, length, MSG_NOSIGNAL);
		if (n < 0)
			err(1, "send");
	}
}

void transport_receive(void *buffer, size_t length)
{
	char *at = buffer;
	ssize_t n;

	for (; length; at += n, length -= n) {
		n = recv(sock, at, length, 0);
		if (n < 0)
			err(1, "recv");
		if (n == 0)
			errx(1, "the other side is gone");
	}
}

void transport_exchange(void *ping, void *pong, size_t length)
{
	transport_send(ping, length);
	transport_receive(pong, length);
}

void transport_answer(void *ping, void *pong, size_t length, size_t count)
{
	while (count--) {
		transport_receive(ping, length);
		transport_send(pong, length);
	}
}

void transport_send_many(const struct slots *slots, size_t length, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		transport_send(slot(slots, i), length);
}

void transport_receive_many(const struct slots *slots, size_t length, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		transport_receive(slot(slots, i), length);
}
