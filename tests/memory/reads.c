// SPDX-License-Identifier: BSD-2-Clause
/*
 * The client sends memory that changes meanwhile; the server only receives.
 *
 *	--mode M	pin, overlap, unpinned, permanent, auto, device
 *	--state S	unmapped: pages of it are unmapped all the time, which changes no
 *			byte, since they are a file's; each message arrives as it is
 *			taken: sends time out while their bytes travel, and the client
 *			writes something else to the memory at once; no byte of that
 *			arrives
 *			gone: pages of it are unmapped for good while it travels; if they
 *			had not been sent by then, the message fails on both sides
 *			starved: each of the threads that bring pages waits for one that
 *			nobody supplies; messages of other memory arrive all the same,
 *			even if they are requested before its pages are translated
 *	--count N	messages
 *	--length N	of each
 */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory.h"
#include "omx_abi.h"
#include "userfault.h"

#define DONE	(CONTROL + 120)
#define BLOCK	16			/* pages that are unmapped at once, at most */
#define WAITING	(OMX_PAGERS_MAX + 4)	/* messages that wait for pages */
#define SHORT	(64 * PAGE)		/* of each: translated as the message is posted */
#define LARGE	(16384 * PAGE)		/* its protection takes long to change */

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;
static uint8_t *memory;
static atomic_bool over;
static unsigned int arrived, failed;

static uint64_t own_key(uint64_t number)
{
	return 2 * number + 2;
}

static uint64_t later_key(uint64_t number)
{
	return 2 * number + 3;
}

/* ---- the sender ----------------------------------------------------------------------- */

static uint8_t *make_memory(void)
{
	int file = memory_file(options.length);
	uint8_t *made = map_file(NULL, options.length, file, MAP_SHARED);

	close(file);
	return made;
}

static void *take_pages(void *unused)
{
	struct random random = { options.seed };
	size_t pages = options.length / PAGE, page, count;

	while (!atomic_load(&over)) {
		page = random_below(&random, pages);
		count = 1 + random_below(&random, BLOCK);
		if (count > pages - page)
			count = pages - page;
		CHECK(!madvise(memory + page * PAGE, count * PAGE, MADV_DONTNEED));
		usleep(random_below(&random, 300));
	}
	return unused;
}

static double send_whole(uint64_t number)
{
	double start = now();

	fill(memory, options.length, own_key(number), 0);
	CHECK(!madvise(memory, options.length, MADV_DONTNEED));
	pass(ep, peer, false, memory, options.length, number + 1);
	return now() - start;
}

/* In the end the server has said that it is done with the message. */
static void send_and_take(uint64_t number, unsigned int ms)
{
	omx_request_t request;
	omx_status_t status;
	uint32_t done;

	fill(memory, options.length, own_key(number), 0);
	MUST(omx_isend(ep, memory, options.length, peer, number + 1, NULL, &request));
	MUST(omx_set_request_timeout(ep, request, ms));
	status = finish(ep, &request);
	fill(memory, options.length, later_key(number), 0);
	CHECK(status.code == OMX_SUCCESS || status.code == OMX_TIMEOUT, "%s",
	      omx_strerror(status.code));
	arrived += status.code == OMX_SUCCESS;
	failed += status.code == OMX_TIMEOUT;
	receive(ep, &done, sizeof(done), DONE);
}

/* us: when pages go after the message was posted, from this one on. */
static void send_going(uint64_t number, size_t page, unsigned int us)
{
	uint8_t *going = map_anonymous(NULL, options.length);
	omx_return_t posted, here, there;
	omx_request_t request = NULL;

	fill(going, options.length, own_key(number), 0);
	barrier(ep, peer);
	posted = omx_isend(ep, going, options.length, peer, number + 1, NULL, &request);
	usleep(us);
	CHECK(!munmap(going + page * PAGE, BLOCK * PAGE));
	here = conclude(ep, peer, posted, &request, &there);
	CHECK(here == there && (here == OMX_SUCCESS || here == OMX_MESSAGE_ABORTED),
	      "message %llu: \"%s\" here, \"%s\" there", (unsigned long long)number,
	      omx_strerror(here), omx_strerror(there));
	arrived += here == OMX_SUCCESS;
	failed += here == OMX_MESSAGE_ABORTED;
	CHECK(!munmap(going, options.length));
}

