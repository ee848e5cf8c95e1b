// SPDX-License-Identifier: BSD-2-Clause
/*
 * Logs and active pages at their limits: what calls refuse, entries that are too long for
 * their log, flags that change and windows that end in the middle of puts, and a program
 * that writes nonsense to the tail of its ring.  One program accesses itself.
 *
 *	--count N	ranges of pages of a window, all of them if it is at least 4096
 *	--seconds N	for which flags change
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "raw_log.h"

#define PAGE_SIZE	OMX_ACTIVE_PAGE_SIZE
#define PAGES		16
#define SIZE		(PAGES * PAGE_SIZE)
#define RECORD		60000
#define ACTIVE		(OMX_ACTIVE_WLD | OMX_ACTIVE_E)
#define PLAIN		(OMX_ACTIVE_W | OMX_ACTIVE_R)

static omx_endpoint_t ep;
static omx_endpoint_addr_t self;

static omx_window_t make_window(void *memory, size_t size)
{
	omx_window_t window;

	MUST(omx_window_create(ep, memory, size, RIGHTS_ALL | OMX_WINDOW_RIGHT_ACTIVE, NULL,
			       &window));
	return window;
}

static struct remote remote_of(omx_window_t window)
{
	struct remote remote = { .ep = ep, .addr = self };

	MUST(omx_window_key(ep, window, &remote.key));
	return remote;
}

/* ---- what is refused --------------------------------------------------------------------- */

static void ignore(omx_endpoint_t unused, const omx_log_entry_t *entry, void *context)
{
	(void)unused, (void)entry, (void)context;
}

static void check_codes(void)
{
	uint8_t *memory = map_anonymous(NULL, SIZE);
	omx_window_t window = make_window(memory, SIZE - 100), plain;
	omx_log_entry_t entry;
	omx_log_stats_t stats;
	omx_log_t log, gone;
	uint32_t result;

	plain = export_memory(ep, memory, SIZE);
	RETURNS(omx_window_create(ep, memory, SIZE, OMX_WINDOW_RIGHT_ACTIVE, NULL, &plain),
		OMX_ENDPOINT_PARAM_BAD_VALUE);
	RETURNS(omx_log_create(ep, (16u << 20) + 1, &log), OMX_ENDPOINT_PARAM_BAD_VALUE);
	MUST(omx_log_create(ep, 1, &gone));
	MUST(omx_log_destroy(ep, gone));
	MUST(omx_log_create(ep, 0, &log));
	RETURNS(omx_log_destroy(ep, gone), OMX_BAD_REQUEST);
	RETURNS(omx_log_poll(ep, gone, &entry, &result), OMX_BAD_REQUEST);
	RETURNS(omx_log_stats(ep, NULL, &stats), OMX_BAD_REQUEST);
	RETURNS(omx_window_activate(ep, window, 0, PAGE_SIZE, ACTIVE, gone), OMX_BAD_REQUEST);
	RETURNS(omx_window_activate(ep, plain, 0, PAGE_SIZE, ACTIVE, log), OMX_BAD_REQUEST);
	RETURNS(omx_window_activate(ep, window, 0, PAGE_SIZE, 0x80, log),
		OMX_ENDPOINT_PARAM_BAD_VALUE);
	RETURNS(omx_window_activate(ep, window, 1, PAGE_SIZE, ACTIVE, log),
		OMX_SEGMENTS_BAD_COUNT);
	RETURNS(omx_window_activate(ep, window, 0, PAGE_SIZE - 1, ACTIVE, log),
		OMX_SEGMENTS_BAD_COUNT);
	RETURNS(omx_window_activate(ep, window, 0, 0, ACTIVE, log), OMX_SEGMENTS_BAD_COUNT);
	RETURNS(omx_window_activate(ep, window, 0, SIZE, ACTIVE, log), OMX_SEGMENTS_BAD_COUNT);
	MUST(omx_window_activate(ep, window, 0, SIZE - 100, ACTIVE, log));
	RETURNS(omx_log_destroy(ep, log), OMX_BUSY);
	RETURNS(omx_log_release(ep, log), OMX_BAD_REQUEST);
	MUST(omx_log_handler(ep, log, ignore, NULL));
	RETURNS(omx_log_handler(ep, log, ignore, NULL), OMX_BUSY);
	RETURNS(omx_log_poll(ep, log, &entry, &result), OMX_BUSY);
	MUST(omx_log_handler(ep, log, NULL, NULL));
	LASTS(100, MUST(omx_log_wait(ep, log, &entry, &result, 100)));
	CHECK(!result);
	MUST(omx_window_activate(ep, window, 0, SIZE - 100, PLAIN, NULL));
	MUST(omx_log_destroy(ep, log));
	MUST(omx_window_destroy(ep, window));
}

