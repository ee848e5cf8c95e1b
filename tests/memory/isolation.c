// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program receives into memory whose pages nobody supplies, with more
 * messages than a workqueue runs work items at a time.  Another program on the
 * same node transfers from and into absent pages, and must not wait for the
 * first one.
 *
 *	--count N	messages that wait for ever
 *	--length N	of those that must not
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory.h"
#include "userfault.h"

#define SILENT_ENDPOINT	20
#define MESSAGES	6

static int ready[2];
static pid_t silent_pid;

/* ---- the one whose pages never come ----------------------------------------------------- */

/* Returns how many faults wait once there has been no new one for a while. */
static unsigned int wait_for_faults(omx_endpoint_t ep, omx_request_t *request, int faults)
{
	struct uffd_msg message;
	double last = now();
	unsigned int count = 0;

	while (!count || now() < last + 1.5) {
		omx_status_t status;

		CHECK(!is_done(ep, request, &status));
		CHECK(now() < last + PATIENCE / 1000);
		while (read(faults, &message, sizeof(message)) == sizeof(message)) {
			last = now();
			count++;
		}
		sleep_ms(1);
	}
	return count;
}

static void is_ready(void)
{
	CHECK(write(ready[1], "", 1) == 1);
	for (;;)
		pause();
}

static void silent_server(void)
{
	uint8_t *memory = map_anonymous(NULL, options.count * PAGE);
	omx_request_t *requests = allocate(options.count * sizeof(*requests));
	int faults = open_userfault(O_NONBLOCK);
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	unsigned int waiting;
	uint64_t i;

	watch(faults, memory, options.count * PAGE);
	for (i = 0; i < options.count; i++)
		MUST(omx_irecv(ep, memory + i * PAGE, PAGE, i, EXACT, NULL, &requests[i]));
	barrier(ep, peer);
	waiting = wait_for_faults(ep, &requests[0], faults);
	printf("mem_isolation: %u faults wait\n", waiting);
	is_ready();
}

static void silent_client(void)
{
	omx_request_t *requests = allocate(options.count * sizeof(*requests));
	uint8_t *page = allocate(PAGE);
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	uint64_t i;

	barrier(ep, peer);
	fill(page, PAGE, 1, 0);
	for (i = 0; i < options.count; i++)
		MUST(omx_issend(ep, page, PAGE, peer, i, NULL, &requests[i]));
	is_ready();
}

static void start_silent(int argc, char **argv)
{
	CHECK(!pipe(ready));
	silent_pid = fork();
	CHECK(silent_pid >= 0);
	if (silent_pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	options.endpoint = SILENT_ENDPOINT;
	exit(run_pair(argc, argv, silent_server, silent_client));
}

static void end_silent(void)
{
	int status;

	CHECK(!kill(silent_pid, SIGKILL));
	CHECK(waitpid(silent_pid, &status, 0) == silent_pid);
	CHECK(WIFSIGNALED(status));
}

/* ---- the other one ---------------------------------------------------------------------- */

static void transfer_messages(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	double start = now();
	unsigned int i;

	for (i = 0; i < MESSAGES; i++) {
		uint8_t *memory = map_anonymous(NULL, options.length);

		pass(ep, peer, i % 2, memory, options.length, i);
		CHECK(!munmap(memory, options.length));
	}
	printf("mem_isolation: %u messages in %.2f s\n", i, now() - start);
}

static void run_side(void)
{
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep;
	char byte;

	ep = meet(&peer);
	CHECK(!close(ready[1]));
	CHECK(read(ready[0], &byte, 1) == 1);
	barrier(ep, peer);
	transfer_messages(ep, peer);
	end_silent();
	transfer_messages(ep, peer);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	options.count = 600;
	options.length = 1 << 20;
	memory_mode(argc, argv);
	start_silent(argc, argv);
	return run_pair(argc, argv, run_side, run_side);
}
