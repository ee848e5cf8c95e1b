/* SPDX-License-Identifier: BSD-2-Clause */
/* omx_trace on small traces: each function names the case. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "trace/trace.h"

#define SOURCE \
	"mac=020000000001 endpoint=1 session=000000aa " \
	"peer_mac=020000000002 peer_endpoint=3 peer_session=000000bb "
#define DESTINATION \
	"mac=020000000002 endpoint=3 session=000000bb " \
	"peer_mac=020000000001 peer_endpoint=1 peer_session=000000aa "

/* A program whose name looks like parts of a line. */
#define PROGRAM "   a [b]: c-100     [000] d..1.     "
#define PULLER "        pull-200     [001] .....     "
#define WORKER " kworker/u4:1-300     [001] .....     "

static const char *const sender[] = {
	"# tracer: nop",
	PROGRAM "10.000100: omx_send_begin: " SOURCE "cookie=7 length=65536",
	PROGRAM "10.000105: omx_pin: space=00000000aaaa address=10000 pages=16",
	PROGRAM "10.000110: omx_rndv_send: " SOURCE
		"message=12 cookie=7 length=65536 mode=3 space=00000000aaaa address=10000",
	NULL
};

static const char *const receiver[] = {
	PULLER "10.000130: omx_rndv_arrive: " DESTINATION "message=12 length=65536",
	PULLER "10.000160: omx_pull_begin: " DESTINATION "message=12 length=65536",
	PULLER "10.000165: omx_pull_start: " DESTINATION
		"message=12 pull=5 length=65536 mode=1 local=0 space=00000000bbbb address=70000",
	PULLER "10.000170: omx_pull_request_sent: " DESTINATION
		"message=12 pull=5 offset=0 length=65536 wanted=000000ff",
	NULL
};

static const char *const page_in[] = {
	PULLER "10.000180: omx_pull_request_received: " SOURCE
		"message=12 pull=5 offset=0 length=65536 wanted=000000ff",
	PULLER "10.000200: omx_pull_request_deferred: " SOURCE
		"message=12 pull=5 offset=0 length=65536 wanted=000000ff",
	WORKER "10.000210: omx_page_in_begin: " SOURCE
		"message=12 write=0 offset=0 length=65536",
	WORKER "10.000220: omx_fault: space=00000000aaaa address=12000 pages=4",
	WORKER "10.000225: omx_fault: space=00000000cccc address=12000 pages=40",
	PULLER "10.000230: omx_invalidate: space=00000000aaaa start=0 end=11000 cause=clear pages=1",
	PULLER "10.000231: omx_invalidate: space=00000000aaaa start=20000 end=21000 cause=clear pages=1",
	WORKER "10.000300: omx_page_in_end: " SOURCE "message=12 write=0 error=0",
	WORKER "10.000310: omx_pull_response_sent: " SOURCE "message=12 offset=0 length=65536",
	PULLER "10.000320: omx_pull_response_received: " DESTINATION "message=12 offset=0 length=65536",
	PULLER "10.000330: omx_pull_response_parked: " DESTINATION "message=12 offset=0 length=65536",
	WORKER "10.000331: omx_page_in_begin: " DESTINATION
		"message=12 write=1 offset=0 length=65536",
	WORKER "10.000335: omx_fault: space=00000000bbbb address=70000 pages=3",
	WORKER "10.000360: omx_page_in_end: " DESTINATION "message=12 write=1 error=0",
	NULL
};

static const char *const receiver_end[] = {
	PULLER "10.000400: omx_pull_done: " DESTINATION "message=12 status=0 length=65536",
	NULL
};

static const char *const sender_end[] = {
	PROGRAM "10.000450: omx_rndv_done: " SOURCE "message=12 status=0 length=65536",
	NULL
};

static void feed(struct trace_story *story, const char *const *line)
{
	for (; *line; line++)
		trace_story_line(story, *line);
}

