// SPDX-License-Identifier: BSD-2-Clause
/*
 * Starts the side of a program that its options name, or both of them as two
 * processes.
 */
#include "sides.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "options.h"

static void begin_test(int argc, char **argv)
{
	read_options(argc, argv);
	if (!options.seed)
		options.seed = any_seed();
	setvbuf(stdout, NULL, _IOLBF, 0);
	limit_time();
}

int run_alone(int argc, char **argv, void (*test)(void))
{
	begin_test(argc, argv);
	test();
	return 0;
}

static void play_side(const char *name, void (*side)(void))
{
	name_process(" (%s)", name);
	side();
}

/* The server lives in a child process; if one of the two fails, both end. */
static pid_t server_pid;

static void server_ended(int signal)
{
	int status;

	(void)signal;
	/* Other children are the client's own; 0 would be any of them. */
	if (!server_pid || waitpid(server_pid, &status, WNOHANG) != server_pid)
		return;
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		_exit(1);
	server_pid = 0;
}

static void play_both(void (*server)(void), void (*client)(void))
{
	sigset_t child;

	options.local = true;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	server_pid = fork();
	CHECK(server_pid >= 0);
	if (!server_pid) {
		options.server = true;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		limit_time();
		play_side("server", server);
		exit(0);
	}
	signal(SIGCHLD, server_ended);
	sigprocmask(SIG_UNBLOCK, &child, NULL);
	play_side("client", client);
	while (server_pid)
		sleep_ms(10);
}

int run_sides(int argc, char **argv, void (*server)(void), void (*client)(void))
{
	begin_test(argc, argv);
	if (options.server)
		play_side("server", server);
	else if (options.peer)
		play_side("client", client);
	else
		play_both(server, client);
	return 0;
}

void say_and_wait(const char *word)
{
	sigset_t signals;
	int signal;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	printf("%s\n", word);
	fflush(stdout);
	CHECK(!sigwait(&signals, &signal));
}
