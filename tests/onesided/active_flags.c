// SPDX-License-Identifier: BSD-2-Clause
/*
 * Every combination of the flags of a page, and accesses of several pages with different
 * ones.  The client accesses the server's window; both compute from the same random
 * numbers what has to happen (active_model.c): the client checks the status and what gets
 * and atomics bring, the server each entry of the log and its memory, byte by byte.
 *
 *	--count N	accesses of random shape, after three of each page
 */
#include <stdlib.h>
#include <string.h>

#include "active_model.h"

#define COMBINATIONS	128u
#define PAGE_SIZE	OMX_ACTIVE_PAGE_SIZE
#define SIZE		(COMBINATIONS * PAGE_SIZE)
#define LOG_SIZE	(256u << 10)	/* so that some accesses find it full */
#define EACH		3		/* accesses of each page at first */
#define GET_MAX		1400		/* fits a frame of any MTU */
#define EAGER_MAX	65536

struct access {
	omx_log_kind_t kind;
	uint64_t offset;
	uint64_t length;
	bool pulled;
};

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;
static uint32_t flags[COMBINATIONS];
static uint8_t model[SIZE];		/* the server's memory */
static uint8_t buffer[SIZE];
static struct random shape = { .state = 20261123 };
static uint64_t traced;

static uint64_t access_count(void)
{
	return EACH * COMBINATIONS + options.count;
}

/* ---- both sides ------------------------------------------------------------------------ */

static void set_flags(void)
{
	uint32_t i;

	for (i = 0; i < COMBINATIONS; i++)
		flags[i] = i;
}

/* A put, a get and an atomic of one page. */
static struct access plain_access(uint64_t i)
{
	static const omx_log_kind_t kinds[EACH] = { OMX_LOG_PUT, OMX_LOG_GET, OMX_LOG_ATOMIC };
	struct access access = { .kind = kinds[i % EACH], .offset = i / EACH * PAGE_SIZE };

	access.length = access.kind == OMX_LOG_ATOMIC ? 8 : 200;
	return access;
}

static uint64_t draw_length(omx_log_kind_t kind)
{
	if (kind == OMX_LOG_ATOMIC)
		return 8;
	if (!random_below(&shape, 8))
		return EAGER_MAX + 1 + random_below(&shape, 50000);
	if (kind == OMX_LOG_GET)
		return random_below(&shape, GET_MAX);
	return random_below(&shape, random_below(&shape, 2) ? 300 : EAGER_MAX);
}

static struct access random_access(void)
{
	struct access access = { .kind = random_below(&shape, 3) };

	access.length = draw_length(access.kind);
	access.offset = random_below(&shape, SIZE - access.length);
	if (access.kind == OMX_LOG_ATOMIC)
		access.offset &= ~7ull;
	access.pulled = access.length > EAGER_MAX;
	return access;
}

static struct access next_access(uint64_t i)
{
	return i < EACH * COMBINATIONS ? plain_access(i) : random_access();
}

static void model_perform(const struct access *access, uint64_t i)
{
	uint64_t word;

	if (access->kind == OMX_LOG_PUT) {
		fill(model + access->offset, access->length, i + 1, 0);
	} else if (access->kind == OMX_LOG_ATOMIC) {
		memcpy(&word, model + access->offset, sizeof(word));
		word += i;
		memcpy(model + access->offset, &word, sizeof(word));
	}
}

static struct outcome outcome_next(const struct access *access)
{
	return outcome_of(access->kind, flags, access->offset, access->length, access->pulled);
}

/* ---- the target ------------------------------------------------------------------------- */

static void check_data(const struct access *access, const omx_log_entry_t *entry, uint64_t i)
{
	const omx_log_atomic_t *atomic = entry->data;
	uint64_t before;

	switch (access->kind) {
	case OMX_LOG_PUT:
		EQUAL(entry->data_length, access->length);
		verify(entry->data, access->length, i + 1);
		break;
	case OMX_LOG_GET:
		EQUAL(entry->data_length, access->length);
		CHECK(!memcmp(entry->data, model + access->offset, access->length));
		break;
	default:
		memcpy(&before, model + access->offset, sizeof(before));
		EQUAL(entry->data_length, sizeof(*atomic));
		CHECK(atomic->operation == OMX_ATOMIC_ADD && atomic->size == 8);
		CHECK(atomic->operand == i && atomic->before == before);
	}
}

