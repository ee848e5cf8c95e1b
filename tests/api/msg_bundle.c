// SPDX-License-Identifier: BSD-2-Clause
/*
 * Short messages that share packets.  The client sends --count messages in a row, message i
 * with match info i, and the server must get all of them, whole and in order:
 *
 *	--act mixed	of all classes, mostly short ones; all of --length, if given.  Receives
 *			are posted as they arrive
 *	--act late	the same, but receives are posted when all are there, exact ones and
 *			others by turns
 *	--act full	short ones, for a server that does not look until its ring is full
 *	--act medium	of 0 to 20000 bytes, for a server that first looks when more have arrived
 *			than it is to keep, and then posts receives as in --act late
 *	--act turns	one there, one back, and so on
 *	--act kill	short ones, until SIGKILL ends the client: the server gets those up to
 *			some message
 *
 * In the other acts each of --count rounds is three short messages, the last of which may wait
 * in the client's driver for more.  All must arrive soon although acks need longer: what the
 * client does next is
 *
 *	--act compute	not to call the library or the system
 *	--act test	to call omx_test until there is an answer
 *	--act poll	to poll the file descriptor
 *	--act wait	to wait
 *	--act exit	to exit, without closing its endpoint; there is one round
 *
 * And the other way round:
 *
 *	--act receive	the client receives a long message in each round, and computes then; the
 *			server must soon be told that it has arrived
 */
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "endpoints.h"
#include "omx.h"

#define LONGEST		100000
#define LONGEST_SHORT	1000
#define WINDOW		256	/* messages under way in --act kill */
#define ANSWER		(CONTROL + 16)
#define IN_ROUND	3
#define LONG		(256 * 1024)
/* The driver's timer takes 1 ms at most, a busy machine may take more; seconds. */
#define SOON		0.1

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;

static bool acts(const char *act)
{
	return !strcmp(options.act, act);
}

static size_t length_of(uint64_t i)
{
	static const size_t lengths[] = {
		0, 1, 8, 32, 33, 100, LONGEST_SHORT, 4096, 4097, 20000, LONGEST,
	};
	static const size_t medium[] = {
		0, 100, 1000, 4095, 4096, 4097, 5000, 8192, 8192, 12000, 16367, 16368, 16369, 16384,
		16384, 16385, 20000,
	};
	struct random random = { i * 77 };
	bool is_short = acts("full") || acts("kill") || random_chance(&random, 95);

	if (options.length)
		return options.length;
	if (acts("medium"))
		return medium[random_below(&random, sizeof(medium) / sizeof(medium[0]))];
	return lengths[random_below(&random, is_short ? 7 : 11)];
}

/* ---- messages in a row ----------------------------------------------------- */

static void client_sends_all(void)
{
	omx_request_t *requests = allocate(options.count * sizeof(*requests));
	char **buffers = allocate(options.count * sizeof(*buffers));
	uint64_t i;

	for (i = 0; i < options.count; i++) {
		buffers[i] = allocate(length_of(i) + 1);
		fill(buffers[i], length_of(i), i, 0);
	}
	barrier(ep, peer);
	for (i = 0; i < options.count; i++)
		MUST(omx_isend(ep, buffers[i], length_of(i), peer, i, NULL, &requests[i]));
	for (i = 0; i < options.count; i++) {
		finish_with(ep, &requests[i], OMX_SUCCESS);
		free(buffers[i]);
	}
	free(buffers);
	free(requests);
}

static void check_message(const omx_status_t *status, const char *buffer, uint64_t i)
{
	EQUAL(status->match_info, i);
	EQUAL(status->msg_length, length_of(i));
	EQUAL(status->xfer_length, length_of(i));
	verify(buffer, length_of(i), i);
}

/* Message i must be the one that matches. */
static void receive_message(uint64_t i, bool exact)
{
	static char buffer[LONGEST];
	omx_request_t request;
	omx_status_t status;

	MUST(omx_irecv(ep, buffer, sizeof(buffer), exact ? i : 0, exact ? EXACT : CONTROL, NULL,
		       &request));
	status = finish_with(ep, &request, OMX_SUCCESS);
	check_message(&status, buffer, i);
}

static void server_receives_all(void)
{
	uint64_t i;

	barrier(ep, peer);
	for (i = 0; i < options.count; i++)
		receive_message(i, i % 3 == 0);
}

