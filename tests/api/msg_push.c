// SPDX-License-Identifier: BSD-2-Clause
/*
 * Long messages there and back, whose first frames their senders push where NICs interrupt
 * seldom.  All must arrive whole.
 *
 *	--act turns	in each of --count rounds the server receives a message and responds
 *	--act oneway	it receives --count messages, and sends none
 *	--act cross	in each of --count rounds both send a message before they receive one
 *	--act late	as turns, but posts its receive when the message has been announced for long
 *	--act short	the same, but by turns it receives half of a message, or all of it
 *	--act never	it receives none of --count messages, which are sent at once, and closes its
 *			endpoint in the end
 *	--act many	--count endpoints announce a message each to it, one after the other, and
 *			then it receives these; all of that twice
 *	--act together	the same, but they are announced at once
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints.h"
#include "omx.h"

#define LONGEST		(1024 * 1024)
#define TO_GROW		6	/* messages, until as many frames are pushed as ever */
#define MANY		1000	/* what the endpoints send */

/* The same one for all messages, so that its pages are there. */
static char *buffer;
static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;

struct act {
	const char *name;
	void (*server)(void), (*client)(void);
	bool is_late, is_short, is_together;
};

static const struct act *act;

/* Of one block, of less and more than what is pushed, and with a shorter last frame. */
static size_t length_of(uint64_t round)
{
	static const size_t lengths[] = { 256 * 1024, 65537, 300001, LONGEST, 131072, 600000 };

	return options.length ? options.length : lengths[round % 6];
}

static bool is_short(uint64_t round)
{
	return act->is_short && round % 2;
}

static void receives(uint64_t round, size_t room)
{
	const bool all = room == length_of(round);
	omx_request_t request;
	omx_status_t status;

	MUST(omx_irecv(ep, buffer, room, round, EXACT, NULL, &request));
	status = finish_with(ep, &request, all ? OMX_SUCCESS : OMX_MESSAGE_TRUNCATED);
	EQUAL(status.msg_length, length_of(round));
	EQUAL(status.xfer_length, room);
	verify(buffer, room, round);
}

static void sends(uint64_t round, omx_return_t code)
{
	omx_request_t request;

	fill(buffer, length_of(round), round, 0);
	MUST(omx_isend(ep, buffer, length_of(round), peer, round, NULL, &request));
	finish_with(ep, &request, code);
}

static void responds(uint64_t rounds)
{
	uint64_t round;

	for (round = 0; round < rounds; round++) {
		if (act->is_late)
			sleep_ms(20);
		receives(round, length_of(round) / (is_short(round) ? 2 : 1));
		sends(round, OMX_SUCCESS);
	}
}

static void takes_turns(uint64_t rounds)
{
	uint64_t round;

	for (round = 0; round < rounds; round++) {
		sends(round, is_short(round) ? OMX_MESSAGE_TRUNCATED : OMX_SUCCESS);
		receives(round, length_of(round));
	}
}

static void server_responds(void)
{
	barrier(ep, peer);
	responds(options.count);
	part(ep, peer);
}

static void client_takes_turns(void)
{
	barrier(ep, peer);
	takes_turns(options.count);
	part(ep, peer);
}

static void server_receives(void)
{
	uint64_t round;

	barrier(ep, peer);
	for (round = 0; round < options.count; round++)
		receives(round, length_of(round));
	part(ep, peer);
}

static void client_sends(void)
{
	uint64_t round;

	barrier(ep, peer);
	for (round = 0; round < options.count; round++)
		sends(round, OMX_SUCCESS);
	part(ep, peer);
}

/* Neither host receives before both have announced their message. */
static void exchange(char *in, uint64_t round)
{
	omx_request_t requests[2];

	fill(buffer, length_of(round), round, 0);
	barrier(ep, peer);
	MUST(omx_isend(ep, buffer, length_of(round), peer, round, NULL, &requests[0]));
	sleep_ms(1);
	MUST(omx_irecv(ep, in, length_of(round), round, EXACT, NULL, &requests[1]));
	finish_with(ep, &requests[0], OMX_SUCCESS);
	finish_with(ep, &requests[1], OMX_SUCCESS);
	verify(in, length_of(round), round);
}

static void exchanges(void)
{
	char *in = allocate(LONGEST);
	uint64_t round;

	for (round = 0; round < options.count; round++)
		exchange(in, round);
	part(ep, peer);
	free(in);
}