static uint64_t sum(const struct trace_message *message)
{
	uint64_t total = 0;
	unsigned int i;

	for (i = 0; i < PHASES; i++)
		total += message->spent[i];
	return total;
}

static void feed_whole(struct trace_story *story)
{
	feed(story, sender);
	feed(story, receiver);
	feed(story, page_in);
	feed(story, receiver_end);
	feed(story, sender_end);
}

static void both_ends__phases_and_pages(void)
{
	const struct trace_message *message;
	struct trace_story story;

	trace_story_init(&story);
	feed_whole(&story);
	trace_story_finish(&story);
	EXPECT(story.count == 1 && !story.live);
	message = story.message[0];
	EXPECT(message->id == 12 && message->length == 65536 && message->ended);
	EXPECT(message->source.seen && message->destination.seen);
	EXPECT(trace_total(message) == 350 && sum(message) == 350);
	EXPECT(message->spent[PHASE_PREPARE_SOURCE] == 10);
	EXPECT(message->spent[PHASE_ANNOUNCE] == 20);
	EXPECT(message->spent[PHASE_WAIT_PROGRAM] == 30);
	EXPECT(message->spent[PHASE_PREPARE_DESTINATION] == 5);
	EXPECT(message->spent[PHASE_PAGE_SOURCE] == 100);
	EXPECT(message->spent[PHASE_PAGE_DESTINATION] == 29);
	EXPECT(message->spent[PHASE_TRANSFER] == 106);
	EXPECT(message->spent[PHASE_FINISH] == 50);
	EXPECT(message->source.pinned == 16 && message->source.faulted == 4);
	EXPECT(message->destination.faulted == 3 && message->destination.page_ins == 1);
	EXPECT(message->source.invalidations == 1 && message->source.invalidated == 1);
	EXPECT(message->requests == 1 && !message->requests_again && message->responses == 1);
	EXPECT(message->requests_deferred == 1 && message->responses_parked == 1);
	trace_story_free(&story);
}

static void one_end__is_told_alone(void)
{
	struct trace_story story;

	trace_story_init(&story);
	feed(&story, receiver);
	feed(&story, receiver_end);
	trace_story_finish(&story);
	EXPECT(story.count == 1 && !story.message[0]->source.seen);
	EXPECT(story.message[0]->ended && trace_total(story.message[0]) == 270);
	trace_story_free(&story);

	trace_story_init(&story);
	feed(&story, sender);
	feed(&story, sender_end);
	trace_story_finish(&story);
	EXPECT(story.count == 1 && !story.message[0]->destination.seen);
	EXPECT(story.message[0]->ended && trace_total(story.message[0]) == 350);
	trace_story_free(&story);
}

static void unfinished__lasts_to_the_end(void)
{
	struct trace_story story;

	trace_story_init(&story);
	feed(&story, sender);
	feed(&story, receiver);
	trace_story_finish(&story);
	EXPECT(story.count == 1 && !story.message[0]->ended);
	EXPECT(trace_total(story.message[0]) == 70 && sum(story.message[0]) == 70);
	trace_story_free(&story);
}

/* Numbers come again; what began before the trace is nobody's. */
static void same_number__is_another_message(void)
{
	struct trace_story story;

	trace_story_init(&story);
	feed(&story, receiver_end);
	feed(&story, sender_end);
	EXPECT(story.count == 0);
	feed_whole(&story);
	feed_whole(&story);
	trace_story_finish(&story);
	EXPECT(story.count == 2 && !story.live);
	trace_story_free(&story);
}

static void lost_events__are_counted(void)
{
	struct trace_story story;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	trace_story_init(&story);
	feed_whole(&story);
	trace_story_line(&story, "CPU:1 [LOST 1234 EVENTS]");
	trace_story_line(&story, "garbage: omx_");
	trace_story_line(&story, "");
	trace_story_finish(&story);
	trace_print(&story, 0, out);
	fclose(out);
	EXPECT(strstr(text, "message 12 02:00:00:00:00:01 endpoint 1 -> "
			    "02:00:00:00:00:02 endpoint 3, 65536 bytes, 350 us: "));
	EXPECT(strstr(text, "10 us preparing at the source (16 pages)"));
	EXPECT(strstr(text, "100 us waiting for page-in of 4 pages at the source"));
	EXPECT(strstr(text, "29 us waiting for page-in of 3 pages at the destination"));
	EXPECT(strstr(text, "1234 events were lost"));
	free(text);
	trace_story_free(&story);
}

