/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of command lines that all tools have in common. */
#ifndef OMX_TOOLS_OPTIONS_H
#define OMX_TOOLS_OPTIONS_H

#include <argp.h>
#include <stdint.h>

#define OPTION_JSON 0x100	/* first key of a long option without a letter */

/* -h, --help, -V, --version */
extern const struct argp_child common_options[];

/* As argp_error(): ends the program.  Programs that want JSON are told the same. */
void option_error(struct argp_state *state, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Parse the value of an option, or end the program with a usage error that
 * names it.
 */
uint32_t option_u32(struct argp_state *state, const char *what, const char *text);
uint32_t option_board(struct argp_state *state, const char *text);
uint64_t option_size(struct argp_state *state, const char *what, const char *text);

/*
 * Ends the program on bad usage.  With --json, errors from then on are objects on standard
 * output, unless --json has an argument that is not "-".
 */
void options_parse(const struct argp *argp, int argc, char **argv, void *options);

#endif
