// SPDX-License-Identifier: BSD-2-Clause
/*
 * The client sends --count messages of 32 KiB for which the server posts no
 * receives yet.  Messages that match a receive must arrive nevertheless, within
 * --timeout:
 *
 *	--act pingpong	messages of 4 KiB there and back, with posted receives:
 *			more than the event ring holds
 *	--act tag	a message with another tag, sent behind them
 *	--act third	messages of another endpoint, more than the ring holds
 *	--act wait	a medium message, for which the server's user has no memory until
 *			the others have been fetched: the server sleeps in omx_wait
 *	--act poll	the same, in poll()
 *
 * Then the server receives all of them, in order and with the right bytes.  If
 * OMX_UNEXP_QUEUE_MAX is set, the server's memory must not grow by much more
 * than that until then.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "endpoints.h"
#include "omx.h"

#define LENGTH		32768
#define FLOOD		1
#define WANTED		2
#define PING		3
#define PONG		4
#define PINGS		400
#define PING_LENGTH	4096
#define MEDIUM_LENGTH	16384
/*
 * OMX_UNFETCHED_MAX: what the driver takes for a server that does not look.  All of it
 * may be there before the client learns of the limit.
 */
#define SLACK		(16 << 20)

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;

static size_t resident_bytes(void)
{
	unsigned long total, pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	CHECK(file && fscanf(file, "%lu %lu", &total, &pages) == 2);
	fclose(file);
	return pages * sysconf(_SC_PAGESIZE);
}

/* Of messages of all endpoints on this node. */
static unsigned long bytes_in_driver(void)
{
	static const char key[] = "\"unfetched_bytes\":";
	char line[4096], *at;
	unsigned long bytes = 0;
	FILE *tool = popen("omx_endpoints --json", "r");

	CHECK(tool);
	while (fgets(line, sizeof(line), tool)) {
		for (at = line; (at = strstr(at, key)); at++)
			bytes += strtoul(at + strlen(key), NULL, 10);
	}
	CHECK(!pclose(tool));
	return bytes;
}

/* ---- what the server wants ------------------------------------------------- */

static void act_pingpong(void)
{
	unsigned int i;

	for (i = 0; i < PINGS; i++) {
		if (options.server) {
			receive_pattern(ep, PING_LENGTH, PING);
			send_pattern(ep, peer, PING_LENGTH, PONG);
		} else {
			send_pattern(ep, peer, PING_LENGTH, PING);
			receive_pattern(ep, PING_LENGTH, PONG);
		}
	}
}

static void act_tag(void)
{
	if (options.server)
		receive_pattern(ep, PING_LENGTH, WANTED);
	else
		send_pattern(ep, peer, PING_LENGTH, WANTED);
}

static void act_third(void)
{
	omx_endpoint_addr_t addr;
	omx_endpoint_t other;
	uint64_t nic;
	uint32_t number, i;

	for (i = 0; options.server && i < PINGS; i++)
		receive_pattern(ep, PING_LENGTH, WANTED);
	if (options.server)
		return;
	/* lets the driver deliver as many of the others as it can */
	sleep_ms(300);
	MUST(omx_decompose_endpoint_addr(peer, &nic, &number));
	other = open_any();
	addr = connect_to(other, nic, number);
	for (i = 0; i < PINGS; i++)
		send_pattern(other, addr, PING_LENGTH, WANTED);
	MUST(omx_close_endpoint(other));
}

/* MiB that a user may have; returns how many these were. */
static unsigned int set_user_memory(unsigned int limit)
{
	static const char parameter[] = "/sys/module/omx/parameters/user_memory_mb";
	unsigned int before;
	FILE *file = fopen(parameter, "r+");

	CHECK(file && fscanf(file, "%u", &before) == 1);
	rewind(file);
	CHECK(fprintf(file, "%u\n", limit) > 0 && !fclose(file));
	return before;
}

static void receive_medium(void)
{
	receive_pattern(ep, MEDIUM_LENGTH, WANTED);
}

