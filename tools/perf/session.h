/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session of one client and one server. It consists of rounds, each with a
 * number of messages of one length. The functions return 0, or -1 after
 * printing the reason.
 */
#ifndef OMX_PERF_SESSION_H
#define OMX_PERF_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "check.h"
#include "settings.h"

struct link;

struct session {
	struct link *link;
	bool client;
	uint32_t tag;
	enum perf_mode mode;
	enum perf_access access;
	bool synchronous;
	bool verify;
	bool aligned;
	uint64_t key[2];		/* of the server's window, see protocol.h */
	struct check check;		/* what this side received */
	struct check remote_check;	/* client: the result that the server reported */

	/* Grown by rounds, kept between them. */
	char *send_buffer;
	char *receive_buffer;
	size_t buffer_size;
};

struct round {
	uint64_t length;
	uint64_t count;
	uint64_t window;
	uint64_t *round_trips;	/* client, one at a time: ns of each; NULL: not wanted */
	uint64_t duration;	/* out, client: ns */
};

/* Both sides call it with the same round. */
int round_run(struct session *session, struct round *round);

/* The server says that it is ready; the client waits for that, and learns the key. */
int round_begin(struct session *session, const struct round *round);
/* Accesses: the client says that all have been performed; the server waits for that. */
int round_tell_played(struct session *session);
int round_await_played(struct session *session, const struct round *round);
/* The server sends its result, and the client waits for it. */
int round_end(struct session *session);

/* The modes. Each calls round_begin() and round_end() itself. */
int round_pingpong(struct session *session, struct round *round);
int round_stream(struct session *session, struct round *round);
int round_accesses(struct session *session, struct round *round);

void session_free(struct session *session);

/* Message `number` of the round in its buffer, checked or to be sent. */
void session_fill(struct session *session, void *buffer, uint64_t length, uint64_t number);
void session_check(struct session *session, const void *buffer, uint64_t length,
		   uint64_t number, const omx_status_t *status);
/* Verified accesses: compares bytes that one of the sides has filled. */
void session_check_data(struct session *session, bool by_client, const void *buffer,
			uint64_t length, uint64_t number);

static inline uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + now.tv_nsec;
}

#endif
