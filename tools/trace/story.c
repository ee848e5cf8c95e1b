/* SPDX-License-Identifier: BSD-2-Clause */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "trace.h"

#define PAGE 4096	/* only to tell whose pages they are */

const char *const trace_phase_names[PHASES] = {
	[PHASE_PREPARE_SOURCE] = "prepare_source",
	[PHASE_ANNOUNCE] = "announce",
	[PHASE_WAIT_PROGRAM] = "wait_for_receiver",
	[PHASE_PREPARE_DESTINATION] = "prepare_destination",
	[PHASE_TRANSFER] = "transfer",
	[PHASE_PAGE_SOURCE] = "page_in_source",
	[PHASE_PAGE_DESTINATION] = "page_in_destination",
	[PHASE_FINISH] = "finish",
};

static void *story_allocate(void *old, size_t size)
{
	void *memory = realloc(old, size);

	if (!memory)
		errx(1, "out of memory");
	return memory;
}

/* ---- phases ---- */

static enum trace_phase while_pulled(const struct trace_message *message)
{
	if (message->source.seen ? message->source_deferred : message->held)
		return PHASE_PAGE_SOURCE;
	if (message->paging &&
	    (message->response_parked || message->received >= message->asked))
		return PHASE_PAGE_DESTINATION;
	return PHASE_TRANSFER;
}

static enum trace_phase phase_of(const struct trace_message *message)
{
	if (message->pulled)
		return PHASE_FINISH;
	if (message->pulling)
		return while_pulled(message);
	if (message->begun)
		return PHASE_PREPARE_DESTINATION;
	if (message->arrived)
		return PHASE_WAIT_PROGRAM;
	/* The other end of this message is on another machine. */
	if (message->requested)
		return message->source_deferred ? PHASE_PAGE_SOURCE : PHASE_TRANSFER;
	return message->sent ? PHASE_ANNOUNCE : PHASE_PREPARE_SOURCE;
}

static void add_segment(struct trace_message *message, uint64_t end)
{
	struct trace_segment *last = message->segments ?
		&message->segment[message->segments - 1] : NULL;

	if (end == message->since)
		return;
	if (last && last->phase == message->phase) {
		last->end = end;
		return;
	}
	if (message->segments == TRACE_SEGMENTS_MAX) {
		message->coarse = true;
		last->end = end;
		return;
	}
	if (!(message->segments & (message->segments - 1)))
		message->segment = story_allocate(message->segment, 2 * (message->segments + 1) *
						  sizeof(*message->segment));
	message->segment[message->segments++] = (struct trace_segment){
		message->since, end, message->phase,
	};
}

/* Ends the present phase of the message if it enters another one. */
static void story_advance(struct trace_message *message, uint64_t time)
{
	/* Processors' clocks may differ a little. */
	if (time < message->since)
		time = message->since;
	message->spent[message->phase] += time - message->since;
	add_segment(message, time);
	message->since = time;
	message->end = time;
	message->phase = phase_of(message);
}

/* ---- finding messages ---- */

