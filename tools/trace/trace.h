/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * omx_trace(1): the driver's tracepoints as stories of messages.
 *
 * record.c runs a command and hands on the lines that the kernel writes
 * meanwhile, event.c takes a line apart, story.c adds it to the message that
 * it belongs to, show.c and svg.c say what became of them.
 */
#ifndef OMX_TOOLS_TRACE_H
#define OMX_TOOLS_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- event.c ---- */

struct trace_event {
	uint64_t time;		/* us */
	uint32_t pid;
	char name[32];		/* without its omx_ */
	const char *fields;	/* in the line */
};

enum trace_line {
	TRACE_OTHER,		/* comments, events of others */
	TRACE_EVENT,
	TRACE_LOST,		/* *lost: how many events */
};

enum trace_line trace_parse(const char *line, struct trace_event *event,
			    uint64_t *lost);
/* 0 if it has no such field. */
uint64_t trace_field(const struct trace_event *event, const char *name, int base);

/* ---- story.c ---- */

/* What a message is doing; it does one thing at a time. */
enum trace_phase {
	PHASE_PREPARE_SOURCE,
	PHASE_ANNOUNCE,
	PHASE_WAIT_PROGRAM,
	PHASE_PREPARE_DESTINATION,
	PHASE_TRANSFER,
	PHASE_PAGE_SOURCE,
	PHASE_PAGE_DESTINATION,
	PHASE_FINISH,
	PHASES
};

extern const char *const trace_phase_names[PHASES];	/* for programs */

#define TRACE_SEGMENTS_MAX 128
#define TRACE_MESSAGES_MAX 20000

struct trace_segment {
	uint64_t start, end;
	enum trace_phase phase;
};

/* One end of it, as far as we saw it. */
struct trace_side {
	bool seen;
	uint64_t mac;
	uint32_t endpoint, session;
	char space[24];
	uint64_t address;
	uint32_t page_ins;	/* steps of the driver's page-in */
	uint32_t faulted;	/* pages that were not resident */
	uint32_t pinned;
	uint32_t prepared;	/* of both, before the transfer could begin */
	uint32_t invalidations, invalidated;	/* times; pages */
};

struct trace_message {
	struct trace_message *next;		/* same bucket */
	struct trace_message *next_live;
	struct trace_side source, destination;
	uint32_t id;
	uint64_t length;
	uint8_t status;
	bool local, ended;
	uint64_t start, since, end;		/* us */
	uint64_t spent[PHASES];
	/* its present phase */
	enum trace_phase phase;
	bool sent, arrived, requested, begun, pulling, pulled;
	bool source_deferred, held, paging, response_parked;
	uint64_t asked, received;		/* bytes */
	uint32_t requests, requests_again, requests_deferred, holds;
	uint32_t responses_sent, responses, responses_parked;
	unsigned int segments;
	struct trace_segment *segment;
	bool coarse;				/* there were more than fit */
};

/* Who pages in on behalf of which message. */
struct trace_task {
	uint32_t pid;
	bool write;
	uint64_t begun;
	struct trace_message *message;		/* NULL: it has no number yet */
	uint32_t faulted, pinned;
};

#define TRACE_BUCKETS 4096
#define TRACE_TASKS 256

struct trace_story {
	struct trace_message *bucket[TRACE_BUCKETS];
	struct trace_message *live;
	struct trace_message **message;		/* in the order of their beginning */
	size_t count;
	uint64_t skipped;			/* there was no room for */
	uint64_t lost;				/* events */
	uint64_t accesses, accesses_failed;	/* small one-sided ones, at their initiator */
	uint64_t end;				/* of the trace */
	struct trace_task task[TRACE_TASKS];
	unsigned int next_task;
};

void trace_story_init(struct trace_story *story);
void trace_story_line(struct trace_story *story, const char *line);
void trace_story_finish(struct trace_story *story);
void trace_story_free(struct trace_story *story);

static inline uint64_t trace_total(const struct trace_message *message)
{
	return message->end - message->start;
}

/* ---- show.c, svg.c ---- */

void trace_print(const struct trace_story *story, uint64_t min_us, FILE *out);
int trace_print_json(const struct trace_story *story, uint64_t min_us, FILE *out);
/* Both return -1 after printing the reason. */
int trace_draw(const struct trace_story *story, uint64_t min_us, FILE *out);

/* ---- record.c ---- */

typedef void (*trace_take)(void *context, const char *line);

/*
 * Runs the command and hands on what the kernel traces meanwhile.  Returns
 * the command's exit status, or -1 once it has said what is wrong.
 */
int trace_record(char **command, trace_take take, void *context);
int trace_read(const char *path, trace_take take, void *context);

#endif
