/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Streams: one window of sends and one of receives, each slot posted again
 * as soon as it is done.  Unidirectional is the case where the client has
 * nothing to receive and the server nothing to send.
 */
#include <stdlib.h>

#include "../complain.h"
#include "link.h"
#include "protocol.h"
#include "session.h"

struct slot {
	bool sends;
	char *buffer;
	uint64_t number;	/* of the message that it carries now */
	omx_request_t request;
};

struct direction {
	struct slot *slots;
	uint64_t posted;
	uint64_t count;		/* messages in all */
};

struct stream {
	struct session *session;
	const struct round *round;
	struct direction send, receive;
	uint64_t pending;
};

static int post_slot(struct stream *stream, struct slot *slot)
{
	struct session *session = stream->session;
	uint64_t length = stream->round->length;

	stream->pending++;
	if (slot->sends) {
		slot->number = stream->send.posted++;
		session_fill(session, slot->buffer, length, slot->number);
		return link_send(session->link, slot->buffer, length,
				 match_make(session->tag, KIND_DATA, slot->number),
				 session->synchronous, slot, &slot->request);
	}
	slot->number = stream->receive.posted++;
	if (session->verify)
		check_prepare(slot->buffer, length);
	return link_receive(session->link, slot->buffer, length,
			    match_make(session->tag, KIND_DATA, 0), MATCH_ANY_NUMBER,
			    slot, &slot->request);
}

static int fill_window(struct stream *stream, struct direction *direction)
{
	uint64_t i;

	for (i = 0; i < stream->round->window && direction->posted < direction->count; i++)
		if (post_slot(stream, &direction->slots[i]) < 0)
			return -1;
	return 0;
}

static int stream_run(struct stream *stream)
{
	struct session *session = stream->session;
	omx_status_t status;
	struct direction *direction;
	struct slot *slot;

	while (stream->pending) {
		if (link_wait_any(session->link, &status) < 0)
			return -1;
		stream->pending--;
		slot = status.context;
		direction = slot->sends ? &stream->send : &stream->receive;
		if (!slot->sends)
			session_check(session, slot->buffer, stream->round->length,
				      slot->number, &status);
		if (direction->posted < direction->count && post_slot(stream, slot) < 0)
			return -1;
	}
	return 0;
}

/* The time includes the server's word that all has arrived. */
static int stream_play(struct stream *stream, uint64_t *duration)
{
	uint64_t start;

	if (fill_window(stream, &stream->receive) < 0 ||
	    round_begin(stream->session, stream->round) < 0)
		return -1;
	start = now_ns();
	if (fill_window(stream, &stream->send) < 0 || stream_run(stream) < 0 ||
	    round_end(stream->session) < 0)
		return -1;
	*duration = now_ns() - start;
	return 0;
}

static int make_slots(struct stream *stream, struct direction *direction, bool sends)
{
	struct session *session = stream->session;
	char *buffer = sends ? session->send_buffer : session->receive_buffer;
	size_t stride = session->verify ? stream->round->length + GUARD_LENGTH : 0;
	uint64_t i;

	direction->slots = calloc(stream->round->window, sizeof(*direction->slots));
	if (!direction->slots) {
		complain(NULL, "no memory for a window of that size");
		return -1;
	}
	for (i = 0; i < stream->round->window; i++) {
		direction->slots[i].sends = sends;
		direction->slots[i].buffer = buffer + i * stride;
	}
	return 0;
}

int round_stream(struct session *session, struct round *round)
{
	bool both = session->mode == PERF_BIDIRECTIONAL;
	struct stream stream = {
		.session = session,
		.round = round,
		.send.count = both || session->client ? round->count : 0,
		.receive.count = both || !session->client ? round->count : 0,
	};
	int ret = -1;

	if (make_slots(&stream, &stream.send, true) == 0 &&
	    make_slots(&stream, &stream.receive, false) == 0)
		ret = stream_play(&stream, &round->duration);
	free(stream.send.slots);
	free(stream.receive.slots);
	return ret;
}
