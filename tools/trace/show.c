/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>

#include "jsonout.h"
#include "omx_abi.h"
#include "text.h"
#include "trace.h"

static const char *const statuses[OMX_STATUSES] = {
	[OMX_STATUS_OK] = "ok",
	[OMX_STATUS_BAD_ENDPOINT] = "no such endpoint",
	[OMX_STATUS_CLOSED] = "endpoint closed",
	[OMX_STATUS_BAD_SESSION] = "endpoint has another owner",
	[OMX_STATUS_BAD_KEY] = "wrong key",
	[OMX_STATUS_BAD_REGION] = "memory withdrawn",
	[OMX_STATUS_UNREACHABLE] = "no answer",
	[OMX_STATUS_FAULT] = "memory not accessible",
	[OMX_STATUS_ABORTED] = "aborted",
	[OMX_STATUS_TRUNCATED] = "truncated",
	[OMX_STATUS_NO_MEMORY] = "out of memory",
	[OMX_STATUS_BOARD_REMOVED] = "board removed",
	[OMX_STATUS_BAD_WINDOW] = "no such window",
	[OMX_STATUS_BAD_RANGE] = "outside the window",
	[OMX_STATUS_NO_RIGHT] = "not permitted by the window",
};

static const char *status_text(const struct trace_message *message)
{
	if (!message->ended)
		return "unfinished";
	return message->status < OMX_STATUSES ? statuses[message->status] : "unknown";
}

static const char *sides_text(const struct trace_message *message)
{
	if (message->source.seen && message->destination.seen)
		return "both";
	return message->source.seen ? "source" : "destination";
}

static void print_page_in(const struct trace_side *side, const char *where, FILE *out)
{
	uint32_t pages = side->faulted + side->pinned - side->prepared;

	if (pages)
		fprintf(out, "waiting for page-in of %" PRIu32 " pages at the %s", pages, where);
	else
		fprintf(out, "waiting for pages to be looked up at the %s", where);
}

static void print_preparing(const struct trace_side *side, const char *where, FILE *out)
{
	fprintf(out, "preparing at the %s", where);
	if (side->prepared)
		fprintf(out, " (%" PRIu32 " pages)", side->prepared);
}

static void print_phase(const struct trace_message *message, enum trace_phase phase,
			FILE *out)
{
	static const char *const text[PHASES] = {
		[PHASE_ANNOUNCE] = "announcing it",
		[PHASE_WAIT_PROGRAM] = "waiting for the receiver to take it",
		[PHASE_TRANSFER] = "transferring",
		[PHASE_FINISH] = "telling the source",
	};

	fprintf(out, "%" PRIu64 " us ", message->spent[phase]);
	switch (phase) {
	case PHASE_PREPARE_SOURCE:
		print_preparing(&message->source, "source", out);
		break;
	case PHASE_PREPARE_DESTINATION:
		print_preparing(&message->destination, "destination", out);
		break;
	case PHASE_PAGE_SOURCE:
		print_page_in(&message->source, "source", out);
		break;
	case PHASE_PAGE_DESTINATION:
		print_page_in(&message->destination, "destination", out);
		break;
	default:
		fputs(text[phase], out);
	}
}

static void print_disturbances(const struct trace_message *message, FILE *out)
{
	uint32_t pages = message->source.invalidated + message->destination.invalidated;

	if (pages)
		fprintf(out, "; %" PRIu32 " pages invalidated meanwhile", pages);
	if (message->requests_again)
		fprintf(out, "; %" PRIu32 " blocks asked for again", message->requests_again);
}

static void print_message(const struct trace_message *message, FILE *out)
{
	char from[MAC_TEXT_LEN], to[MAC_TEXT_LEN];
	const char *separator = ": ";
	unsigned int i;

	fprintf(out, "message %" PRIu32 " %s endpoint %" PRIu32 " -> %s endpoint %" PRIu32
		", %" PRIu64 " bytes, %" PRIu64 " us", message->id,
		format_mac(message->source.mac, from), message->source.endpoint,
		format_mac(message->destination.mac, to), message->destination.endpoint,
		message->length, trace_total(message));
	if (message->status || !message->ended)
		fprintf(out, " (%s)", status_text(message));
	if (!message->source.seen || !message->destination.seen)
		fprintf(out, " (as the %s saw it)", sides_text(message));
	for (i = 0; i < PHASES; i++) {
		if (!message->spent[i])
			continue;
		fputs(separator, out);
		print_phase(message, i, out);
		separator = ", ";
	}
	print_disturbances(message, out);
	fputc('\n', out);
}

