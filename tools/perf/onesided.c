/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Accesses to a window of the server: puts, gets, or a word that is compared and
 * swapped. The client measures from the call until the access has been performed;
 * the server's program sleeps meanwhile.
 *
 * With --verify the window has one slot more than accesses are outstanding, so that
 * successive accesses of a buffer find other bytes. The client gets each put back
 * and compares; the server compares what is in its memory at the end. Words are
 * always checked: each swap finds what the one before it has left.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "../complain.h"
#include "link.h"
#include "protocol.h"
#include "session.h"

struct slot {
	char *buffer;		/* of the put, or of the get */
	char *back;		/* verified puts: what is there now */
	uint64_t number;	/* of the access that it carries now */
	uint64_t before;	/* the word */
	bool reads_back;
	bool is_busy;
	omx_request_t request;
};

struct run {
	struct session *session;
	struct round *round;
	omx_key_t key;
	struct slot *slots;
	uint64_t posted;
	uint64_t pending;
};

static uint64_t slot_stride(const struct session *session, const struct round *round)
{
	if (!session->verify || session->access == ACCESS_CAS)
		return 0;
	return round->length + GUARD_LENGTH;
}

/* Where in the window the access takes place. */
static uint64_t remote_slot(const struct round *round, uint64_t number)
{
	return number % (round->window + 1);
}

/* ---- the server -------------------------------------------------------------- */

static void window_prepare(struct session *session, const struct round *round)
{
	uint64_t stride = slot_stride(session, round), i;

	memset(session->receive_buffer, 0, sizeof(uint64_t));
	for (i = 0; session->verify && i <= round->window; i++) {
		if (session->access == ACCESS_GET)
			session_fill(session, session->receive_buffer + i * stride,
				     round->length, i);
		check_prepare(session->receive_buffer + i * stride, round->length);
	}
}

/* The last put to each slot is what it holds. */
static void window_check(struct session *session, const struct round *round)
{
	uint64_t stride = slot_stride(session, round), slots = round->window + 1, number, word;

	if (session->access == ACCESS_CAS) {
		memcpy(&word, session->receive_buffer, sizeof(word));
		check_word(&session->check, round->count, word, round->count);
	}
	if (session->access != ACCESS_PUT || !session->verify)
		return;
	number = round->count > slots ? round->count - slots : 0;
	for (; number < round->count; number++)
		session_check_data(session, true,
				   session->receive_buffer + remote_slot(round, number) * stride,
				   round->length, number);
}

static int window_serve(struct session *session, struct round *round, omx_window_t window)
{
	omx_return_t ret;
	omx_key_t key;

	ret = omx_window_key(session->link->ep, window, &key);
	if (ret != OMX_SUCCESS)
		return link_fail("get the key of the window", ret);
	/* As 16 bytes, the same on every machine. */
	session->key[0] = be64toh(key.opaque[0]);
	session->key[1] = be64toh(key.opaque[1]);
	if (round_begin(session, round) < 0 || round_await_played(session, round) < 0)
		return -1;
	window_check(session, round);
	return 0;
}

static int play_server(struct session *session, struct round *round)
{
	static const uint32_t rights[PERF_ACCESSES] = {
		[ACCESS_PUT] = OMX_WINDOW_RIGHT_PUT | OMX_WINDOW_RIGHT_GET,
		[ACCESS_GET] = OMX_WINDOW_RIGHT_GET,
		[ACCESS_CAS] = OMX_WINDOW_RIGHT_ATOMIC,
	};
	omx_window_t window;
	omx_return_t ret;
	int error;

	window_prepare(session, round);
	ret = omx_window_create(session->link->ep, session->receive_buffer,
				session->buffer_size, rights[session->access],
				&session->link->peer, &window);
	if (ret != OMX_SUCCESS)
		return link_fail("create a window", ret);
	error = window_serve(session, round, window);
	ret = omx_window_destroy(session->link->ep, window);
	if (ret != OMX_SUCCESS)
		return link_fail("destroy the window", ret);
	return error ? error : round_end(session);
}

/* ---- the client: one access --------------------------------------------------- */

static void slot_prepare(struct run *run, struct slot *slot)
{
	struct session *session = run->session;
	uint64_t length = run->round->length;

	slot->number = run->posted++;
	slot->is_busy = true;
	slot->reads_back = false;
	if (session->access == ACCESS_PUT)
		session_fill(session, slot->buffer, length, slot->number);
	else if (session->access == ACCESS_GET && session->verify)
		check_prepare(slot->buffer, length);
}

static int slot_post(struct run *run, struct slot *slot)
{
	struct session *session = run->session;
	const struct round *round = run->round;
	struct remote remote = {
		.key = run->key,
		.offset = remote_slot(round, slot->number) * slot_stride(session, round),
	};

	run->pending++;
	switch (session->access) {
	case ACCESS_PUT:
		return link_put(session->link, slot->buffer, round->length, &remote, slot,
				&slot->request);
	case ACCESS_GET:
		return link_get(session->link, slot->buffer, round->length, &remote, slot,
				&slot->request);
	default:
		return link_cas(session->link, slot->number, slot->number + 1, &slot->before,
				&remote, slot, &slot->request);
	}
}