static void send_unmapped(void)
{
	pthread_t thread;
	uint64_t number;

	CHECK(!pthread_create(&thread, NULL, take_pages, NULL));
	for (number = 0; number < options.count; number++)
		send_whole(number);
	atomic_store(&over, true);
	CHECK(!pthread_join(thread, NULL));
}

/* At any moment of a transfer, whose length the first one tells. */
static void send_taken(void)
{
	struct random random = { options.seed };
	unsigned int ms = send_whole(0) * 1000 + 1;
	uint64_t number;

	for (number = 1; number < options.count; number++)
		send_and_take(number, 1 + random_below(&random, ms));
	printf("mem_reads: %u messages have arrived, %u were taken back\n", arrived, failed);
	CHECK(failed, "none was taken back");
}

static void send_gone(void)
{
	struct random random = { options.seed };
	size_t last = options.length / PAGE - BLOCK;
	unsigned int us = send_whole(0) * 1e6 / 4 + 1;
	uint64_t number;

	send_going(1, last, 0);
	for (number = 2; number < options.count; number++)
		send_going(number, random_below(&random, last), random_below(&random, us));
	send_whole(number);
	printf("mem_reads: %u messages have arrived, %u were aborted on both sides\n", arrived,
	       failed);
	CHECK(failed, "none was aborted");
}

/* All of them have a fault, the last of which stays in the file. */
static void await_faults(int faults, unsigned int count)
{
	struct pollfd last = { faults, POLLIN, 0 };

	for (; count > 1; count--)
		take_fault(faults);
	CHECK(poll(&last, 1, PATIENCE) == 1, "not all threads wait");
}

/* Changing its protection takes long. */
static uint8_t *make_large(void)
{
	uint8_t *large = map_anonymous(NULL, LARGE);

	CHECK(!madvise(large, LARGE, MADV_NOHUGEPAGE));
	memset(large, 1, LARGE);
	return large;
}

/* The lock of the address space is held most of the time: translation waits for it. */
static void *hold_up_translation(void *large)
{
	while (!atomic_load(&over)) {
		CHECK(!mprotect(large, LARGE, PROT_READ));
		CHECK(!mprotect(large, LARGE, PROT_READ | PROT_WRITE));
	}
	return NULL;
}

/* Of memory that has not been translated yet. */
static void send_present(uint64_t number)
{
	uint8_t *present = map_anonymous(NULL, SHORT);

	fill(present, SHORT, own_key(number), 0);
	pass(ep, peer, false, present, SHORT, number);
	CHECK(!munmap(present, SHORT));
}

static void send_starved(void)
{
	uint8_t *absent = map_anonymous(NULL, WAITING * SHORT), *large = make_large();
	int faults = open_userfault(0);
	omx_request_t request[WAITING];
	pthread_t thread;
	uint64_t i;

	watch(faults, absent, WAITING * SHORT);
	for (i = 0; i < WAITING; i++)
		MUST(omx_isend(ep, absent + i * SHORT, SHORT, peer, i, NULL, &request[i]));
	await_faults(faults, OMX_PAGERS_MAX);
	CHECK(!pthread_create(&thread, NULL, hold_up_translation, large));
	for (i = WAITING; i < WAITING + options.count; i++)
		send_present(i);
	atomic_store(&over, true);
	CHECK(!pthread_join(thread, NULL));
	supply_zeros(faults, absent, WAITING * SHORT);
	for (i = 0; i < WAITING; i++)
		finish_with(ep, &request[i], OMX_SUCCESS);
	close(faults);
}

/* ---- the receiver --------------------------------------------------------------------- */

static void receive_whole(uint64_t number)
{
	memset(memory, 0, options.length);
	pass(ep, peer, false, memory, options.length, number + 1);
	verify(memory, options.length, own_key(number));
}

