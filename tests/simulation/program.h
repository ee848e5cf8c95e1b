/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program with one endpoint.  It sends the messages of its streams, receives what
 * comes, and does both when it has time: programs sleep, exit and are killed.
 *
 * A stream is what a program sends to one endpoint of another node, whoever has that.
 * Its messages have numbers.  When its channel ends, it connects again and goes on with
 * the next message, in a new generation.
 */
#ifndef SIM_PROGRAM_H
#define SIM_PROGRAM_H

#include "endpoint/traffic.h"
#include "sim.h"

enum sim_lengths {
	SIM_TINY,			/* 0 ... 32 bytes */
	SIM_SMALL,			/* ... 4 KiB */
	SIM_MIDDLE,			/* ... 16 KiB: the longest ones of bundles */
	SIM_MEDIUM,			/* ... 64 KiB */
	SIM_LARGE,			/* announced, and pulled by the receiver */
	SIM_MIXED,
	SIM_FIXED,			/* stream->length; pulled if it is more than 64 KiB */
	SIM_LENGTHS
};

enum sim_stream_state {
	SIM_IDLE,			/* connects at retry_at */
	SIM_CONNECTING,
	SIM_OPEN,
	SIM_BLOCKED,			/* OPEN, until there is space */
};

/* The messages of one channel. */
struct sim_generation {
	u32 session;			/* of the endpoint that receives them */
	u32 first;
	u32 expected;			/* next one to be delivered */
	bool ended;			/* the endpoint is about to be closed */
};

/* A message that is pulled, until both programs know how that has ended. */
struct sim_large {
	struct list_head in_stream;
	u64 match;
	u32 length;
	bool pulled;			/* its receiver has it */
	bool sent;			/* its sender knows that */
};

#define SIM_TIMES	4096		/* messages under way, at most */

struct sim_stream {
	u32 id;
	struct sim_program *from;	/* NULL: that has ended */
	struct list_head in_program;
	struct sim_node *node, *to;
	u32 to_slot;
	enum sim_stream_state state;
	enum sim_lengths lengths;
	u32 length, burst;
	u64 pause;			/* ns between bursts, about */
	u64 next_at;			/* the next burst, or attempt to connect */
	u32 channel;
	u32 total, sent;		/* messages */
	u32 generations, generation_room;
	struct sim_generation *generation;
	u32 delivered_generation;
	struct list_head larges;
	u32 large_count;
	u64 delivered, delivered_bytes;
	u64 progress;			/* counts whatever shows that it goes on */
	u64 checked;			/* progress, when the checker looked */
	u64 *sent_at;			/* ns, by number; NULL: not measured */
};

struct sim_program {
	struct sim_event event;
	u32 id;
	struct sim_node *node;
	u32 slot;
	struct omx_endpoint *ep;
	struct task_struct task;
	struct signal_struct signal;
	u32 tail;			/* of the ring */
	struct omx_traffic sent, received;	/* as the program sees it */
	u64 latency;			/* ns: how soon it looks at its ring */
	u32 sleepy;			/* percent: does something else first ... */
	u64 sleep;			/* ns: ... for so long at most */
	u32 timeout_ms;
	u32 waits;			/* percent: when it has nothing to do, it tells the driver */
	u32 hoards;			/* percent: has hardly any room in its ring if it sleeps */
	bool closing, reopen;
	u64 reopen_after;
	u64 awake_at;
	struct list_head streams;
	struct list_head pulls;
	struct list_head waiting;	/* messages that it has not begun to pull */
	struct list_head unfetched;
};

/* ---- program.c ---- */
/* Opens the endpoint, now or when there is memory. */
struct sim_program *sim_program_start(struct sim_node *node, u32 slot);
extern void (*sim_on_reopen)(struct sim_program *program);
void sim_program_notify(struct omx_endpoint *ep);
/* It looks what it can do, and sleeps for 20 ms at most from now on. */
void sim_program_hurry(struct sim_program *program);
/* `killed`: it does not wait until its messages have arrived. */
void sim_program_end(struct sim_program *program, bool killed);
struct sim_stream *sim_stream_make(struct sim_program *from, struct sim_node *to, u32 slot,
				   enum sim_lengths lengths, u32 total);

/* ---- ledger.c ---- */
void sim_ledger_start(void);
void sim_ledger_end(void);
u32 sim_length_of(const struct sim_stream *stream, u32 number);
bool sim_is_large(const struct sim_stream *stream, u32 number);
u64 sim_match_of(const struct sim_stream *stream);	/* of the next one */
const void *sim_bytes_of(u64 match, u32 length);
/* A message has been sent. */
void sim_ledger_sent(struct sim_stream *stream);
/* The stream has a channel to this session. */
void sim_ledger_connected(struct sim_stream *stream, u32 session);
/* A message, or its announcement, is delivered to the program. */
void sim_ledger_delivered(const struct sim_program *to, u64 match, u64 length);
void sim_ledger_check_bytes(u64 match, const void *bytes, u32 length);
/* The same for the first n bytes of so many. */
void sim_ledger_check_beginning(u64 match, u32 length, const void *bytes, u32 n);
void sim_ledger_pulled(u64 match, u8 status);
/* Nobody will tell what it has pulled. */
void sim_ledger_receiver_ends(const struct sim_program *program);
void sim_ledger_send_done(struct sim_stream *stream, const struct omx_event *event);
/* The program does not want to know how its large messages end. */
void sim_ledger_forget_larges(struct sim_stream *stream);
bool sim_stream_is_done(const struct sim_stream *stream);
bool sim_ledger_is_done(void);
/* Each stream that is not done has gone on since the last call, of which there is a first. */
void sim_ledger_check_progress(bool first);
void sim_ledger_print(const struct sim_stream *stream);
/* Prints what is not done, and fails. */
void sim_ledger_fail(const char *why);

extern void (*sim_on_delivered)(struct sim_stream *stream, u32 number, u32 length);

#endif