static bool is_source(const char *name)
{
	static const char *const names[] = {
		"rndv_send", "rndv_done", "pull_request_received", "pull_request_deferred",
		"hold_sent", "pull_response_sent",
	};
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static void read_sides(const struct trace_event *event, bool source,
		       struct trace_side *from, struct trace_side *to)
{
	struct trace_side *ours = source ? from : to, *theirs = source ? to : from;

	ours->mac = trace_field(event, "mac", 16);
	ours->endpoint = trace_field(event, "endpoint", 10);
	ours->session = trace_field(event, "session", 16);
	theirs->mac = trace_field(event, "peer_mac", 16);
	theirs->endpoint = trace_field(event, "peer_endpoint", 10);
	theirs->session = trace_field(event, "peer_session", 16);
}

static bool same_side(const struct trace_side *one, const struct trace_side *other)
{
	return one->mac == other->mac && one->endpoint == other->endpoint &&
	       one->session == other->session;
}

static unsigned int bucket_of(uint32_t id, uint32_t session)
{
	return (id * 2654435761u ^ session) % TRACE_BUCKETS;
}

static struct trace_message *add_message(struct trace_story *story, uint64_t time,
					 uint32_t id, const struct trace_side *from,
					 const struct trace_side *to)
{
	struct trace_message **bucket = &story->bucket[bucket_of(id, from->session)];
	struct trace_message *message;

	if (story->count == TRACE_MESSAGES_MAX) {
		story->skipped++;
		return NULL;
	}
	message = calloc(1, sizeof(*message));
	if (!message)
		errx(1, "out of memory");
	message->source = *from;
	message->destination = *to;
	message->id = id;
	message->start = message->since = message->end = time;
	message->next = *bucket;
	*bucket = message;
	message->next_live = story->live;
	story->live = message;
	story->message[story->count++] = message;
	return message;
}

/* The newest with these ends and number: numbers are used again. */
static struct trace_message *story_find(struct trace_story *story, uint32_t id,
					const struct trace_side *from,
					const struct trace_side *to)
{
	struct trace_message *message = story->bucket[bucket_of(id, from->session)];

	while (message && !(message->id == id && same_side(&message->source, from) &&
			    same_side(&message->destination, to)))
		message = message->next;
	return message;
}

static void end_message(struct trace_story *story, struct trace_message *message)
{
	struct trace_message **link = &story->live;
	unsigned int i;

	message->ended = true;
	while (*link && *link != message)
		link = &(*link)->next_live;
	if (*link)
		*link = message->next_live;
	for (i = 0; i < TRACE_TASKS; i++)
		if (story->task[i].message == message)
			story->task[i].pid = 0;
}

/* ---- who pages in ---- */

static struct trace_task *task_of(struct trace_story *story, uint32_t pid)
{
	unsigned int i;

	for (i = 0; pid && i < TRACE_TASKS; i++)
		if (story->task[i].pid == pid)
			return &story->task[i];
	return NULL;
}

static struct trace_task *set_task(struct trace_story *story, const struct trace_event *event,
				   struct trace_message *message, bool write)
{
	struct trace_task *task = task_of(story, event->pid);

	if (!task)
		task = &story->task[story->next_task++ % TRACE_TASKS];
	*task = (struct trace_task){
		.pid = event->pid, .begun = event->time, .message = message, .write = write,
	};
	return task;
}

static void read_space(const struct trace_event *event, char *space, size_t size)
{
	const char *p = strstr(event->fields, " space=");
	size_t n = 0;

	for (p = p ? p + 7 : ""; *p && *p != ' ' && n < size - 1; p++)
		space[n++] = *p;
	space[n] = 0;
}

/* Declared regions of several pieces are known by their first only. */
static bool is_memory_of(const struct trace_message *message, const struct trace_side *side,
			 const char *space, uint64_t start, uint64_t end)
{
	return side->seen && !strcmp(side->space, space) &&
	       end > side->address / PAGE * PAGE && start < side->address + message->length;
}

static void take_pages(struct trace_story *story, const struct trace_event *event)
{
	struct trace_task *task = task_of(story, event->pid);
	uint32_t pages = trace_field(event, "pages", 10);
	bool pin = !strcmp(event->name, "pin");
	uint64_t address = trace_field(event, "address", 16);
	struct trace_side *side;
	char space[24];

	if (!task)
		return;
	if (!task->message) {
		*(pin ? &task->pinned : &task->faulted) += pages;
		return;
	}
	side = task->write ? &task->message->destination : &task->message->source;
	read_space(event, space, sizeof(space));
	if (!is_memory_of(task->message, side, space, address, address + 1))
		return;
	*(pin ? &side->pinned : &side->faulted) += pages;
}

static void take_invalidation(struct trace_story *story, const struct trace_event *event)
{
	uint64_t start = trace_field(event, "start", 16), end = trace_field(event, "end", 16);
	uint32_t pages = trace_field(event, "pages", 10);
	struct trace_message *message;
	char space[24];
	int i;

	read_space(event, space, sizeof(space));
	for (message = story->live; message; message = message->next_live)
		for (i = 0; i < 2; i++) {
			struct trace_side *side = i ? &message->destination : &message->source;

			if (!is_memory_of(message, side, space, start, end))
				continue;
			side->invalidations++;
			side->invalidated += pages;
		}
}

/* ---- events of a message ---- */

static void take_task(struct trace_message *message, struct trace_side *side,
		      struct trace_task *task)
{
	side->faulted += task->faulted;
	side->pinned += task->pinned;
	side->prepared += task->faulted + task->pinned;
	task->faulted = task->pinned = 0;
	task->message = message;
}

static void take_request(struct trace_message *message, const struct trace_event *event)
{
	uint64_t end = trace_field(event, "offset", 10) + trace_field(event, "length", 10);

	message->requests++;
	if (end > message->asked)
		message->asked = end;
	else
		message->requests_again++;
}

static void take_page_in(struct trace_story *story, struct trace_message *message,
			 const struct trace_event *event, bool write, bool begins)
{
	struct trace_side *side = write ? &message->destination : &message->source;

	if (begins) {
		side->page_ins++;
		set_task(story, event, message, write);
		if (write)
			message->paging = true;
		return;
	}
	if (task_of(story, event->pid))
		task_of(story, event->pid)->pid = 0;
	if (write)
		message->paging = message->response_parked = false;
	else
		message->source_deferred = false;
}

static bool take_source(struct trace_message *message, const struct trace_event *event)
{
	const char *name = event->name;

	if (!strcmp(name, "pull_request_received")) {
		message->requested = true;
	} else if (!strcmp(name, "pull_request_deferred")) {
		message->requests_deferred++;
		message->source_deferred = true;
	} else if (!strcmp(name, "pull_response_sent")) {
		message->responses_sent++;
	} else if (!strcmp(name, "rndv_done")) {
		message->status = trace_field(event, "status", 10);
		return true;
	}
	return false;
}

static bool take_destination(struct trace_message *message, const struct trace_event *event)
{
	const char *name = event->name;

	if (!strcmp(name, "rndv_arrive")) {
		message->arrived = true;
	} else if (!strcmp(name, "pull_request_sent")) {
		take_request(message, event);
	} else if (!strcmp(name, "hold_received")) {
		message->holds++;
		message->held = !trace_field(event, "flags", 16);
	} else if (!strcmp(name, "pull_response_received")) {
		message->responses++;
		message->held = false;
		message->received += trace_field(event, "length", 10);
	} else if (!strcmp(name, "pull_response_parked")) {
		message->responses_parked++;
		message->response_parked = true;
	} else if (!strcmp(name, "pull_done")) {
		message->pulled = true;
		message->status = trace_field(event, "status", 10);
		return !message->source.seen;
	}
	return false;
}

static void take_memory(struct trace_message *message, struct trace_side *side,
			const struct trace_event *event)
{
	side->address = trace_field(event, "address", 16);
	read_space(event, side->space, sizeof(side->space));
	/* The receiver may take less of it. */
	message->length = trace_field(event, "length", 10);
}

/* The program's own ioctls, which say what its faults are for. */
static void take_ioctl(struct trace_story *story, struct trace_message *message,
		       const struct trace_event *event)
{
	struct trace_task *task = task_of(story, event->pid);

	if (!strcmp(event->name, "rndv_send")) {
		message->sent = true;
		take_memory(message, &message->source, event);
		if (task && !task->message && !task->write) {
			message->start = message->since = task->begun;
			message->phase = PHASE_PREPARE_SOURCE;
			take_task(message, &message->source, task);
		}
	} else if (!strcmp(event->name, "pull_begin")) {
		message->begun = true;
		set_task(story, event, NULL, true);
	} else if (!strcmp(event->name, "pull_start")) {
		message->pulling = true;
		message->local = trace_field(event, "local", 10);
		take_memory(message, &message->destination, event);
		if (task && !task->message && task->write)
			take_task(message, &message->destination, task);
	}
}

static bool begins_one(const struct trace_message *message, const char *name)
{
	if (!strcmp(name, "rndv_send"))
		return true;
	return !strcmp(name, "rndv_arrive") &&
	       (!message || message->ended || message->arrived);
}

static void take_message_event(struct trace_story *story, const struct trace_event *event)
{
	bool page_in = !strncmp(event->name, "page_in_", 8), source;
	struct trace_side from = { 0 }, to = { 0 };
	uint32_t id = trace_field(event, "message", 10);
	struct trace_message *message;
	bool ends;

	source = page_in ? !trace_field(event, "write", 10) : is_source(event->name);
	read_sides(event, source, &from, &to);
	message = story_find(story, id, &from, &to);
	if (begins_one(message, event->name)) {
		if (message && !message->ended)
			end_message(story, message);
		message = add_message(story, event->time, id, &from, &to);
		if (message)
			message->length = trace_field(event, "length", 10);
	}
	if (!message || message->ended)
		return;		/* the message began before the trace, or the event was lost */
	(source ? &message->source : &message->destination)->seen = true;
	if (page_in)
		take_page_in(story, message, event, !source,
			     !strcmp(event->name, "page_in_begin"));
	take_ioctl(story, message, event);
	ends = source ? take_source(message, event) : take_destination(message, event);
	story_advance(message, event->time);
	if (ends)
		end_message(story, message);
}

/* They are counted only: a small access has no phases. */
static void take_access(struct trace_story *story, const struct trace_event *event)
{
	if (strcmp(event->name, "access_done"))
		return;
	story->accesses++;
	if (trace_field(event, "status", 10))
		story->accesses_failed++;
}

void trace_story_line(struct trace_story *story, const char *line)
{
	struct trace_event event;
	uint64_t lost;

	switch (trace_parse(line, &event, &lost)) {
	case TRACE_OTHER:
		return;
	case TRACE_LOST:
		story->lost += lost;
		return;
	case TRACE_EVENT:
		break;
	}
	if (event.time > story->end)
		story->end = event.time;
	if (!strcmp(event.name, "fault") || !strcmp(event.name, "pin"))
		take_pages(story, &event);
	else if (!strcmp(event.name, "invalidate"))
		take_invalidation(story, &event);
	else if (!strcmp(event.name, "send_begin"))
		set_task(story, &event, NULL, false);
	else if (!strncmp(event.name, "access_", 7))
		take_access(story, &event);
	else if (strcmp(event.name, "unpin") && strcmp(event.name, "pull_lacks_pages") &&
		 strncmp(event.name, "engine_", 7))
		take_message_event(story, &event);
}

void trace_story_init(struct trace_story *story)
{
	memset(story, 0, sizeof(*story));
	story->message = story_allocate(NULL, TRACE_MESSAGES_MAX * sizeof(*story->message));
}

/*
 * Messages that have not ended stay in their phase until the end of the
 * trace.
 */
void trace_story_finish(struct trace_story *story)
{
	struct trace_message *message;

	for (message = story->live; message; message = message->next_live)
		story_advance(message, story->end);
}

void trace_story_free(struct trace_story *story)
{
	size_t i;

	for (i = 0; i < story->count; i++) {
		free(story->message[i]->segment);
		free(story->message[i]);
	}
	free(story->message);
}