static void server_receives_late(void)
{
	uint64_t i;

	EQUAL(options.count % 4, 0);
	barrier(ep, peer);
	sleep_ms((acts("medium") ? 2000 : 500) * slowness());
	for (i = 0; i < options.count; i += 4) {
		receive_message(i + 2, true);
		receive_message(i, false);
		receive_message(i + 3, true);
		receive_message(i + 1, false);
	}
}

static void server_receives_after_a_pause(void)
{
	uint64_t i;

	barrier(ep, peer);
	sleep_ms(2000);
	for (i = 0; i < options.count; i++)
		receive_message(i, false);
}

/* ---- there and back -------------------------------------------------------- */

static void client_takes_turns(void)
{
	uint64_t i;

	for (i = 0; i < options.count; i++) {
		send_pattern(ep, peer, 8, i);
		receive_pattern(ep, 8, i);
	}
}

static void server_takes_turns(void)
{
	uint64_t i;

	for (i = 0; i < options.count; i++) {
		receive_pattern(ep, 8, i);
		send_pattern(ep, peer, 8, i);
	}
}

/* ---- a client that is killed ----------------------------------------------- */

static void die_in(double seconds)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL };
	struct itimerspec time = { .it_value.tv_nsec = seconds * 1e9 };
	timer_t timer;

	CHECK(!timer_create(CLOCK_MONOTONIC, &event, &timer));
	CHECK(!timer_settime(timer, 0, &time, NULL));
}

static void client_is_killed(void)
{
	static char buffers[WINDOW][LONGEST_SHORT];
	static omx_request_t requests[WINDOW];
	struct random random = { options.seed };
	uint64_t i;

	barrier(ep, peer);
	for (i = 0; ; i++) {
		omx_request_t *request = &requests[i % WINDOW];

		if (*request)
			finish_with(ep, request, OMX_SUCCESS);
		fill(buffers[i % WINDOW], length_of(i), i, 0);
		MUST(omx_isend(ep, buffers[i % WINDOW], length_of(i), peer, i, NULL, request));
		if (!i)
			die_in(1e-3 * (5 + random_below(&random, 60)) * slowness());
	}
}

/* False: none has come for some time. */
static bool receive_next(uint64_t i)
{
	static char buffer[LONGEST_SHORT];
	omx_request_t request;
	omx_status_t status;
	uint32_t result;

	MUST(omx_irecv(ep, buffer, sizeof(buffer), 0, CONTROL, NULL, &request));
	MUST(omx_wait(ep, &request, &status, &result, i ? 1000 * slowness() : PATIENCE));
	if (!result) {
		MUST(omx_cancel(ep, &request, &result));
		CHECK(result, "a message has come after all");
		return false;
	}
	EQUAL(status.code, OMX_SUCCESS);
	check_message(&status, buffer, i);
	return true;
}

static void server_survives(void)
{
	uint64_t i = 0;

	barrier(ep, peer);
	while (receive_next(i))
		i++;
	printf("%llu messages have come\n", (unsigned long long)i);
	CHECK(i, "the client died too early");
}

/* ---- the last ones of a few messages --------------------------------------- */

static void poll_until(omx_request_t *request)
{
	struct pollfd pollfd = { .events = POLLIN };
	omx_status_t status;

	MUST(omx_get_endpoint_fd(ep, &pollfd.fd));
	while (poll(&pollfd, 1, PATIENCE) > 0 && !is_done(ep, request, &status))
		;
	CHECK(!*request, "there is no answer");
}

static void test_until(omx_request_t *request)
{
	double end = now() + PATIENCE_S;
	omx_status_t status;

	while (!is_done(ep, request, &status)) {
		CHECK(now() < end, "there is no answer");
		sched_yield();		/* the server may need this processor */
	}
}

/* With a low priority: otherwise the server may wait until a time slice is over. */
static void compute_nicely(void)
{
	CHECK(!setpriority(PRIO_PROCESS, 0, 19));
	compute_for(2.5 * SOON);
	CHECK(!setpriority(PRIO_PROCESS, 0, 0));
}

static void await_answer(omx_request_t *request)
{
	if (acts("exit"))
		_exit(0);
	if (acts("compute"))
		compute_nicely();
	if (acts("poll"))
		poll_until(request);
	else if (acts("test"))
		test_until(request);
	else
		finish_with(ep, request, OMX_SUCCESS);
}

