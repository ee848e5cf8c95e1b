// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two programs on one node, and a message that takes tens of milliseconds to copy.
 *
 * The receive must not copy it in the call that posts it: that call may use no
 * more than a tenth of the processor time that the copy takes.  And no other call
 * may wait for the copy: while it goes on, a second thread calls omx_iprobe, and
 * each call must return within a third of the time of the transfer (in the best
 * of some rounds, since the host may be busy).  All bytes are verified.
 *
 * Then either side is killed in the middle of such a message; the other's request
 * must end within --timeout, and the killed one's memory goes.
 *
 *	--mode M	pin, overlap, unpinned, permanent, auto
 *	--length N	of the message
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "memory.h"

#define ROUNDS		4
#define MESSAGE		10
#define OTHER		11		/* never sent */

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;

/* ---- nobody waits for the copy --------------------------------------------- */

static atomic_int copying;
static double longest;			/* of the probes of a round */
static double shortest = 1e9;		/* of the transfers */

static double processor_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void *probe_thread(void *unused)
{
	uint32_t found;

	while (atomic_load(&copying)) {
		double start = now();

		MUST(omx_iprobe(ep, OTHER, EXACT, NULL, &found));
		if (now() - start > longest)
			longest = now() - start;
		usleep(200);
	}
	return unused;
}

static void wait_for_message(void)
{
	uint32_t found = 0;

	while (!found)
		MUST(omx_probe(ep, MESSAGE, EXACT, NULL, &found, PATIENCE));
}

/* Returns the time of one copy, to which all others are compared. */
static double copy_time(uint8_t *buffer)
{
	uint8_t *other = allocate(options.length);
	double start;

	memset(other, 1, options.length);
	start = processor_time();
	memcpy(other, buffer, options.length);
	start = processor_time() - start;
	CHECK(!memcmp(other, buffer, options.length));
	free(other);
	return start;
}

/* Returns the longest wait of a probe as a part of the transfer's time. */
static double receive_beside_probes(uint8_t *buffer, double *posting)
{
	omx_request_t request;
	pthread_t thread;
	double start, cpu;

	wait_for_message();
	longest = 0;
	atomic_store(&copying, 1);
	CHECK(!pthread_create(&thread, NULL, probe_thread, NULL));
	usleep(1000);
	start = now();
	cpu = processor_time();
	MUST(omx_irecv(ep, buffer, options.length, MESSAGE, EXACT, NULL, &request));
	*posting = processor_time() - cpu;
	finish_with(ep, &request, OMX_SUCCESS);
	start = now() - start;
	if (start < shortest)
		shortest = start;
	atomic_store(&copying, 0);
	CHECK(!pthread_join(thread, NULL));
	return longest / start;
}

static void run_receiver(void)
{
	uint8_t *buffer = allocate(options.length);
	double copy, posting, waited, least_posting = 1, least_waited = 1;
	unsigned int i;

	ep = meet(&peer);
	check_mode(ep);
	memset(buffer, 0, options.length);
	copy = copy_time(buffer);
	for (i = 0; i < ROUNDS; i++) {
		memset(buffer, 0, options.length);
		waited = receive_beside_probes(buffer, &posting);
		verify(buffer, options.length, 1);
		/*
		 * In the first round the pages of the sender must still be
		 * looked up.
		 */
		if (i && waited < least_waited)
			least_waited = waited;
		if (i && posting < least_posting)
			least_posting = posting;
		barrier(ep, peer);
	}
	printf("a copy takes %.2f ms, posting the receive %.3f ms; "
		       "of %.2f ms a probe takes %.0f %%\n",
	       copy * 1e3, least_posting * 1e3, shortest * 1e3, least_waited * 100);
	CHECK(least_posting < copy / 10);
	CHECK(least_waited < 1. / 3);
	free(buffer);
	part(ep, peer);
}

static void run_sender(void)
{
	uint8_t *buffer = allocate(options.length);
	unsigned int i;

	fill(buffer, options.length, 1, 0);
	ep = meet(&peer);
	for (i = 0; i < ROUNDS; i++) {
		send_sync(ep, peer, buffer, options.length, MESSAGE);
		barrier(ep, peer);
	}
	free(buffer);
	part(ep, peer);
}

/* ---- one of them is killed ------------------------------------------------- */

static int under_way[2];		/* the receive was posted */

static void post_message(bool sends, omx_request_t *request)
{
	uint8_t *buffer = allocate(options.length);

	if (sends) {
		fill(buffer, options.length, 1, 0);
		MUST(omx_isend(ep, buffer, options.length, peer, MESSAGE, NULL, request));
		return;
	}
	memset(buffer, 0, options.length);
	wait_for_message();
	MUST(omx_irecv(ep, buffer, options.length, MESSAGE, EXACT, NULL, request));
	CHECK(write(under_way[1], "", 1) == 1);
}

/* The request may have completed before the other side was killed. */
static void survive_or_die(bool sends)
{
	omx_request_t request;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(options.timeout);
	options.server = sends;
	MUST(omx_init());
	ep = meet(&peer);
	post_message(sends, &request);
	printf("the %s survives: %s\n", sends ? "sender" : "receiver",
	       omx_strerror(finish(ep, &request).code));
	MUST(omx_finalize());
	exit(0);
}

static pid_t start_child(bool sends)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid)
		survive_or_die(sends);
	return pid;
}

static void kill_one(bool sends)
{
	pid_t victim, other;
	int status;
	char byte;

	CHECK(!pipe(under_way));
	victim = start_child(sends);
	other = start_child(!sends);
	CHECK(read(under_way[0], &byte, 1) == 1);
	usleep(2000);
	CHECK(!kill(victim, SIGKILL));
	CHECK(waitpid(victim, &status, 0) == victim && WIFSIGNALED(status));
	CHECK(waitpid(other, &status, 0) == other);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status), "the other one: %x", status);
	close(under_way[0]);
	close(under_way[1]);
}

int main(int argc, char **argv)
{
	unsigned int i;

	options.timeout = 20;
	options.length = 64 << 20;
	memory_mode(argc, argv);
	run_pair(argc, argv, run_sender, run_receiver);
	signal(SIGCHLD, SIG_DFL);	/* which run_pair had used */
	for (i = 0; i < 2; i++) {
		kill_one(false);
		kill_one(true);
	}
	return 0;
}
