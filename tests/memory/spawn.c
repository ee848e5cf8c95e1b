// SPDX-License-Identifier: BSD-2-Clause
/*
 * Other programs are started in the middle of transfers, by fork, system and
 * posix_spawn: neither the messages nor those programs notice.
 *
 *	--mode M	pin, overlap, unpinned, permanent, auto
 *	--count N	programs of each kind
 *	--length N	of a message
 */
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory.h"

#define WINDOW	2
#define GO_ON	(CONTROL + 110)

extern char **environ;

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;
static atomic_uint left;
static uint8_t *out[WINDOW], *in[WINDOW];
/*
 * A byte in the page of a buffer, beside it, which the children read and
 * change.
 */
static uint8_t *note;

/* ---- programs --------------------------------------------------------------------------- */

static void must_exit_0(pid_t pid, const char *what)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status), "%s: %#x", what, status);
}

static void spawn_one(void)
{
	char *argv[] = { "sh", "-c", "test \"$(echo hello)\" = hello", NULL };
	pid_t pid;

	CHECK(!posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ));
	must_exit_0(pid, "posix_spawn");
}

/*
 * The child writes to its copy of the memory, which must not affect the
 * parent.
 */
static void fork_one(uint8_t number)
{
	pid_t pid;

	*note = number;
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		unsigned int i;

		for (i = 0; i < WINDOW; i++)
			memset(in[i], 0xee, options.length);
		for (i = 0; i < WINDOW; i++)
			memset(out[i], 0xee, options.length);
		_exit(*note != number);
	}
	must_exit_0(pid, "fork");
	EQUAL(*note, number);
}

static void *start_programs(void *unused)
{
	for (; atomic_load(&left); atomic_fetch_sub(&left, 1)) {
		CHECK(!system("test \"$(echo hello)\" = hello"));
		fork_one(atomic_load(&left));
		spawn_one();
	}
	return unused;
}

/* ---- messages ---------------------------------------------------------------------------- */

static uint64_t match_of(bool from_server, uint64_t number, unsigned int i)
{
	return (uint64_t)from_server << 40 | number * WINDOW | i;
}

static void exchange_window(uint64_t number)
{
	omx_request_t send[WINDOW], recv[WINDOW];
	unsigned int i;

	for (i = 0; i < WINDOW; i++)
		MUST(omx_irecv(ep, in[i], options.length, match_of(!options.server, number, i),
			       EXACT, NULL, &recv[i]));
	for (i = 0; i < WINDOW; i++) {
		uint64_t match = match_of(options.server, number, i);

		fill(out[i], options.length, match, 0);
		MUST(omx_isend(ep, out[i], options.length, peer, match, NULL, &send[i]));
	}
	for (i = 0; i < WINDOW; i++) {
		finish_with(ep, &recv[i], OMX_SUCCESS);
		verify(in[i], options.length, match_of(!options.server, number, i));
		finish_with(ep, &send[i], OMX_SUCCESS);
		verify(out[i], options.length, match_of(options.server, number, i));
	}
}

static bool go_on(void)
{
	uint32_t here = atomic_load(&left), there;

	MUST(omx_isend(ep, &here, sizeof(here), peer, GO_ON, NULL, NULL));
	receive(ep, &there, sizeof(there), GO_ON);
	return here || there;
}

static void run_side(void)
{
	size_t room = (options.length + PAGE) & ~(PAGE - 1);
	uint8_t *memory = map_anonymous(NULL, 2 * WINDOW * room);
	uint64_t number;
	pthread_t thread;
	unsigned int i;

	for (i = 0; i < WINDOW; i++) {
		out[i] = memory + 2 * i * room;
		in[i] = out[i] + room;
	}
	note = in[0] + options.length;
	atomic_store(&left, options.count);
	ep = meet(&peer);
	check_mode(ep);
	CHECK(!pthread_create(&thread, NULL, start_programs, NULL));
	for (number = 0; go_on(); number++)
		exchange_window(number);
	CHECK(!pthread_join(thread, NULL));
	printf("mem_spawn: %llu messages each way beside %llu programs\n",
	       (unsigned long long)number * WINDOW, (unsigned long long)options.count * 3);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	options.count = 10;
	options.length = 400001;
	memory_mode(argc, argv);
	return run_pair(argc, argv, run_side, run_side);
}