static int slot_read_back(struct run *run, struct slot *slot)
{
	struct session *session = run->session;
	const struct round *round = run->round;
	struct remote remote = {
		.key = run->key,
		.offset = remote_slot(round, slot->number) * slot_stride(session, round),
	};

	run->pending++;
	slot->reads_back = true;
	check_prepare(slot->back, round->length);
	return link_get(session->link, slot->back, round->length, &remote, slot, &slot->request);
}

static void slot_check(struct run *run, struct slot *slot, const omx_status_t *status)
{
	struct session *session = run->session;
	uint64_t length = run->round->length;

	run->pending--;
	check_length(&session->check, status, length, slot->number);
	if (session->access == ACCESS_CAS)
		check_word(&session->check, slot->number, slot->before, slot->number);
	else if (session->verify && session->access == ACCESS_GET)
		session_check_data(session, false, slot->buffer, length,
				   remote_slot(run->round, slot->number));
	else if (slot->reads_back)
		session_check_data(session, true, slot->back, length, slot->number);
}

static bool slot_must_read_back(const struct run *run, const struct slot *slot)
{
	return run->session->access == ACCESS_PUT && run->session->verify && !slot->reads_back;
}

/* ---- the client: one at a time ------------------------------------------------ */

static int measure_one(struct run *run, uint64_t *duration)
{
	struct slot *slot = run->slots;
	omx_status_t status;
	uint64_t start;

	slot_prepare(run, slot);
	start = now_ns();
	if (slot_post(run, slot) < 0 ||
	    link_wait(run->session->link, &slot->request, &status) < 0)
		return -1;
	*duration = now_ns() - start;
	slot_check(run, slot, &status);
	if (!slot_must_read_back(run, slot))
		return 0;
	if (slot_read_back(run, slot) < 0 ||
	    link_wait(run->session->link, &slot->request, &status) < 0)
		return -1;
	slot_check(run, slot, &status);
	return 0;
}

static int run_one_by_one(struct run *run)
{
	struct round *round = run->round;
	uint64_t duration;

	while (run->posted < round->count) {
		if (measure_one(run, &duration) < 0)
			return -1;
		if (round->round_trips)
			round->round_trips[run->posted - 1] = duration;
	}
	return 0;
}

/* ---- the client: many at a time ------------------------------------------------ */

/*
 * In the order of the slots, of which one may stay busy for long: then those behind
 * it wait, as no access may take place where an earlier one still does.
 */
static int post_more(struct run *run)
{
	const struct round *round = run->round;
	struct slot *slot;

	while (run->posted < round->count) {
		slot = &run->slots[run->posted % round->window];
		if (slot->is_busy)
			break;
		slot_prepare(run, slot);
		if (slot_post(run, slot) < 0)
			return -1;
	}
	return 0;
}

static int run_stream(struct run *run)
{
	omx_status_t status;
	struct slot *slot;

	if (post_more(run) < 0)
		return -1;
	while (run->pending) {
		if (link_wait_any(run->session->link, &status) < 0)
			return -1;
		slot = status.context;
		slot_check(run, slot, &status);
		slot->is_busy = slot_must_read_back(run, slot);
		if (slot->is_busy ? slot_read_back(run, slot) < 0 : post_more(run) < 0)
			return -1;
	}
	return 0;
}

/* ---- the client ----------------------------------------------------------------- */

static int run_play(struct run *run)
{
	struct session *session = run->session;
	struct round *round = run->round;
	uint64_t start;
	int ret;

	if (round_begin(session, round) < 0)
		return -1;
	run->key.opaque[0] = htobe64(session->key[0]);
	run->key.opaque[1] = htobe64(session->key[1]);
	start = now_ns();
	ret = session->mode == PERF_PINGPONG ? run_one_by_one(run) : run_stream(run);
	round->duration = now_ns() - start;
	if (ret < 0 || round_tell_played(session) < 0)
		return -1;
	return round_end(session);
}

static int play_client(struct session *session, struct round *round)
{
	struct run run = { .session = session, .round = round };
	uint64_t stride = slot_stride(session, round), i;
	int ret;

	run.slots = calloc(round->window, sizeof(*run.slots));
	if (!run.slots) {
		complain(NULL, "no memory for a window of that size");
		return -1;
	}
	for (i = 0; i < round->window; i++) {
		run.slots[i].buffer = session->send_buffer + i * stride;
		run.slots[i].back = session->receive_buffer + i * stride;
	}
	ret = run_play(&run);
	free(run.slots);
	return ret;
}

int round_accesses(struct session *session, struct round *round)
{
	return session->client ? play_client(session, round) : play_server(session, round);
}
