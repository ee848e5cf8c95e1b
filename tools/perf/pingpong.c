/* SPDX-License-Identifier: BSD-2-Clause */
#include "link.h"
#include "protocol.h"
#include "session.h"

static int post_receive(struct session *session, const struct round *round,
			omx_request_t *request)
{
	if (session->verify)
		check_prepare(session->receive_buffer, round->length);
	return link_receive(session->link, session->receive_buffer, round->length,
			    match_make(session->tag, KIND_DATA, 0), MATCH_ANY_NUMBER,
			    NULL, request);
}

static int post_send(struct session *session, const struct round *round, uint64_t number,
		     omx_request_t *request)
{
	return link_send(session->link, session->send_buffer, round->length,
			 match_make(session->tag, KIND_DATA, number),
			 session->synchronous, NULL, request);
}

/* Measures from before the ping is sent until the pong has been received. */
static int measure_one(struct session *session, const struct round *round,
		       uint64_t number, uint64_t *duration)
{
	omx_status_t received, sent;
	omx_request_t ping, pong;
	uint64_t start;

	session_fill(session, session->send_buffer, round->length, number);
	start = now_ns();
	if (post_receive(session, round, &pong) < 0 ||
	    post_send(session, round, number, &ping) < 0 ||
	    link_wait(session->link, &pong, &received) < 0 ||
	    link_wait(session->link, &ping, &sent) < 0)
		return -1;
	*duration = now_ns() - start;
	session_check(session, session->receive_buffer, round->length, number, &received);
	return 0;
}

static int play_client(struct session *session, struct round *round)
{
	uint64_t number, duration, start;

	if (round_begin(session, round) < 0)
		return -1;
	start = now_ns();
	for (number = 0; number < round->count; number++) {
		if (measure_one(session, round, number, &duration) < 0)
			return -1;
		if (round->round_trips)
			round->round_trips[number] = duration;
	}
	round->duration = now_ns() - start;
	return round_end(session);
}

/*
 * The next receive is posted before the pong is sent, so that the next ping
 * is expected.
 */
static int answer_one(struct session *session, const struct round *round,
		      uint64_t number, omx_request_t *ping)
{
	omx_status_t received, sent;
	omx_request_t pong;

	if (link_wait(session->link, ping, &received) < 0)
		return -1;
	session_check(session, session->receive_buffer, round->length, number, &received);
	if (number + 1 < round->count && post_receive(session, round, ping) < 0)
		return -1;
	session_fill(session, session->send_buffer, round->length, number);
	if (post_send(session, round, number, &pong) < 0)
		return -1;
	return link_wait(session->link, &pong, &sent);
}

static int play_server(struct session *session, struct round *round)
{
	omx_request_t ping;
	uint64_t number;

	if (post_receive(session, round, &ping) < 0 || round_begin(session, round) < 0)
		return -1;
	for (number = 0; number < round->count; number++)
		if (answer_one(session, round, number, &ping) < 0)
			return -1;
	return round_end(session);
}

int round_pingpong(struct session *session, struct round *round)
{
	return session->client ? play_client(session, round) : play_server(session, round);
}
