/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the test programs share.  Most have two sides of one behaviour and
 * run as
 *
 *	PROGRAM --server		on one node,
 *	PROGRAM --client node1:0	on another one, or
 *	PROGRAM				as both, two processes on one node.
 *
 * What fails a check ends the program with status 1 and a line that says
 * where; a program that takes longer than --timeout is ended, too.
 */
#ifndef TESTS_COMMON_H
#define TESTS_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "contents.h"
#include "open-mx.h"

/* ---- checks ---------------------------------------------------------------- */

#define CHECK(condition, ...) \
	do { \
		if (!(condition)) \
			check_failed(__FILE__, __LINE__, #condition, " " __VA_ARGS__); \
	} while (0)

#define EQUAL(a, b) \
	do { \
		unsigned long long a_ = (a), b_ = (b); \
		if (a_ != b_) \
			check_failed(__FILE__, __LINE__, #a " == " #b, " %llu and %llu", a_, b_); \
	} while (0)

#define RETURNS(call, code) \
	check_return(__FILE__, __LINE__, #call, (call), (code))
#define MUST(call)	RETURNS(call, OMX_SUCCESS)

void check_failed(const char *file, int line, const char *what, const char *format, ...)
	__attribute__((noreturn, format(printf, 4, 5)));
void check_return(const char *file, int line, const char *call, omx_return_t got,
		  omx_return_t wanted);

/* Has the shell run it; it must succeed. */
void command(const char *text);

/* ---- time ------------------------------------------------------------------ */

double now(void);			/* seconds */
void sleep_ms(unsigned int ms);
void compute(double seconds);		/* without a call of the library */

/* ---- contents: see contents.h ---------------------------------------------- */

void verify(const void *from, size_t length, uint64_t key);

void *allocate(size_t size);		/* never NULL */

/* ---- the two sides --------------------------------------------------------- */

struct options {
	const char *peer;		/* name of the other side's board */
	bool server;
	bool local;			/* both sides are on this node */
	uint64_t seed;
	uint64_t count;
	uint64_t length;
	uint32_t endpoint;		/* the server's; the client has the next one */
	unsigned int timeout;		/* seconds for the whole program */
	unsigned int seconds;
	unsigned int window;
	unsigned int percent;
	const char *mode;
	const char *act;
	const char *state;
};

/* A program may set its defaults before it runs. */
extern struct options options;

/* What main of a program with two sides does: each is called after omx_init. */
int run_pair(int argc, char **argv, void (*server)(void), void (*client)(void));
/* The same before omx_init; and with one side. */
int run_sides(int argc, char **argv, void (*server)(void), void (*client)(void));
int run_alone(int argc, char **argv, void (*test)(void));

/* ---- endpoints ------------------------------------------------------------- */

#define KEY		0x1234
/*
 * Match infos from here on are the helpers' own: (match & CONTROL) == 0 asks
 * for the others.
 */
#define CONTROL		0xfffe000000000000ull
#define EXACT		(~0ull)
#define PATIENCE	60000		/* ms that nothing here should take */

omx_endpoint_t open_any(void);
omx_endpoint_t open_number(uint32_t number, omx_endpoint_param_t *params, uint32_t count);
uint64_t nic_of(omx_endpoint_t ep);
uint32_t number_of(omx_endpoint_t ep);
/* Waits for the endpoint to be opened there. */
omx_endpoint_addr_t connect_to(omx_endpoint_t ep, uint64_t nic, uint32_t number);
omx_endpoint_addr_t connect_self(omx_endpoint_t ep);

/*
 * Opens this side's endpoint and finds the other one's: the client connects,
 * the server learns the client's address from its first message.
 */
omx_endpoint_t meet(omx_endpoint_addr_t *peer);
omx_endpoint_t meet_with(omx_endpoint_addr_t *peer, omx_endpoint_param_t *params,
			 uint32_t count);
/* Finds the other side of an endpoint that is open. */
omx_endpoint_addr_t find_peer(omx_endpoint_t ep);
/* Returns when the other side has called it as often. */
void barrier(omx_endpoint_t ep, omx_endpoint_addr_t peer);
/* A last barrier, then closes. */
void part(omx_endpoint_t ep, omx_endpoint_addr_t peer);

/* ---- requests -------------------------------------------------------------- */

/* Waits for the end of a request, however it ended. */
omx_status_t finish(omx_endpoint_t ep, omx_request_t *request);
/* ... which must be this. */
omx_status_t finish_with(omx_endpoint_t ep, omx_request_t *request, omx_return_t code);
bool is_done(omx_endpoint_t ep, omx_request_t *request, omx_status_t *status);

void send_sync(omx_endpoint_t ep, omx_endpoint_addr_t to, void *buffer, size_t length,
	       uint64_t match);
omx_status_t receive(omx_endpoint_t ep, void *buffer, size_t length, uint64_t match);
/*
 * `length` bytes that `match` stands for: sent, and received and verified.  Sending
 * more than 4 KiB may wait until they are received.
 */
void send_pattern(omx_endpoint_t ep, omx_endpoint_addr_t to, size_t length, uint64_t match);
void receive_pattern(omx_endpoint_t ep, size_t length, uint64_t match);

static inline bool same_address(omx_endpoint_addr_t a, omx_endpoint_addr_t b)
{
	return a.opaque[0] == b.opaque[0] && a.opaque[1] == b.opaque[1];
}

#endif