static void client_sends_few(void)
{
	omx_request_t answer, requests[IN_ROUND];
	double times[IN_ROUND];
	uint64_t round;
	unsigned int i;

	barrier(ep, peer);
	for (round = 0; round < options.count; round++) {
		MUST(omx_irecv(ep, NULL, 0, ANSWER, EXACT, NULL, &answer));
		for (i = 0; i < IN_ROUND; i++) {
			times[i] = now();
			MUST(omx_isend(ep, &times[i], sizeof(times[i]), peer, i, NULL,
				       &requests[i]));
		}
		await_answer(&answer);
		for (i = 0; i < IN_ROUND; i++)
			finish_with(ep, &requests[i], OMX_SUCCESS);
	}
}

/* Returns how long ago the last message of the round was sent. */
static double receive_round(void)
{
	double sent = 0, took = 0;
	unsigned int i;

	for (i = 0; i < IN_ROUND; i++) {
		double last = sent;

		EQUAL(receive(ep, &sent, sizeof(sent), i).msg_length, sizeof(sent));
		took = now() - sent;
		CHECK(sent > last && took >= 0, "message %u is not what was sent", i);
	}
	return took;
}

static int compare_times(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* One round in four may be late: this machine has other things to do. */
static void check_times(double *times)
{
	double most;

	qsort(times, options.count, sizeof(*times), compare_times);
	most = times[options.count * 3 / 4];
	printf("%s: the last message took %.2f ms, at least %.2f, mostly less than %.2f\n",
	       options.act, times[options.count / 2] * 1e3, times[0] * 1e3, most * 1e3);
	CHECK(most < SOON, "messages wait");
	/* On a slow kernel that may take longer than the driver's timer. */
	if (!acts("compute") && !acts("exit") && !acts("receive") && slowness() == 1)
		CHECK(times[0] < 0.8e-3, "messages leave only by the timer");
}

static void server_receives_few(void)
{
	double *times = allocate(options.count * sizeof(*times));
	uint64_t round;

	barrier(ep, peer);
	for (round = 0; round < options.count; round++) {
		times[round] = receive_round();
		if (!acts("exit"))
			MUST(omx_isend(ep, NULL, 0, peer, ANSWER, NULL, NULL));
	}
	check_times(times);
	free(times);
}

/* ---- a long one that has been received -------------------------------------- */

static void client_receives_long(void)
{
	uint64_t round;

	for (round = 0; round < options.count; round++) {
		barrier(ep, peer);
		receive_pattern(ep, LONG, round);
		compute_nicely();
	}
}

static void server_sends_long(void)
{
	double *times = allocate(options.count * sizeof(*times));
	uint64_t round;

	for (round = 0; round < options.count; round++) {
		barrier(ep, peer);
		times[round] = now();
		send_pattern(ep, peer, LONG, round);
		times[round] = now() - times[round];
	}
	check_times(times);
	free(times);
}

/* ---- the two sides --------------------------------------------------------- */

static const struct {
	const char *name;
	void (*client)(void), (*server)(void);
} table[] = {
	{ "mixed", client_sends_all, server_receives_all },
	{ "late", client_sends_all, server_receives_late },
	{ "full", client_sends_all, server_receives_after_a_pause },
	{ "medium", client_sends_all, server_receives_late },
	{ "turns", client_takes_turns, server_takes_turns },
	{ "kill", client_is_killed, server_survives },
	{ "compute", client_sends_few, server_receives_few },
	{ "test", client_sends_few, server_receives_few },
	{ "poll", client_sends_few, server_receives_few },
	{ "wait", client_sends_few, server_receives_few },
	{ "exit", client_sends_few, server_receives_few },
	{ "receive", client_receives_long, server_sends_long },
};

static void run(void)
{
	unsigned int i = 0;

	while (i < sizeof(table) / sizeof(table[0]) && !acts(table[i].name))
		i++;
	CHECK(i < sizeof(table) / sizeof(table[0]), "there is no act %s", options.act);
	ep = meet(&peer);
	(options.server ? table[i].server : table[i].client)();
	if (acts("kill") || acts("exit"))
		MUST(omx_close_endpoint(ep));
	else
		part(ep, peer);
}

int main(int argc, char **argv)
{
	options.count = 3000;
	options.act = "mixed";
	return run_pair(argc, argv, run, run);
}