static void check_log_count(void)
{
	omx_log_t logs[OMX_LOGS_MAX], more;
	uint32_t i;

	for (i = 0; i < OMX_LOGS_MAX; i++)
		MUST(omx_log_create(ep, 1, &logs[i]));
	RETURNS(omx_log_create(ep, 1, &more), OMX_NO_SYSTEM_RESOURCES);
	MUST(omx_log_destroy(ep, logs[7]));
	MUST(omx_log_create(ep, 1, &logs[7]));
	for (i = 0; i < OMX_LOGS_MAX; i++)
		MUST(omx_log_destroy(ep, logs[i]));
}

/* Every second page, so that each is a range of its own. */
static void check_ranges(void)
{
	omx_window_t window = make_window(NULL, OMX_WINDOW_ALL);
	uint64_t i, most = options.count < OMX_ACTIVE_RANGES_MAX ? options.count :
								  OMX_ACTIVE_RANGES_MAX;

	for (i = 0; i < most; i++)
		MUST(omx_window_activate(ep, window, 2 * i * PAGE_SIZE, PAGE_SIZE, OMX_ACTIVE_R,
					 NULL));
	if (most == OMX_ACTIVE_RANGES_MAX)
		RETURNS(omx_window_activate(ep, window, 2 * i * PAGE_SIZE, PAGE_SIZE, OMX_ACTIVE_R,
					    NULL), OMX_NO_SYSTEM_RESOURCES);
	/* Now it is a single one. */
	MUST(omx_window_activate(ep, window, 0, 2 * most * PAGE_SIZE, OMX_ACTIVE_R, NULL));
	MUST(omx_window_activate(ep, window, 2 * i * PAGE_SIZE, PAGE_SIZE, OMX_ACTIVE_W, NULL));
	MUST(omx_window_destroy(ep, window));
}

/* An entry takes at most half of its log: 64 slots, of which the entry itself is one. */
static void check_long_entries(void)
{
	uint8_t *memory = map_anonymous(NULL, SIZE);
	omx_window_t window = make_window(memory, SIZE);
	struct remote remote = remote_of(window);
	static uint8_t bytes[32 * OMX_SLOT_SIZE];
	omx_log_entry_t entry;
	uint32_t result, i;
	omx_log_t log;

	MUST(omx_log_create(ep, 64 * OMX_SLOT_SIZE, &log));
	MUST(omx_window_activate(ep, window, 0, SIZE, ACTIVE, log));
	RETURNS(try_put(&remote, 0, bytes, 31 * OMX_SLOT_SIZE + 1), OMX_NO_SYSTEM_RESOURCES);
	/* Wherever the ring's end is. */
	for (i = 0; i < 100; i++) {
		fill(bytes, sizeof(bytes), i, 0);
		MUST(try_put(&remote, 0, bytes, 31 * OMX_SLOT_SIZE - i % 7 * OMX_SLOT_SIZE));
		MUST(omx_log_wait(ep, log, &entry, &result, PATIENCE));
		CHECK(result);
		verify(entry.data, entry.data_length, i);
		MUST(omx_log_release(ep, log));
	}
	MUST(omx_window_destroy(ep, window));
	MUST(omx_log_destroy(ep, log));
}

/* A put can have both an entry, with its number, and an event. */
static void check_event(const struct remote *remote, omx_log_t log, size_t length)
{
	static uint8_t bytes[RECORD];
	omx_log_entry_t entry;
	omx_request_t request;
	omx_put_event_t event;
	uint32_t result;

	MUST(omx_iput_event(ep, bytes, length, self, remote->key, 0, length + 7, NULL, &request));
	finish_with(ep, &request, OMX_SUCCESS);
	MUST(omx_ipoll_put(ep, &event, &result));
	CHECK(result && event.immediate == length + 7 && event.length == length);
	MUST(omx_log_poll(ep, log, &entry, &result));
	CHECK(result && entry.immediate == length + 7 && entry.length == length);
	MUST(omx_log_release(ep, log));
}

static void check_events(void)
{
	uint8_t *memory = map_anonymous(NULL, SIZE);
	omx_window_t window = make_window(memory, SIZE);
	struct remote remote = remote_of(window);
	omx_log_t log;

	MUST(omx_log_create(ep, 0, &log));
	MUST(omx_window_activate(ep, window, 0, SIZE, ACTIVE, log));
	check_event(&remote, log, 0);
	check_event(&remote, log, 10);
	check_event(&remote, log, RECORD);
	MUST(omx_window_destroy(ep, window));
	MUST(omx_log_destroy(ep, log));
}

/* ---- changes in the middle of puts ---------------------------------------------------------- */

static bool changing;
static omx_log_t log_of_changes;
static uint64_t logged;

static void count_entry(omx_endpoint_t unused, const omx_log_entry_t *entry, void *context)
{
	(void)unused, (void)context;
	if (entry->data)
		verify(entry->data, entry->data_length, 1);
	logged++;
}

