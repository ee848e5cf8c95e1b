// SPDX-License-Identifier: BSD-2-Clause
/*
 * Long messages there and back, whose first frames their senders push where NICs interrupt
 * seldom.  All must arrive whole.  In each of --count rounds the server
 *
 *	--act turns	receives a message and responds
 *	--act late	posts its receive when the message has been announced for long
 *	--act short	by turns receives half of a message, or all of it, and responds
 *	--act never	receives none, and closes its endpoint in the end; all rounds are sent at
 *			once
 */
#include <stdlib.h>
#include <string.h>

#include "endpoints.h"
#include "omx.h"

#define LONGEST		(1024 * 1024)

/* The same one for all messages, so that its pages are there. */
static char *buffer;
static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;

static bool acts(const char *act)
{
	return !strcmp(options.act, act);
}

/* Of one block, of less and more than what is pushed, and with a shorter last frame. */
static size_t length_of(uint64_t round)
{
	static const size_t lengths[] = { 256 * 1024, 65537, 300001, LONGEST, 131072, 600000 };

	return options.length ? options.length : lengths[round % 6];
}

static bool is_short(uint64_t round)
{
	return acts("short") && round % 2;
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

static void server_responds(void)
{
	uint64_t round;

	barrier(ep, peer);
	for (round = 0; round < options.count; round++) {
		if (acts("late"))
			sleep_ms(20);
		receives(round, length_of(round) / (is_short(round) ? 2 : 1));
		sends(round, OMX_SUCCESS);
	}
}

static void client_takes_turns(void)
{
	uint64_t round;

	barrier(ep, peer);
	for (round = 0; round < options.count; round++) {
		sends(round, is_short(round) ? OMX_MESSAGE_TRUNCATED : OMX_SUCCESS);
		receives(round, length_of(round));
	}
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

static void server(void)
{
	ep = meet(&peer);
	if (acts("never"))
		return server_ignores();
	server_responds();
	part(ep, peer);
}

static void client(void)
{
	ep = meet(&peer);
	if (acts("never"))
		return client_sends_in_vain();
	client_takes_turns();
	part(ep, peer);
}

int main(int argc, char **argv)
{
	options.count = 60;
	options.act = "turns";
	buffer = allocate(LONGEST);
	memset(buffer, 1, LONGEST);
	return run_pair(argc, argv, server, client);
}