static void many_messages__are_bounded(void)
{
	char line[400];
	struct trace_story story;
	unsigned int i;

	trace_story_init(&story);
	for (i = 0; i < TRACE_MESSAGES_MAX + 10; i++) {
		snprintf(line, sizeof(line), PULLER "10.%06u: omx_rndv_arrive: " DESTINATION
			 "message=%u length=65536", i, i);
		trace_story_line(&story, line);
		snprintf(line, sizeof(line), PULLER "10.%06u: omx_pull_done: " DESTINATION
			 "message=%u status=0 length=65536", i + 1, i);
		trace_story_line(&story, line);
	}
	trace_story_finish(&story);
	EXPECT(story.count == TRACE_MESSAGES_MAX && story.skipped == 10);
	trace_story_free(&story);
}

/* A message that changes its mind more often than there is room to draw. */
static void many_phases__keep_their_sum(void)
{
	const struct trace_message *message;
	struct trace_story story;
	char line[400];
	unsigned int i;

	trace_story_init(&story);
	feed(&story, sender);
	feed(&story, receiver);
	for (i = 0; i < 1000; i++) {
		snprintf(line, sizeof(line), PULLER "10.%06u: omx_%s: " SOURCE "message=12 write=0",
			 1000 + i, i % 2 ? "page_in_end" : "pull_request_deferred");
		trace_story_line(&story, line);
	}
	trace_story_finish(&story);
	message = story.message[0];
	EXPECT(message->segments == TRACE_SEGMENTS_MAX && message->coarse);
	EXPECT(message->spent[PHASE_PAGE_SOURCE] == 500);
	EXPECT(sum(message) == trace_total(message));
	trace_story_free(&story);
}

/* ---- drawing ---- */

/* Every element is closed, in order, and every attribute quoted. */
static bool is_well_formed(const char *text)
{
	const char *open[16], *end;
	unsigned int depth = 0;

	while ((text = strchr(text, '<'))) {
		end = strchr(text, '>');
		if (!end || memchr(text + 1, '<', end - text - 1))
			return false;
		if (text[1] == '/') {
			if (!depth-- || strncmp(open[depth], text + 2, end - text - 2))
				return false;
		} else if (text[1] != '?' && end[-1] != '/') {
			if (depth == 16)
				return false;
			open[depth++] = text + 1;
		}
		text = end;
	}
	return !depth;
}

static unsigned int count_of(const char *text, const char *what)
{
	unsigned int count = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		count++;
	return count;
}

static char *drawing_of(const struct trace_story *story)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	EXPECT(trace_draw(story, 0, out) == 0);
	fclose(out);
	return text;
}

static void drawing__is_well_formed(void)
{
	struct trace_story story;
	char *text;

	trace_story_init(&story);
	text = drawing_of(&story);
	EXPECT(is_well_formed(text));
	free(text);
	feed_whole(&story);
	trace_story_finish(&story);
	text = drawing_of(&story);
	EXPECT(is_well_formed(text) && !is_well_formed("<svg><g></svg>"));
	EXPECT(count_of(text, "<title>") == story.message[0]->segments);
	EXPECT(strstr(text, "page-in at the source, 100 us</title>"));
	free(text);
	trace_story_free(&story);
}

int main(void)
{
	both_ends__phases_and_pages();
	one_end__is_told_alone();
	unfinished__lasts_to_the_end();
	same_number__is_another_message();
	lost_events__are_counted();
	many_messages__are_bounded();
	many_phases__keep_their_sum();
	drawing__is_well_formed();
	return 0;
}
