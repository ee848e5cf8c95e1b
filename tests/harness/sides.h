/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs with two sides.  Most test programs have a server and a client and
 * run as
 *
 *	PROGRAM --server		on one node,
 *	PROGRAM --client node1:0	on another one, or
 *	PROGRAM				as both, two processes on one node.
 *
 * What runs longer than --timeout is ended.
 */
#ifndef TESTS_HARNESS_SIDES_H
#define TESTS_HARNESS_SIDES_H

/*
 * What the main() of such a program calls: reads the options, then calls the
 * function of the side that this process has.
 */
int run_sides(int argc, char **argv, void (*server)(void), void (*client)(void));
/* The same for a program without sides. */
int run_alone(int argc, char **argv, void (*test)(void));

/* Prints a line and waits for SIGUSR1, which the program must have blocked. */
void say_and_wait(const char *word);

#endif