static void poll_for_medium(void)
{
	static uint8_t buffer[MEDIUM_LENGTH];
	struct pollfd pollfd = { .events = POLLIN };
	omx_request_t request;
	omx_status_t status;

	MUST(omx_get_endpoint_fd(ep, &pollfd.fd));
	MUST(omx_irecv(ep, buffer, sizeof(buffer), WANTED, EXACT, NULL, &request));
	while (!is_done(ep, &request, &status))
		CHECK(poll(&pollfd, 1, options.timeout * 1000) == 1, "poll says nothing");
	EQUAL(status.code, OMX_SUCCESS);
	verify(buffer, sizeof(buffer), WANTED);
}

/*
 * Behind the first message the server has all of the flood, and the driver keeps it.  When
 * there is no more memory, the server sleeps.
 */
static void starve(void (*receive)(void))
{
	unsigned int limit;

	if (options.server) {
		receive_pattern(ep, PING_LENGTH, WANTED);
		send_pattern(ep, peer, PING_LENGTH, PONG);
		receive();
		send_pattern(ep, peer, PING_LENGTH, PONG);
	} else {
		send_pattern(ep, peer, PING_LENGTH, WANTED);
		receive_pattern(ep, PING_LENGTH, PONG);
		sleep_ms(300);
		limit = set_user_memory(1);
		send_pattern(ep, peer, MEDIUM_LENGTH, WANTED);
		receive_pattern(ep, PING_LENGTH, PONG);
		set_user_memory(limit);
	}
}

static void act_wait(void)
{
	starve(receive_medium);
}

static void act_poll(void)
{
	starve(poll_for_medium);
}

static const struct {
	const char *name;
	void (*run)(void);
} acts[] = {
	{ "pingpong", act_pingpong }, { "tag", act_tag }, { "third", act_third },
	{ "wait", act_wait }, { "poll", act_poll },
};

static void run_act(void)
{
	unsigned int i;

	for (i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		if (!strcmp(acts[i].name, options.act)) {
			acts[i].run();
			return;
		}
	}
	CHECK(false, "there is no act %s", options.act);
}

/* ---- the two sides --------------------------------------------------------- */

static void run_client(void)
{
	omx_request_t *request = allocate(options.count * sizeof(*request));
	uint8_t *buffer = allocate(options.count * LENGTH);
	unsigned int i;

	for (i = 0; i < options.count; i++)
		fill(buffer + (size_t)i * LENGTH, LENGTH, i, 0);
	ep = meet(&peer);
	for (i = 0; i < options.count; i++)
		MUST(omx_isend(ep, buffer + (size_t)i * LENGTH, LENGTH, peer, FLOOD, NULL,
			       &request[i]));
	run_act();
	for (i = 0; i < options.count; i++)
		finish_with(ep, &request[i], OMX_SUCCESS);
	part(ep, peer);
	free(buffer);
	free(request);
}

static void run_server(void)
{
	const char *limit = getenv("OMX_UNEXP_QUEUE_MAX");
	uint8_t *buffer = allocate(LENGTH);
	size_t before, grown;
	unsigned int i;

	ep = meet(&peer);
	before = resident_bytes();
	run_act();
	grown = resident_bytes() - before;
	printf("%s: %zu KiB more memory\n", options.act, grown >> 10);
	printf("%s: %lu KiB in the driver\n", options.act, bytes_in_driver() >> 10);
	if (limit)
		CHECK(grown < strtoul(limit, NULL, 0) + SLACK, "it is %zu bytes", grown);
	for (i = 0; i < options.count; i++) {
		omx_status_t status = receive(ep, buffer, LENGTH, FLOOD);

		EQUAL(status.xfer_length, LENGTH);
		verify(buffer, LENGTH, i);
	}
	part(ep, peer);
	free(buffer);
}

int main(int argc, char **argv)
{
	options.timeout = 15;
	return run_pair(argc, argv, run_server, run_client);
}
