// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <string.h>

#include "torture.h"

static uint8_t *box;			/* the server's memory */

void server_make(void)
{
	box = allocate(LONGEST);
}

static void explain_byte(const struct piece *piece, size_t at, const uint8_t *p)
{
	static const char *const names[PURPOSES] = {
		[OLD] = "the old one", [NEW] = "the act's", [SECRET] = "of other memory",
		[FOREIGN] = "of another process", [REFILLED] = "from after the act",
	};
	size_t offset = piece->offset + at, length = piece->length - at;
	unsigned int i;

	if (length > 16)
		length = 16;
	for (i = 0; i < PURPOSES; i++)
		if (differs_at(p, length, the.key[i], offset) == length)
			fprintf(stderr, "that byte is %s\n", names[i]);
	fprintf(stderr, "it is %02x %02x %02x %02x ...\n", p[0], p[1], p[2], p[3]);
}

/*
 * Returns how many bytes from here on are either all in the range of the act
 * or all outside.
 */
static size_t part_of(size_t offset, size_t length, bool *inside)
{
	size_t end = length + offset;

	*inside = offset >= the.from && offset < the.to;
	if (*inside && end > the.to)
		end = the.to;
	if (offset < the.from && end > the.from)
		end = the.from;
	return end - offset;
}

static void verify_sent(uint64_t key, bool loose)
{
	size_t at, part, found;
	bool inside;
	uint32_t i;

	for (i = 0; i < the.layout.count; i++) {
		const struct piece *piece = &the.layout.piece[i];

		for (at = 0; at < piece->length; at += part) {
			const uint8_t *p = box + piece->position + at;
			struct contents may = { 0 };

			part = part_of(piece->offset + at, piece->length - at, &inside);
			may_be(&may, key, piece->offset + at);
			if (inside && loose) {
				may.zero = true;
				may_be(&may, the.key[NEW], piece->offset + at);
			}
			found = unlike_at(p, part, &may);
			if (found == part)
				continue;
			explain_byte(piece, at + found, p + found);
			CHECK(found == part,
			      "sent: byte %zu of the arena is wrong, %zu ... %zu were acted on ("
			      WHERE ")", piece->offset + at + found, the.from, the.to,
			      WHERE_VALUES);
		}
	}
}

static uint64_t hash_box(void)
{
	uint64_t h = 0;
	size_t at = 0;
	uint32_t i;

	for (i = 0; i < the.layout.count; i++) {
		size_t length = the.layout.piece[the.layout.order[i]].length;

		h = hash(h, box + at, length);
		at += length;
	}
	return h;
}

static void post_other_end(bool source, omx_request_t *request)
{
	if (source) {
		memset(box, 0xa5, the.layout.length);
		MUST(omx_irecv(ep, box, the.layout.length, match, EXACT, NULL, request));
	} else {
		fill(box, the.layout.length, sent_key(match), 0);
		MUST(omx_isend(ep, box, the.layout.length, peer, match, NULL, request));
	}
}

/* Checks that the request ends as it did at the client. */
static void finish_other_end(bool source, omx_request_t *request, const struct result *result)
{
	omx_status_t status;
	uint32_t cancelled;

	if (result->refused && !source) {
		MUST(omx_cancel(ep, request, &cancelled));
		CHECK(cancelled);
		return;
	}
	status = finish(ep, request);
	CHECK((status.code == OMX_SUCCESS) == (result->code == OMX_SUCCESS),
	      "%s: \"%s\" here, \"%s\" there (" WHERE ")", source ? "receive" : "send",
	      omx_strerror(status.code), omx_strerror(result->code), WHERE_VALUES);
	CHECK(status.code == OMX_SUCCESS || status.code == OMX_MESSAGE_ABORTED, "%s (" WHERE ")",
	      omx_strerror(status.code), WHERE_VALUES);
}

/*
 * The other end of a transfer.  `key`: what the client sends, 0 where it
 * depends on what was received there before.
 */
static void serve_one(bool source, bool beside, uint64_t key)
{
	struct bystanders by;
	omx_request_t request;
	struct result result;

	if (beside)
		bystanders_post(&by);
	post_other_end(source, &request);
	send_sync(ep, peer, NULL, 0, READY + match);
	if (beside)
		bystanders_finish(&by);
	receive(ep, &result, sizeof(result), match + 1);
	finish_other_end(source, &request, &result);
	if (source && result.code == OMX_SUCCESS) {
		if (key)
			verify_sent(key, result.loose);
		CHECK(!result.hashed || hash_box() == result.hash,
		      "sent: not what is in that memory now (" WHERE ")", WHERE_VALUES);
	}
	match += 4;
}

void server_round(void)
{
	bool received = false;

	if (the.state == IDLE) {
		serve_one(the.idle_source, false, the.key[OLD]);
		received = !the.idle_source;
	} else if (the.state != DECLARED) {
		serve_one(the.state == SOURCE, true, the.key[OLD]);
		received = the.state == DESTINATION;
	}
	serve_one(the.after_source, false, received ? 0 : the.key[OLD]);
	serve_one(true, false, the.key[REFILLED]);
	serve_one(false, false, 0);
}
