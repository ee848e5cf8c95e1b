// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program that sends 1.5 GB, or --length bytes, to itself and receives nothing
 * until it is told, for a case that puts it into a control group.
 *
 * --count pairs of endpoints: of each pair one sends to the other, as much as
 * it can.  When no send completes any more, the program prints "full".  After
 * SIGUSR1 it receives everything, in order, closes its endpoints and prints
 * "closed"; after another SIGUSR1 it ends.  Its own memory is small: messages
 * are received one by one, into one buffer for each pair.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "endpoints.h"

#define PAIRS_MAX	16
#define LENGTH		32768
#define ALL		(3ull << 29)	/* bytes */
#define QUEUED		1024		/* sends of a pair at a time */
#define CONTENTS	8		/* messages of a pair differ by that */

struct pair {
	omx_endpoint_t from, to;
	omx_endpoint_addr_t peer;
	omx_request_t sends[QUEUED];	/* by number */
	uint64_t sent, done;
	char *contents[CONTENTS];
	omx_request_t receive;		/* NULL: none yet */
	char *buffer;
	uint64_t received;
	uint64_t index;
};

static struct pair pairs[PAIRS_MAX];
static uint64_t messages;		/* of each pair */

static uint64_t key_of(const struct pair *pair, uint64_t number)
{
	return pair->index * CONTENTS + number % CONTENTS;
}

static void open_pair(struct pair *pair, uint64_t index)
{
	unsigned int i;

	pair->index = index;
	pair->from = open_any();
	pair->to = open_any();
	pair->peer = connect_to(pair->from, nic_of(pair->to), number_of(pair->to));
	pair->buffer = allocate(LENGTH);
	for (i = 0; i < CONTENTS; i++) {
		pair->contents[i] = allocate(LENGTH);
		fill(pair->contents[i], LENGTH, key_of(pair, i), 0);
	}
}

/* Returns how many messages have left. */
static unsigned int send_more(struct pair *pair)
{
	unsigned int count = 0;
	omx_status_t status;

	while (pair->done < pair->sent &&
	       is_done(pair->from, &pair->sends[pair->done % QUEUED], &status)) {
		EQUAL(status.code, OMX_SUCCESS);
		pair->done++;
		count++;
	}
	while (pair->sent < messages && pair->sent - pair->done < QUEUED) {
		MUST(omx_isend(pair->from, pair->contents[pair->sent % CONTENTS], LENGTH,
			       pair->peer, pair->sent, NULL,
			       &pair->sends[pair->sent % QUEUED]));
		pair->sent++;
	}
	return count;
}

static unsigned int send_all(void)
{
	unsigned int count = 0;
	uint64_t i;

	for (i = 0; i < options.count; i++)
		count += send_more(&pairs[i]);
	return count;
}

static void send_until_full(void)
{
	uint64_t taken = 0;
	double last = now();

	while (now() - last < 1) {
		unsigned int count = send_all();

		if (count)
			last = now();
		taken += count;
		sleep_ms(1);
	}
	printf("%llu MiB of %llu were taken\n", (unsigned long long)taken * LENGTH >> 20,
	       ALL >> 20);
	CHECK(taken < options.count * messages, "nothing is ever full");
}

/* ---- receiving ---- */

static void end_receive(struct pair *pair)
{
	omx_status_t status;

	if (!pair->receive)
		return;
	CHECK(is_done(pair->to, &pair->receive, &status));
	EQUAL(status.code, OMX_SUCCESS);
	EQUAL(status.msg_length, LENGTH);
	EQUAL(status.match_info, pair->received);
	verify(pair->buffer, LENGTH, key_of(pair, pair->received));
	pair->received++;
}

/* The preceding message has been received, so this is the next one. */
static omx_unexp_handler_action_t on_message(void *context, omx_endpoint_addr_t source,
					     uint64_t match, uint32_t length, void *data)
{
	struct pair *pair = context;

	(void)source, (void)length, (void)data;
	end_receive(pair);
	MUST(omx_irecv(pair->to, pair->buffer, LENGTH, match, EXACT, NULL, &pair->receive));
	return OMX_UNEXP_HANDLER_RECV_CONTINUE;
}

static bool is_complete(struct pair *pair)
{
	return pair->done == messages && pair->received + !!pair->receive == messages;
}

static void receive_all(void)
{
	bool complete;
	uint64_t i;

	for (i = 0; i < options.count; i++)
		MUST(omx_register_unexp_handler(pairs[i].to, on_message, &pairs[i]));
	do {
		complete = true;
		for (i = 0; i < options.count; i++) {
			MUST(omx_progress(pairs[i].to));
			send_more(&pairs[i]);
			complete = complete && is_complete(&pairs[i]);
		}
	} while (!complete);
	for (i = 0; i < options.count; i++)
		end_receive(&pairs[i]);
}

static void run_group(void)
{
	sigset_t signals;
	uint64_t i;

	CHECK(options.count && options.count <= PAIRS_MAX);
	messages = options.length / LENGTH / options.count;
	/*
	 * sigwait() needs it blocked in all threads, hence before the library
	 * starts any.
	 */
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	CHECK(!sigprocmask(SIG_BLOCK, &signals, NULL));
	/*
	 * Without this, longer messages would stay at the sender until they
	 * match a receive.
	 */
	setenv("OMX_RNDV_THRESHOLD", "65536", 1);
	setenv("OMX_SHARED_RNDV_THRESHOLD", "65536", 1);
	MUST(omx_init());
	for (i = 0; i < options.count; i++)
		open_pair(&pairs[i], i);
	send_until_full();
	say_and_wait("full");
	receive_all();
	for (i = 0; i < options.count; i++) {
		MUST(omx_close_endpoint(pairs[i].from));
		MUST(omx_close_endpoint(pairs[i].to));
	}
	say_and_wait("closed");
}

int main(int argc, char **argv)
{
	options.length = ALL;
	return run_alone(argc, argv, run_group);
}