static void receive_taken(uint64_t number)
{
	struct contents may = { 0 };
	uint32_t done = 1;
	omx_status_t status;
	omx_request_t request;
	size_t at;

	memset(memory, 0, options.length);
	MUST(omx_irecv(ep, memory, options.length, number + 1, EXACT, NULL, &request));
	status = finish(ep, &request);
	may.zero = status.code != OMX_SUCCESS;
	may_be(&may, own_key(number), 0);
	at = unlike_at(memory, options.length, &may);
	CHECK(at == options.length, "byte %zu of message %llu is not the one that was sent (%s)",
	      at, (unsigned long long)number, omx_strerror(status.code));
	MUST(omx_isend(ep, &done, sizeof(done), peer, DONE, NULL, NULL));
}

static void receive_gone(uint64_t number)
{
	struct contents may = { 0 };
	omx_return_t posted, here, there;
	omx_request_t request = NULL;
	size_t at;

	memset(memory, 0, options.length);
	barrier(ep, peer);
	posted = omx_irecv(ep, memory, options.length, number + 1, EXACT, NULL, &request);
	here = conclude(ep, peer, posted, &request, &there);
	may.zero = here != OMX_SUCCESS;
	may_be(&may, own_key(number), 0);
	at = unlike_at(memory, options.length, &may);
	CHECK(here == there && at == options.length,
	      "byte %zu of message %llu is not the one that was sent (\"%s\" here, \"%s\" there)",
	      at, (unsigned long long)number, omx_strerror(here), omx_strerror(there));
}

static void receive_all_whole(void)
{
	uint64_t number;

	for (number = 0; number < options.count; number++)
		receive_whole(number);
}

static void receive_all_taken(void)
{
	uint64_t number;

	receive_whole(0);
	for (number = 1; number < options.count; number++)
		receive_taken(number);
}

static void receive_all_gone(void)
{
	uint64_t number;

	receive_whole(0);
	for (number = 1; number < options.count; number++)
		receive_gone(number);
	receive_whole(number);
}

static void receive_starved(void)
{
	uint8_t *zeros = allocate(WAITING * SHORT), *present = allocate(SHORT);
	struct contents zero = { .zero = true };
	omx_request_t request[WAITING];
	uint64_t i;

	memset(zeros, 1, WAITING * SHORT);
	for (i = 0; i < WAITING; i++)
		MUST(omx_irecv(ep, zeros + i * SHORT, SHORT, i, EXACT, NULL, &request[i]));
	for (; i < WAITING + options.count; i++) {
		memset(present, 0, SHORT);
		pass(ep, peer, false, present, SHORT, i);
		verify(present, SHORT, own_key(i));
	}
	for (i = 0; i < WAITING; i++)
		finish_with(ep, &request[i], OMX_SUCCESS);
	EQUAL(unlike_at(zeros, WAITING * SHORT, &zero), WAITING * SHORT);
}

/* ---- all of it ------------------------------------------------------------------------ */

static const struct state {
	const char *name;
	void (*send)(void);
	void (*receive)(void);
} states[] = {
	{ "unmapped", send_unmapped, receive_all_whole },
	{ "taken", send_taken, receive_all_taken },
	{ "gone", send_gone, receive_all_gone },
	{ "starved", send_starved, receive_starved },
};

static const struct state *state_wanted(void)
{
	size_t i;

	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (options.state && !strcmp(options.state, states[i].name))
			return &states[i];
	return states;
}

static void run_server(void)
{
	ep = meet(&peer);
	check_mode(ep);
	memory = allocate(options.length);
	state_wanted()->receive();
	part(ep, peer);
}

static void run_client(void)
{
	ep = meet(&peer);
	check_mode(ep);
	memory = make_memory();
	state_wanted()->send();
	part(ep, peer);
}

int main(int argc, char **argv)
{
	options.count = 20;
	options.length = 4 << 20;
	options.seed = 1;
	memory_mode(argc, argv);
	return run_pair(argc, argv, run_server, run_client);
}
