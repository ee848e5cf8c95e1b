/* SPDX-License-Identifier: BSD-2-Clause */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>

#include "../complain.h"
#include "link.h"
#include "perf.h"
#include "protocol.h"
#include "session.h"

#define COUNT_MAX (1u << MATCH_NUMBER_BITS)

static void server_print_start(const struct link *link)
{
	printf("Successfully opened endpoint %" PRIu32 " of '%s' (%s)\n",
	       link->endpoint, link->name, link->ifname);
	printf("Starting receiver; on the other node: omx_perf -d %s", link->name);
	if (link->endpoint)
		printf(" -r %" PRIu32, link->endpoint);
	printf("\n");
	fflush(stdout);
}

/* Waits for ever. */
static int wait_for_hello(struct link *link, struct control *hello)
{
	do {
		link_idle(link);
		if (control_receive(link, match_make(0, KIND_HELLO, 0), hello,
				    &link->peer) < 0)
			return -1;
	} while (hello->type != CONTROL_HELLO);
	link_expect(link, 0);
	return 0;
}

static int answer_hello(struct link *link, const struct control *hello)
{
	bool known = hello->version == PROTOCOL_VERSION && hello->mode < PERF_MODES &&
		     hello->access < PERF_ACCESSES;
	struct control control = {
		.type = known ? CONTROL_WELCOME : CONTROL_REFUSED,
	};

	if (control_send(link, match_make(hello->tag, KIND_CONTROL, 0), &control) < 0)
		return -1;
	if (known)
		return 0;
	complain(NULL, "a client speaks version %" PRIu64 " of omx_perf's protocol, we %u",
		 hello->version, PROTOCOL_VERSION);
	return -1;
}

static int server_play_round(struct session *session, const struct control *control)
{
	struct round round = {
		.length = control->length,
		.count = control->count,
		.window = control->window,
	};

	if (control->type != CONTROL_ROUND || !round.window || round.count > COUNT_MAX ||
	    (session->access && round.window > COUNT_MAX)) {
		complain(NULL, "the client said something that makes no sense here");
		return -1;
	}
	return round_run(session, &round);
}

static int play_rounds(struct session *session, bool verbose)
{
	struct control control;

	for (;;) {
		link_expect(session->link, 0);
		if (control_receive(session->link,
				    match_make(session->tag, KIND_CONTROL, 0),
				    &control, NULL) < 0)
			return -1;
		if (control.type == CONTROL_BYE)
			return control_send(session->link,
					    match_make(session->tag, KIND_CONTROL, 0),
					    &control);
		if (verbose)
			printf("%" PRIu64 " messages of %" PRIu64 " bytes\n",
			       control.count, control.length);
		if (server_play_round(session, &control) < 0)
			return -1;
	}
}

static int serve_one(struct link *link, const struct settings *settings)
{
	struct session session = { .link = link, .aligned = settings->aligned };
	struct control hello;
	int ret;

	if (wait_for_hello(link, &hello) < 0 || answer_hello(link, &hello) < 0)
		return -1;
	session.tag = hello.tag;
	session.mode = hello.mode;
	session.access = hello.access;
	session.synchronous = hello.synchronous;
	session.verify = hello.verify;
	if (settings->verbose)
		printf("A client: %s%s\n", perf_mode_name(session.access, session.mode),
		       session.verify ? ", verified" : "");
	ret = play_rounds(&session, settings->verbose);
	session_free(&session);
	check_print(&session.check, "here");
	return ret < 0 || session.check.faults ? -1 : 0;
}

/*
 * A client that disappears during a round leaves posted receives and messages
 * in flight. A new endpoint has none of them.
 */
static int start_again(struct link *link, const struct settings *settings)
{
	struct settings same = *settings;

	same.endpoint = link->endpoint;
	link_close(link);
	return link_open(link, &same);
}

int server_run(struct link *link, const struct settings *settings)
{
	int ret;

	server_print_start(link);
	do {
		ret = serve_one(link, settings);
		if (ret < 0 && settings->serve_forever) {
			warnx("that client is given up; the next one, please");
			if (start_again(link, settings) < 0)
				return -1;
		}
		fflush(stdout);
	} while (settings->serve_forever);
	return ret;
}