void trace_print(const struct trace_story *story, uint64_t min_us, FILE *out)
{
	uint64_t bytes = 0, shown = 0;
	size_t i;

	for (i = 0; i < story->count; i++) {
		if (trace_total(story->message[i]) < min_us)
			continue;
		print_message(story->message[i], out);
		bytes += story->message[i]->length;
		shown++;
	}
	fprintf(out, "%" PRIu64 " messages, %" PRIu64 " bytes", shown, bytes);
	if (story->accesses)
		fprintf(out, "; %" PRIu64 " small one-sided accesses, %" PRIu64 " failed",
			story->accesses, story->accesses_failed);
	if (shown < story->count)
		fprintf(out, "; %" PRIu64 " shorter than %" PRIu64 " us not shown",
			story->count - shown, min_us);
	fputc('\n', out);
	if (story->skipped)
		fprintf(out, "WARNING: only the first %d messages are kept, %" PRIu64
			" came behind them\n", TRACE_MESSAGES_MAX, story->skipped);
	if (story->lost)
		fprintf(out, "WARNING: %" PRIu64 " events were lost: "
			"some of this is not what happened\n",
			story->lost);
}

/* ---- JSON ---- */

static struct json_object *describe_side(const struct trace_side *side)
{
	struct json_object *object = json_new_object();

	json_add_bool(object, "seen", side->seen);
	json_add_mac(object, "mac", side->mac);
	json_add_u64(object, "endpoint", side->endpoint);
	json_add_u64(object, "session", side->session);
	json_add_u64(object, "page_ins", side->page_ins);
	json_add_u64(object, "pages_faulted", side->faulted);
	json_add_u64(object, "pages_pinned", side->pinned);
	json_add_u64(object, "pages_prepared", side->prepared);
	json_add_u64(object, "invalidations", side->invalidations);
	json_add_u64(object, "pages_invalidated", side->invalidated);
	return object;
}

static struct json_object *describe_message(const struct trace_message *message,
					    uint64_t origin)
{
	struct json_object *object = json_new_object(), *phases = json_new_object();
	unsigned int i;

	for (i = 0; i < PHASES; i++)
		json_add_u64(phases, trace_phase_names[i], message->spent[i]);
	json_add_u64(object, "message", message->id);
	json_add_u64(object, "length", message->length);
	json_add_string(object, "status", status_text(message));
	json_add_bool(object, "local", message->local);
	json_add_u64(object, "start_us", message->start - origin);
	json_add_u64(object, "total_us", trace_total(message));
	json_add(object, "phases_us", phases);
	json_add(object, "source", describe_side(&message->source));
	json_add(object, "destination", describe_side(&message->destination));
	json_add_u64(object, "requests", message->requests);
	json_add_u64(object, "requests_again", message->requests_again);
	json_add_u64(object, "requests_parked", message->requests_deferred);
	json_add_u64(object, "holds", message->holds);
	json_add_u64(object, "replies_sent", message->responses_sent);
	json_add_u64(object, "replies", message->responses);
	json_add_u64(object, "replies_parked", message->responses_parked);
	return object;
}

int trace_print_json(const struct trace_story *story, uint64_t min_us, FILE *out)
{
	struct json_object *object = json_new_object(), *messages = json_new_array();
	uint64_t origin = story->count ? story->message[0]->start : 0;
	size_t i;

	for (i = 0; i < story->count; i++)
		if (story->message[i]->start < origin)
			origin = story->message[i]->start;
	for (i = 0; i < story->count; i++)
		if (trace_total(story->message[i]) >= min_us)
			json_append(messages, describe_message(story->message[i], origin));
	json_add(object, "messages", messages);
	json_add_u64(object, "messages_skipped", story->skipped);
	json_add_u64(object, "accesses", story->accesses);
	json_add_u64(object, "accesses_failed", story->accesses_failed);
	json_add_u64(object, "events_lost", story->lost);
	return json_finish(object, out);
}
