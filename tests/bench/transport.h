/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a peer needs of a transport. Each program is peer.c and one of these;
 * all calls block, and any failure ends the program.
 */
#ifndef BENCH_TRANSPORT_H
#define BENCH_TRANSPORT_H

#include <stddef.h>
#include <stdio.h>

extern const char transport_name[];

/* Buffers that messages use in turn; each begins a page. */
struct slots {
	char *base;
	size_t stride;
	unsigned int count;
};

static inline char *slot(const struct slots *slots, size_t i)
{
	return slots->base + i % slots->count * slots->stride;
}

/*
 * Waits for one client, or for the server on `host` to answer.  Once a client
 * can connect, the server says so: say_ready().
 */
void transport_accept(void);
void transport_connect(const char *host);
void transport_close(void);

static inline void say_ready(void)
{
	puts("ready");
	fflush(stdout);
}

void transport_send(void *buffer, size_t length);
void transport_receive(void *buffer, size_t length);

/* Sends a ping and takes the pong. */
void transport_exchange(void *ping, void *pong, size_t length);

/* Takes `count` pings and answers each with a pong. */
void transport_answer(void *ping, void *pong, size_t length, size_t count);

/* `count` messages in one direction, as many at a time as there are slots. */
void transport_send_many(const struct slots *slots, size_t length, size_t count);
void transport_receive_many(const struct slots *slots, size_t length, size_t count);

#endif
