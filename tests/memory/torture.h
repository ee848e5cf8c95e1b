/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A round of mem_torture: torture.c says what happens in one, and makes all of them.
 *
 *	torture_round.c		what both sides know of it, and the messages beside
 *	torture_client.c	the side whose memory suffers
 *	torture_server.c	the side that sees what comes of it
 */
#ifndef TORTURE_H
#define TORTURE_H

#include "acts.h"
#include "ahead.h"

#define LONGEST		(4 << 20)
#define READY		(1ull << 40)	/* the server has posted */
#define WHERE		"%s, %s, round %llu"
#define WHERE_VALUES	the.act->name, states[the.state], (unsigned long long)the.number

enum state { IDLE, DECLARED, SOURCE, DESTINATION, STATES };

extern const char *const states[STATES];

/* The properties of a round, which both sides draw from the seed. */
struct round {
	const struct act *act;
	enum state state;
	uint64_t number;
	struct layout layout;
	size_t from, to;
	uint64_t key[PURPOSES];
	/* the program declares the memory; otherwise the library does */
	bool region;
	bool early;			/* the act may begin before memory is declared */
	bool idle_source;		/* what the first transfer of "idle" is */
	bool after_source;		/* and the first one after the act */
	double delay;			/* of the act, in durations of the transfer */
	struct ahead ahead;
	uint64_t chance;
};

extern omx_endpoint_t ep;
extern omx_endpoint_addr_t peer;
extern struct round the;
extern uint64_t match;			/* counts up by 4 for each transfer */

void draw(unsigned int act, enum state state, uint64_t number);
/* The key of what the server sends in a transfer. */
uint64_t sent_key(uint64_t match);

/* The two messages that travel at the same time. */
struct bystanders {
	omx_request_t out, in;
};

void bystanders_make(void);
void bystanders_post(struct bystanders *by);
void bystanders_finish(struct bystanders *by);

/*
 * The result at the client, which it sends to the server after each transfer.
 */
struct result {
	int32_t code;
	/* The post failed; after a refused send the receiver gets an error. */
	bool refused;
	bool loose;			/* an act took bytes away meanwhile */
	bool hashed;
	uint64_t hash;			/* of what the client sees in its memory */
};

/* Counted by the client, for torture.c to print. */
extern unsigned int in_flight, failures, refusals;

void client_round(void);
void server_make(void);
void server_round(void);

#endif
