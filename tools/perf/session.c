/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "../complain.h"
#include "link.h"
#include "pattern.h"
#include "protocol.h"
#include "session.h"

#define ALIGNMENT	65536
#define ACCESS_COST	4096	/* an access may take as long as so many bytes */

static char *session_allocate(const struct session *session, size_t size)
{
	char *buffer;

	if (!session->aligned)
		buffer = malloc(size);
	else if (posix_memalign((void **)&buffer, ALIGNMENT, size))
		buffer = NULL;
	if (!buffer) {
		complain("take smaller messages or a smaller --window",
			 "no memory for buffers of %zu bytes", size);
		return NULL;
	}
	memset(buffer, 0, size);	/* present before anything is measured */
	return buffer;
}

static void free_buffers(struct session *session)
{
	free(session->send_buffer);
	free(session->receive_buffer);
	session->send_buffer = session->receive_buffer = NULL;
	session->buffer_size = 0;
}

/* Those that verify have a buffer per outstanding message, others share one. */
static uint64_t count_buffers(const struct session *session, const struct round *round)
{
	if (!session->verify)
		return 1;
	if (session->access)
		return round->window + 1;
	return session->mode == PERF_PINGPONG ? 1 : round->window;
}

static int reserve_buffers(struct session *session, const struct round *round)
{
	size_t size;

	if (__builtin_add_overflow(round->length, GUARD_LENGTH, &size) ||
	    __builtin_mul_overflow(size, count_buffers(session, round), &size)) {
		complain(NULL, "messages of that length do not fit into memory");
		return -1;
	}
	if (size <= session->buffer_size)
		return 0;
	free_buffers(session);
	session->send_buffer = session_allocate(session, size);
	session->receive_buffer = session_allocate(session, size);
	if (!session->send_buffer || !session->receive_buffer)
		return -1;
	session->buffer_size = size;
	return 0;
}

void session_free(struct session *session)
{
	free_buffers(session);
}

/* The two directions carry different data. */
static uint64_t session_seed(const struct session *session, bool by_client, uint64_t length,
			     uint64_t number)
{
	return pattern_seed((uint64_t)session->tag << 1 | by_client, length, number);
}

void session_fill(struct session *session, void *buffer, uint64_t length, uint64_t number)
{
	if (session->verify)
		pattern_fill(buffer, length,
			     session_seed(session, session->client, length, number));
}

void session_check_data(struct session *session, bool by_client, const void *buffer,
			uint64_t length, uint64_t number)
{
	check_data(&session->check, buffer, length, number,
		   session_seed(session, by_client, length, number));
}

void session_check(struct session *session, const void *buffer, uint64_t length,
		   uint64_t number, const omx_status_t *status)
{
	check_status(&session->check, status, length, number);
	if (session->verify)
		session_check_data(session, !session->client, buffer, length, number);
}

static uint64_t control_match(const struct session *session)
{
	return match_make(session->tag, KIND_CONTROL, 0);
}

static int expect_control(struct session *session, enum control_type type,
			  struct control *control)
{
	if (control_receive(session->link, control_match(session), control, NULL) < 0)
		return -1;
	if (control->type == type)
		return 0;
	complain(NULL, "the other side said %u where %u was due",
		 (unsigned int)control->type, type);
	return -1;
}

int round_begin(struct session *session, const struct round *round)
{
	struct control control = {
		.type = session->client ? CONTROL_ROUND : CONTROL_READY,
		.length = round->length,
		.count = round->count,
		.window = round->window,
		.key = { session->key[0], session->key[1] },
	};

	if (control_send(session->link, control_match(session), &control) < 0)
		return -1;
	if (!session->client)
		return 0;
	if (expect_control(session, CONTROL_READY, &control) < 0)
		return -1;
	memcpy(session->key, control.key, sizeof(session->key));
	return 0;
}

int round_tell_played(struct session *session)
{
	struct control control = { .type = CONTROL_PLAYED };

	return control_send(session->link, control_match(session), &control);
}

/* The server sees nothing of the accesses: it cannot tell slow ones from none. */
int round_await_played(struct session *session, const struct round *round)
{
	struct control control;
	uint64_t bytes;

	if (__builtin_mul_overflow(round->length + ACCESS_COST, round->count, &bytes))
		bytes = UINT64_MAX;
	link_expect(session->link, bytes);
	return expect_control(session, CONTROL_PLAYED, &control);
}

int round_end(struct session *session)
{
	struct control control = { .type = CONTROL_RESULT };

	if (!session->client) {
		control.check = session->check;
		return control_send(session->link, control_match(session), &control);
	}
	if (expect_control(session, CONTROL_RESULT, &control) < 0)
		return -1;
	session->remote_check = control.check;
	return 0;
}

int round_run(struct session *session, struct round *round)
{
	uint64_t outstanding = round->length;

	if (session->mode != PERF_PINGPONG)
		outstanding *= round->window;
	link_expect(session->link, outstanding);
	if (reserve_buffers(session, round) < 0)
		return -1;
	if (session->access)
		return round_accesses(session, round);
	if (session->mode == PERF_PINGPONG)
		return round_pingpong(session, round);
	return round_stream(session, round);
}
