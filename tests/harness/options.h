/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options of the test programs.  All of them are the same for all
 * programs; a program uses those that it needs.
 */
#ifndef TESTS_HARNESS_OPTIONS_H
#define TESTS_HARNESS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

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

/* A program may set its defaults before the options are read. */
extern struct options options;

/*
 * Returns the index of the first argument that is not an option; ends the
 * program with status 2 for an option that does not exist.
 */
int read_options(int argc, char **argv);

/* A seed for programs that were given none. */
uint64_t any_seed(void);

#endif