/* Before the model performs the access. */
static void check_entry(omx_log_t log, omx_window_t window, const struct access *access,
			const struct outcome *outcome, uint64_t i)
{
	omx_log_entry_t entry;
	uint32_t result;

	MUST(omx_log_wait(ep, log, &entry, &result, PATIENCE / 2));
	CHECK(result, "access %llu is not logged", (unsigned long long)i);
	CHECK(entry.kind == access->kind && entry.offset == access->offset &&
	      entry.length == access->length && entry.window == window &&
	      same_address(entry.addr, peer),
	      "access %llu: kind %d at %llu, %llu bytes", (unsigned long long)i, entry.kind,
	      (unsigned long long)entry.offset, (unsigned long long)entry.length);
	EQUAL(entry.blocked, outcome->refused);
	if (outcome->with_data && access->length)
		check_data(access, &entry, i);
	else
		CHECK(!entry.data && !entry.data_length, "access %llu", (unsigned long long)i);
	MUST(omx_log_release(ep, log));
}

static void follow(omx_log_t log, omx_window_t window)
{
	uint64_t i;

	for (i = 0; i < access_count(); i++) {
		struct access access = next_access(i);
		struct outcome outcome = outcome_next(&access);

		if (outcome.logged)
			check_entry(log, window, &access, &outcome, i);
		if (outcome.performed)
			model_perform(&access, i);
		traced += outcome.traced;
	}
}

static void run_server(void)
{
	uint8_t *memory = map_anonymous(NULL, SIZE);
	omx_log_entry_t entry;
	omx_window_t window;
	omx_log_stats_t stats;
	uint32_t i, result;
	uint64_t before;
	omx_log_t log;

	set_flags();
	ep = meet(&peer);
	MUST(omx_window_create(ep, memory, SIZE, RIGHTS_ALL | OMX_WINDOW_RIGHT_ACTIVE, NULL,
			       &window));
	MUST(omx_log_create(ep, LOG_SIZE, &log));
	for (i = 0; i < COMBINATIONS; i++)
		MUST(omx_window_activate(ep, window, i * PAGE_SIZE, PAGE_SIZE, flags[i], log));
	before = count_of(ep, "recorded without a log");
	send_key(ep, peer, window);
	follow(log, window);
	barrier(ep, peer);
	MUST(omx_log_poll(ep, log, &entry, &result));
	CHECK(!result, "an entry too many, at %llu", (unsigned long long)entry.offset);
	EQUAL(count_of(ep, "recorded without a log") - before, traced);
	for (i = 0; i < SIZE && memory[i] == model[i]; i++)
		;
	CHECK(i == SIZE, "byte %u differs", i);
	MUST(omx_log_stats(ep, log, &stats));
	CHECK(stats.entries && !stats.used && stats.size == LOG_SIZE);
	printf("one_active_flags: %llu accesses, %llu entries, %llu without a log\n",
	       (unsigned long long)access_count(), (unsigned long long)stats.entries,
	       (unsigned long long)traced);
	part(ep, peer);
}

/* ---- the initiator ------------------------------------------------------------------------ */

static omx_return_t perform(const struct remote *remote, const struct access *access, uint64_t i)
{
	switch (access->kind) {
	case OMX_LOG_PUT:
		fill(buffer, access->length, i + 1, 0);
		return try_put(remote, access->offset, buffer, access->length);
	case OMX_LOG_GET:
		memset(buffer, 0xa5, access->length);
		return try_get(remote, access->offset, buffer, access->length);
	default:
		return try_atomic(remote, OMX_ATOMIC_ADD, 8, access->offset, i, 0, buffer);
	}
}

static void access_and_check(const struct remote *remote, uint64_t i)
{
	struct access access = next_access(i);
	struct outcome outcome = outcome_next(&access);
	omx_return_t code = perform(remote, &access, i);

	CHECK(code == (outcome.refused ? OMX_MESSAGE_ABORTED : OMX_SUCCESS),
	      "access %llu, kind %d of %llu bytes at %llu: %s", (unsigned long long)i,
	      access.kind, (unsigned long long)access.length, (unsigned long long)access.offset,
	      omx_strerror(code));
	if (outcome.performed && access.kind != OMX_LOG_PUT)
		CHECK(!memcmp(buffer, model + access.offset, access.length),
		      "access %llu brings something else", (unsigned long long)i);
	if (outcome.performed)
		model_perform(&access, i);
}

static void run_client(void)
{
	struct remote remote;
	uint64_t i;

	set_flags();
	ep = meet(&peer);
	remote = receive_key(ep, peer);
	for (i = 0; i < access_count(); i++)
		access_and_check(&remote, i);
	barrier(ep, peer);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	options.count = 500;
	return run_pair(argc, argv, run_server, run_client);
}