static void *change_flags(void *argument)
{
	static const uint32_t choice[] = { ACTIVE, PLAIN, PLAIN | OMX_ACTIVE_WL | OMX_ACTIVE_E };
	omx_window_t window = argument;
	double end = now() + options.seconds;
	unsigned int i;

	for (i = 0; now() < end; i++)
		MUST(omx_window_activate(ep, window, 0, SIZE, choice[i % 3], log_of_changes));
	printf("one_active_limits: the flags have changed %u times\n", i);
	MUST(omx_window_destroy(ep, window));
	__atomic_store_n(&changing, false, __ATOMIC_RELAXED);
	return NULL;
}

static void put_until_end(const struct remote *remote, const uint8_t *record)
{
	omx_return_t code = OMX_SUCCESS;
	uint64_t puts = 0;

	while (!code) {
		code = try_put(remote, 0, record, RECORD);
		puts += !code;
	}
	CHECK(code == OMX_REMOTE_RDMA_WINDOW_BAD_ID, "%s", omx_strerror(code));
	printf("one_active_limits: %llu puts\n", (unsigned long long)puts);
	CHECK(puts);
}

static void check_changes(void)
{
	uint8_t *memory = map_anonymous(NULL, SIZE), *record = allocate(RECORD);
	omx_window_t window = make_window(memory, SIZE);
	struct remote remote = remote_of(window);
	omx_log_stats_t stats;
	pthread_t thread;

	changing = true;
	fill(record, RECORD, 1, 0);
	MUST(omx_log_create(ep, 256 << 10, &log_of_changes));
	MUST(omx_log_handler(ep, log_of_changes, count_entry, NULL));
	CHECK(!pthread_create(&thread, NULL, change_flags, window));
	put_until_end(&remote, record);
	CHECK(!pthread_join(thread, NULL) && !changing);
	verify(memory, RECORD, 1);
	MUST(omx_log_stats(ep, log_of_changes, &stats));
	AWAIT(__atomic_load_n(&logged, __ATOMIC_RELAXED) == stats.entries, PATIENCE_S, 1);
	MUST(omx_log_destroy(ep, log_of_changes));
	free(record);
}

/* ---- a hostile consumer ------------------------------------------------------------------- */

static void check_mappings(const struct raw_log *log)
{
	CHECK(mmap(NULL, log->length, PROT_READ | PROT_WRITE, MAP_SHARED, log->fd,
		   log->ioc.ring) == MAP_FAILED);
	CHECK(mmap(NULL, log->length + PAGE, PROT_READ, MAP_SHARED, log->fd,
		   log->ioc.ring) == MAP_FAILED);
	CHECK(mprotect((void *)log->kernel, log->length, PROT_READ | PROT_WRITE));
}

/* Each put is performed or waits, and nothing else happens. */
static void write_nonsense(struct raw_log *log, const struct remote *remote)
{
	static const uint32_t tails[] = { 0xffffffff, 0x80000000, 1, 7, 1025, 5000, 0x7fffffff };
	uint8_t *record = allocate(RECORD);
	omx_request_t requests[64];
	uint32_t i, result;

	memset(record, 0xff, RECORD);
	for (i = 0; i < 64; i++) {
		log->user->utail = tails[i % 7] + i;
		MUST(omx_iput(ep, record, i % 2 ? 20000 : 100, self, remote->key, 0, NULL,
			      &requests[i]));
		MUST(omx_flush_active(ep, self, &result, 20));
	}
	for (i = 0; i < 64; i++) {
		omx_status_t status;
		double end = now() + PATIENCE_S;

		do {
			CHECK(now() < end);
			__atomic_store_n(&log->user->utail, log->kernel->khead,
					 __ATOMIC_RELEASE);
			MUST(omx_test(ep, &requests[i], &status, &result));
		} while (!result);
		EQUAL(status.code, OMX_SUCCESS);
	}
	log->user->utail = log->kernel->khead;
	MUST(omx_flush_active(ep, self, &result, PATIENCE));
	CHECK(result);
	EQUAL(log->kernel->kentries, 64);
	free(record);
}

static void check_hostile(void)
{
	uint8_t *memory = map_anonymous(NULL, SIZE);
	omx_window_t window = make_window(memory, SIZE);
	struct remote remote = remote_of(window);
	struct raw_log log;

	EQUAL(raw_log_create(&log, ep, 1024), 0);
	raw_log_map(&log);
	check_mappings(&log);
	raw_log_activate(&log, ep, window, 0, SIZE, ACTIVE);
	write_nonsense(&log, &remote);
	MUST(omx_window_destroy(ep, window));
	raw_log_destroy(&log);
	/* What is mapped stays, and is nobody else's. */
	EQUAL(log.kernel->kentries, 64);
	raw_log_unmap(&log);
}

static void run_test(void)
{
	MUST(omx_init());
	ep = open_number(options.endpoint, NULL, 0);
	self = connect_self(ep);
	check_codes();
	check_log_count();
	check_ranges();
	check_long_entries();
	check_events();
	check_changes();
	check_hostile();
	MUST(omx_close_endpoint(ep));
	MUST(omx_finalize());
}

int main(int argc, char **argv)
{
	options.count = 10;
	options.seconds = 1;
	return run_alone(argc, argv, run_test);
}