static void server_ignores(void)
{
	barrier(ep, peer);
	receives(0, length_of(0));
	sleep_ms(200);
	MUST(omx_close_endpoint(ep));
}

static void client_sends_in_vain(void)
{
	omx_request_t *requests = allocate(options.count * sizeof(*requests));
	uint64_t i;

	barrier(ep, peer);
	sends(0, OMX_SUCCESS);	/* from now on its pages are known */
	sleep_ms(50);		/* nothing is on its way any more */
	for (i = 0; i < options.count; i++)
		MUST(omx_isend(ep, buffer, length_of(i), peer, i, NULL, &requests[i]));
	for (i = 0; i < options.count; i++)
		finish_with(ep, &requests[i], OMX_REMOTE_ENDPOINT_CLOSED);
	free(requests);
	MUST(omx_close_endpoint(ep));
}

static void receive_many(void)
{
	uint64_t i;

	barrier(ep, peer);	/* all are announced */
	for (i = 0; i < options.count; i++)
		receives(MANY, LONGEST);
	barrier(ep, peer);
}

static void server_of_many(void)
{
	options.length = LONGEST;
	barrier(ep, peer);
	responds(TO_GROW);
	receive_many();
	receive_many();
	part(ep, peer);
}

static void open_many(omx_endpoint_t *eps, omx_endpoint_addr_t *to)
{
	uint64_t nic, i;
	uint32_t number;

	MUST(omx_decompose_endpoint_addr(peer, &nic, &number));
	for (i = 0; i < options.count; i++) {
		eps[i] = open_any();
		to[i] = connect_to(eps[i], nic, number);
	}
}

static void announce_many(omx_endpoint_t *eps, omx_endpoint_addr_t *to)
{
	omx_request_t *requests = allocate(options.count * sizeof(*requests));
	uint64_t i;

	fill(buffer, LONGEST, MANY, 0);
	sleep_ms(50);		/* nothing is on its way any more */
	for (i = 0; i < options.count; i++) {
		MUST(omx_isend(eps[i], buffer, LONGEST, to[i], MANY, NULL, &requests[i]));
		if (!act->is_together)
			sleep_ms(5);	/* the server's NIC has interrupted, its ring is empty */
	}
	barrier(ep, peer);
	for (i = 0; i < options.count; i++)
		finish_with(eps[i], &requests[i], OMX_SUCCESS);
	barrier(ep, peer);
	free(requests);
}

static void client_of_many(void)
{
	omx_endpoint_t *eps = allocate(options.count * sizeof(*eps));
	omx_endpoint_addr_t *to = allocate(options.count * sizeof(*to));
	uint64_t i;

	options.length = LONGEST;
	open_many(eps, to);
	barrier(ep, peer);
	takes_turns(TO_GROW);
	announce_many(eps, to);		/* pages that are not known yet are not pushed */
	announce_many(eps, to);
	for (i = 0; i < options.count; i++)
		MUST(omx_close_endpoint(eps[i]));
	part(ep, peer);
	free(to);
	free(eps);
}

static const struct act all_acts[] = {
	{ "turns", server_responds, client_takes_turns, false, false, false },
	{ "oneway", server_receives, client_sends, false, false, false },
	{ "cross", exchanges, exchanges, false, false, false },
	{ "late", server_responds, client_takes_turns, true, false, false },
	{ "short", server_responds, client_takes_turns, false, true, false },
	{ "never", server_ignores, client_sends_in_vain, false, false, false },
	{ "many", server_of_many, client_of_many, false, false, false },
	{ "together", server_of_many, client_of_many, false, false, true },
};

static const struct act *find_act(const char *name)
{
	unsigned int i;

	for (i = 0; i < sizeof(all_acts) / sizeof(all_acts[0]); i++)
		if (!strcmp(all_acts[i].name, name))
			return &all_acts[i];
	fprintf(stderr, "there is no act '%s'\n", name);
	exit(2);
}

static void server(void)
{
	act = find_act(options.act);
	ep = meet(&peer);
	act->server();
}

static void client(void)
{
	act = find_act(options.act);
	ep = meet(&peer);
	act->client();
}

int main(int argc, char **argv)
{
	options.count = 60;
	options.act = "turns";
	buffer = allocate(LONGEST);
	memset(buffer, 1, LONGEST);
	return run_pair(argc, argv, server, client);
}
