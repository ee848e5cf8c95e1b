// SPDX-License-Identifier: BSD-2-Clause
/*
 * A put to a page that is logged comes behind more events, or more messages, than the
 * ring of the target has room for.  The target's program only waits for entries of its
 * log, and so the entry comes soon.  Nothing of the others is lost.
 *
 *	--count N	events, and messages
 *	--seconds N	an entry comes within this time; most of it is for the events
 *	--act A		how it waits: wait (in omx_log_wait), poll (omx_log_poll) or handler
 */
#include <string.h>

#include "accesses.h"

#define SIZE		(2 * OMX_ACTIVE_PAGE_SIZE)
#define PLAIN		OMX_ACTIVE_PAGE_SIZE	/* where the second page begins */
#define QUICKLY		(options.seconds * slowness())
#define MATCH		10

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;
static uint32_t handled;

static bool has_handler(void)
{
	return !strcmp(options.act, "handler");
}

static void count_entry(omx_endpoint_t unused, const omx_log_entry_t *entry, void *context)
{
	(void)unused, (void)entry, (void)context;
	__atomic_add_fetch(&handled, 1, __ATOMIC_RELAXED);
}

/* ---- the target -------------------------------------------------------------------------- */

static void await_entry(omx_log_t log, uint32_t number, const char *behind)
{
	omx_log_entry_t entry;
	uint32_t result;

	if (has_handler()) {
		AWAIT(__atomic_load_n(&handled, __ATOMIC_RELAXED) == number, QUICKLY, 10,
		      "no entry comes behind the %s", behind);
		return;
	}
	if (!strcmp(options.act, "poll"))
		AWAIT((MUST(omx_log_poll(ep, log, &entry, &result)), result), QUICKLY, 1,
		      "no entry comes behind the %s", behind);
	else
		MUST(omx_log_wait(ep, log, &entry, &result, 1000 * QUICKLY));
	CHECK(result, "no entry comes behind the %s", behind);
	MUST(omx_log_release(ep, log));
}

static void take_events(void)
{
	omx_put_event_t event;
	uint64_t i;

	for (i = 0; i < options.count; i++) {
		uint32_t result = 0;

		AWAIT((MUST(omx_ipoll_put(ep, &event, &result)), result), QUICKLY, 1);
		EQUAL(event.immediate, i);
	}
}

static void take_messages(void)
{
	uint64_t i;

	for (i = 0; i < options.count; i++)
		receive(ep, NULL, 0, MATCH);
}

static void run_server(void)
{
	uint8_t *memory = map_anonymous(NULL, SIZE);
	omx_window_t window;
	omx_log_t log;

	ep = meet(&peer);
	MUST(omx_window_create(ep, memory, SIZE, RIGHTS_ALL | OMX_WINDOW_RIGHT_ACTIVE, NULL,
			       &window));
	MUST(omx_log_create(ep, 0, &log));
	MUST(omx_window_activate(ep, window, 0, OMX_ACTIVE_PAGE_SIZE,
				 OMX_ACTIVE_WLD | OMX_ACTIVE_E, log));
	if (has_handler())
		MUST(omx_log_handler(ep, log, count_entry, NULL));
	send_key(ep, peer, window);
	await_entry(log, 1, "events");
	take_events();
	barrier(ep, peer);
	await_entry(log, 2, "messages");
	take_messages();
	part(ep, peer);
}

/* ---- the initiator ----------------------------------------------------------------------- */

static void put_logged(const struct remote *remote)
{
	uint64_t word = 1;

	MUST(try_put(remote, 0, &word, sizeof(word)));
}

static void run_client(void)
{
	struct remote remote;
	uint64_t i;

	ep = meet(&peer);
	remote = receive_key(ep, peer);
	for (i = 0; i < options.count; i++)
		MUST(omx_iput_event(ep, NULL, 0, peer, remote.key, PLAIN, i, NULL, NULL));
	put_logged(&remote);
	barrier(ep, peer);
	for (i = 0; i < options.count; i++)
		MUST(omx_isend(ep, NULL, 0, peer, MATCH, NULL, NULL));
	put_logged(&remote);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	options.count = 17000;		/* the ring has 16384 slots */
	options.seconds = 20;
	options.act = "wait";
	return run_pair(argc, argv, run_server, run_client);
}
