// SPDX-License-Identifier: BSD-2-Clause
/*
 * One side is killed while records of many packets are put to a page that is logged.
 * The entries of a target whose initiator dies are whole, and one that never became
 * complete does not keep those behind it from being consumed.  An initiator whose target
 * dies, with puts that its log has refused and while it flushes, hears of it.
 *
 *	--mode M	who dies: target (the server) or initiator
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "accesses.h"

#define RECORD		60000
#define LOG_SIZE	(1u << 20)
#define WINDOW_SIZE	(16 * OMX_ACTIVE_PAGE_SIZE)
#define UNDER_WAY	32
#define MIDDLE_MS	(200 + 100 * slowness())
#define QUICKLY		(5 * slowness())	/* s */
#define LAST		77			/* the contents of the server's own put */

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;

static bool target_dies(void)
{
	return !strcmp(options.mode, "target");
}

static void die_at_once(void)
{
	fflush(stdout);
	kill(getpid(), SIGKILL);
}

/* ---- the target ------------------------------------------------------------------------- */

static omx_log_t make_log(omx_window_t *window)
{
	uint8_t *memory = map_anonymous(NULL, WINDOW_SIZE);
	omx_log_t log;

	MUST(omx_window_create(ep, memory, WINDOW_SIZE, RIGHTS_ALL | OMX_WINDOW_RIGHT_ACTIVE,
			       NULL, window));
	MUST(omx_log_create(ep, LOG_SIZE, &log));
	MUST(omx_window_activate(ep, *window, 0, WINDOW_SIZE, OMX_ACTIVE_WLD | OMX_ACTIVE_E, log));
	return log;
}

/* Returns false if there is none within that time. */
static bool take_record(omx_log_t log, uint64_t *key, uint32_t timeout)
{
	omx_log_entry_t entry;
	uint32_t result;

	MUST(omx_log_wait(ep, log, &entry, &result, timeout));
	if (!result)
		return false;
	EQUAL(entry.data_length, RECORD);
	memcpy(key, entry.data, sizeof(*key));
	verify((const uint8_t *)entry.data + sizeof(*key), RECORD - sizeof(*key), *key);
	MUST(omx_log_release(ep, log));
	return true;
}

static void make_record(uint8_t *record, uint64_t key)
{
	memcpy(record, &key, sizeof(key));
	fill(record + sizeof(key), RECORD - sizeof(key), key, 0);
}

/* The server's own record comes behind all that the dead initiator has left. */
static void put_last(omx_window_t window, omx_log_t log)
{
	struct remote self = { .ep = ep };
	static uint8_t record[RECORD];
	omx_request_t request;
	uint64_t key = 0;

	make_record(record, LAST);
	self.addr = connect_self(ep);
	MUST(omx_window_key(ep, window, &self.key));
	MUST(omx_iput(ep, record, RECORD, self.addr, self.key, 0, NULL, &request));
	while (key != LAST)
		CHECK(take_record(log, &key, 1000 * QUICKLY), "an unfinished entry stays");
	finish_with(ep, &request, OMX_SUCCESS);
}

static void survive(omx_window_t window, omx_log_t log)
{
	uint64_t key, records = 0;
	double end = now() + 3 * MIDDLE_MS * 1e-3;
	omx_log_stats_t stats;

	while (now() < end)
		records += take_record(log, &key, 10);
	put_last(window, log);
	MUST(omx_log_stats(ep, log, &stats));
	printf("one_active_killed: %llu records, %llu entries, %llu of them failed\n",
	       (unsigned long long)records, (unsigned long long)stats.entries,
	       (unsigned long long)stats.failed);
	CHECK(records && !stats.used);
	MUST(omx_window_destroy(ep, window));
	MUST(omx_log_destroy(ep, log));
	MUST(omx_close_endpoint(ep));
}

static void run_server(void)
{
	omx_window_t window;
	omx_log_t log;

	ep = meet(&peer);
	log = make_log(&window);
	send_key(ep, peer, window);
	if (!target_dies()) {
		survive(window, log);
		return;
	}
	sleep_ms(MIDDLE_MS);
	die_at_once();
}

/* ---- the initiator ---------------------------------------------------------------------- */

/* Kills this process after a while, wherever it is. */
static void kill_later(void)
{
	pid_t victim = getpid(), child = fork();

	CHECK(child >= 0);
	if (child)
		return;
	sleep_ms(MIDDLE_MS);
	kill(victim, SIGKILL);
	_exit(0);
}

static void put_records(const struct remote *remote)
{
	static uint8_t records[UNDER_WAY][RECORD];
	static omx_request_t requests[UNDER_WAY];
	omx_return_t code = OMX_SUCCESS;
	uint64_t i;

	for (i = 0; code == OMX_SUCCESS; i++) {
		omx_request_t *request = &requests[i % UNDER_WAY];

		if (*request)
			code = finish(ep, request).code;
		if (code)
			break;
		make_record(records[i % UNDER_WAY], i + 1000);
		code = omx_iput(ep, records[i % UNDER_WAY], RECORD, remote->addr, remote->key, 0,
				NULL, request);
	}
	check_gone(code);
	/* They ended while the library posted them again and again. */
	CHECK(!target_dies() || i <= UNDER_WAY + LOG_SIZE / RECORD, "no log was full");
	for (i = 0; i < UNDER_WAY; i++) {
		code = requests[i] ? finish(ep, &requests[i]).code : OMX_SUCCESS;
		if (code)
			check_gone(code);
	}
}

static void run_client(void)
{
	struct remote remote;
	double start = now();
	uint32_t result;

	ep = meet(&peer);
	remote = receive_key(ep, peer);
	if (!target_dies())
		kill_later();
	put_records(&remote);
	check_gone(omx_flush_active(ep, peer, &result, PATIENCE));
	CHECK(now() - start < QUICKLY);
	MUST(omx_close_endpoint(ep));
}

int main(int argc, char **argv)
{
	options.mode = "target";
	return run_pair(argc, argv, run_server, run_client);
}
