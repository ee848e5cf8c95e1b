/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many nodes that send to each other at once.  crowd.c is the program: it makes a
 * process on each node and keeps what they measure; a transport (crowd_omx.c,
 * crowd_tcp.c) is what such a process does.  Calls block, any failure ends the program.
 */
#ifndef BENCH_CROWD_H
#define BENCH_CROWD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CROWD_NODES	250
#define CROWD_COUNTERS	256

/* What this process is to do; nodes count from 1. */
struct crowd {
	unsigned int self;
	size_t size;			/* of each message */
	const char *control;		/* of congestion, for TCP; or NULL */
	unsigned int window;		/* messages under way to each node */
	unsigned int to[CROWD_NODES], to_count;		/* whom it sends to */
	unsigned int from[CROWD_NODES], from_count;	/* who sends to it */
};

/* ---- what a transport does ---- */

/* After this others can connect. */
void crowd_listen(const struct crowd *crowd);
/* After this all nodes are connected. */
void crowd_connect(const struct crowd *crowd);
/* What it takes before messages come. */
void crowd_prepare(const struct crowd *crowd);
/* Sends and receives while crowd_goes_on(). */
void crowd_exchange(const struct crowd *crowd);

/* Of this process, at present.  The name of the first one beyond the last is NULL. */
const char *crowd_counter_name(unsigned int i);
void crowd_read_counters(uint64_t *values);

/* ---- what it uses ---- */

/* True until the time is over; to be called every few milliseconds. */
bool crowd_goes_on(void);

/* How long to wait for something to happen before looking again. */
#define CROWD_PATIENCE_MS	10

/* A message of this node has come, which left it at that time. */
void crowd_received(unsigned int from, uint64_t departure);

/* Buffers of `size` bytes: the first bytes of each are its own, the rest may be shared. */
struct crowd_buffers {
	char *base;
	size_t stride;
};

struct crowd_buffers crowd_make_buffers(size_t size, unsigned int count);

static inline char *crowd_buffer(const struct crowd_buffers *buffers, unsigned int i)
{
	return buffers->base + i * buffers->stride;
}

/* An error, which is not one when the others have ended already. */
void crowd_fail(const char *what, const char *error) __attribute__((noreturn));

#endif
