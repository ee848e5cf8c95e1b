// SPDX-License-Identifier: BSD-2-Clause
/*
 * The client puts, gets and changes words where the server's pages are absent, or
 * present but not the server's own to write to: never touched, discarded, swapped
 * out, in the page cache but not mapped, zero pages that were only read, pages
 * that are shared with a child.  Then pages that the server supplies late, by
 * userfaultfd: accesses behind such a one wait, messages and other channels do not.
 *
 *	--mode M	pin, overlap, unpinned, permanent, auto
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "accesses.h"
#include "userfault.h"

enum kind { UNTOUCHED, DISCARDED, SWAPPED, UNMAPPED, ONLY_READ, FORKED, KINDS };

static const char *const names[KINDS] = {
	"untouched", "discarded", "swapped out", "not mapped", "only read", "forked",
};

/* The first half of the memory is for puts, the second one for gets. */
#define HALF		(1024 * PAGE)
#define SIZE		(2 * HALF)

/* Each access has pages of its own; the last one is pulled. */
static const struct {
	size_t at, length;
} parts[] = {
	{ 100, 8 },
	{ 3 * PAGE - 100, 5000 },
	{ 6 * PAGE, PAGE },
	{ 16 * PAGE + 1, 60000 },
	{ 64 * PAGE + 5, 1000000 },
};

#define PARTS		(sizeof(parts) / sizeof(parts[0]))
#define WORD		(800 * PAGE + 16)	/* for atomics */
#define OPERAND		0x0123456789abcdefull

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;

/* ---- contents ------------------------------------------------------------------ */

static bool is_zero(enum kind kind)
{
	return kind == UNTOUCHED || kind == DISCARDED || kind == ONLY_READ;
}

/* What the server's memory is at first. */
static void fill_initial(enum kind kind, uint8_t *memory)
{
	if (is_zero(kind))
		memset(memory, 0, SIZE);
	else
		fill(memory, SIZE, kind, 0);
}

static uint64_t key_of_part(enum kind kind, unsigned int i)
{
	return 1000 * (kind + 1) + i;
}

/* What it is after the client's accesses. */
static void fill_final(enum kind kind, uint8_t *memory)
{
	uint64_t word;
	unsigned int i;

	fill_initial(kind, memory);
	for (i = 0; i < PARTS; i++)
		fill(memory + parts[i].at, parts[i].length, key_of_part(kind, i), 0);
	memcpy(&word, memory + WORD, sizeof(word));
	word += OPERAND;
	memcpy(memory + WORD, &word, sizeof(word));
}

/* ---- the server's memory ------------------------------------------------------------ */

static uint8_t *make_memory(enum kind kind)
{
	int file = kind == UNMAPPED || kind == ONLY_READ ? memory_file(SIZE) : -1;
	uint8_t *memory = file < 0 ? map_anonymous(NULL, SIZE) :
			  map_file(NULL, SIZE, file, kind == ONLY_READ ? MAP_PRIVATE : MAP_SHARED);
	size_t i;

	if (file >= 0)
		close(file);
	if (kind == ONLY_READ)
		for (i = 0; i < SIZE; i += PAGE)
			CHECK(!((volatile uint8_t *)memory)[i]);
	else if (kind != UNTOUCHED)
		fill(memory, SIZE, kind, 0);
	if (kind == SWAPPED)
		madvise(memory, SIZE, MADV_PAGEOUT);
	if (kind == DISCARDED || kind == UNMAPPED)
		CHECK(!madvise(memory, SIZE, MADV_DONTNEED));
	return memory;
}

static size_t count_resident(uint8_t *memory)
{
	static unsigned char in_core[SIZE / PAGE];
	size_t i, pages = 0;

	CHECK(!mincore(memory, SIZE, in_core));
	for (i = 0; i < SIZE / PAGE; i++)
		pages += in_core[i] & 1;
	return pages;
}

/* A child that has the same pages; at the end it checks that its own are as they were. */
struct twin {
	pid_t pid;
	int pipe[2];
};

static void start_twin(struct twin *twin, enum kind kind, const uint8_t *memory)
{
	char byte;

	CHECK(!pipe(twin->pipe));
	twin->pid = fork();
	CHECK(twin->pid >= 0);
	if (twin->pid)
		return;
	close(twin->pipe[1]);
	if (read(twin->pipe[0], &byte, 1) < 0)
		_exit(2);
	_exit(differs_at(memory, SIZE, kind, 0) == SIZE ? 0 : 3);
}

static void end_twin(struct twin *twin)
{
	int status;

	close(twin->pipe[0]);
	close(twin->pipe[1]);
	CHECK(waitpid(twin->pid, &status, 0) == twin->pid);
	CHECK(WIFEXITED(status), "%d", status);
	EQUAL(WEXITSTATUS(status), 0);
}

static void compare_memory(enum kind kind, const uint8_t *memory)
{
	uint8_t *wanted = allocate(SIZE);
	size_t at = 0;

	fill_final(kind, wanted);
	while (at < SIZE && memory[at] == wanted[at])
		at++;
	CHECK(at == SIZE, "%s: byte %zu is wrong", names[kind], at);
	free(wanted);
}

static void serve_kind(enum kind kind)
{
	uint8_t *memory = make_memory(kind);
	omx_window_t window = export_memory(ep, memory, SIZE);
	struct twin twin;
	size_t resident;

	if (kind == FORKED)
		start_twin(&twin, kind, memory);
	resident = count_resident(memory);
	if (kind == UNTOUCHED || kind == DISCARDED)
		EQUAL(resident, 0);
	send_key(ep, peer, window);
	barrier(ep, peer);
	compare_memory(kind, memory);
	if (kind == FORKED)
		end_twin(&twin);
	MUST(omx_window_destroy(ep, window));
	munmap(memory, SIZE);
	printf("one_absent: %s: %zu pages of %lu were in memory\n", names[kind], resident,
	       SIZE / PAGE);
}

/* ---- the client's accesses ----------------------------------------------------------- */

static void get_part(enum kind kind, const struct remote *remote, const uint8_t *initial,
		     unsigned int i)
{
	size_t at = HALF + parts[i].at, length = parts[i].length;
	uint8_t *got = allocate(length);

	memset(got, 0xa5, length);
	MUST(try_get(remote, at, got, length));
	CHECK(!memcmp(got, initial + at, length), "%s: a get of %zu bytes", names[kind], length);
	free(got);
}

static void change_word(const struct remote *remote, const uint8_t *initial)
{
	uint64_t wanted, before = 0;

	memcpy(&wanted, initial + WORD, sizeof(wanted));
	MUST(try_atomic(remote, OMX_ATOMIC_ADD, 8, WORD, OPERAND, 0, &before));
	EQUAL(before, wanted);
}

static void access_kind(enum kind kind)
{
	struct remote remote = receive_key(ep, peer);
	uint8_t *initial = allocate(SIZE);
	double start = now();
	unsigned int i;

	fill_initial(kind, initial);
	for (i = 0; i < PARTS; i++) {
		put_pattern(&remote, parts[i].at, parts[i].length, key_of_part(kind, i));
		get_part(kind, &remote, initial, i);
	}
	change_word(&remote, initial);
	printf("one_absent: %s: %.3f s\n", names[kind], now() - start);
	barrier(ep, peer);
	free(initial);
}

/* ---- pages that come late -------------------------------------------------------------- */

#define LATE_PAGES	256
#define LATE_SIZE	(LATE_PAGES * PAGE)
#define LONG_AT		(64 * PAGE + 7)
#define LONG		500000
#define OTHER		7		/* match info */
#define GO		8

static void serve_late(void)
{
	uint8_t *memory = map_anonymous(NULL, LATE_SIZE), *there = allocate(PAGE);
	int faults = open_userfault(0);
	omx_window_t late, other;

	fill(there, PAGE, 5, 0);
	watch(faults, memory, LATE_SIZE);
	late = export_memory(ep, memory, LATE_SIZE);
	other = export_memory(ep, there, PAGE);
	send_key(ep, peer, late);
	send_key(ep, peer, other);
	receive(ep, NULL, 0, GO);
	supply_zeros(faults, memory, LATE_SIZE);
	barrier(ep, peer);
	verify(memory + 100, 1000, 1);
	EQUAL(*(uint64_t *)(memory + 2 * PAGE), 5);
	CHECK(differs_at(memory + LONG_AT, LONG, 2, 0) == LONG);
	verify(there, 100, 3);
	MUST(omx_window_destroy(ep, late));
	MUST(omx_window_destroy(ep, other));
	close(faults);
	munmap(memory, LATE_SIZE);
	free(there);
}

/* Another endpoint of this side: its channel does not wait for the first one's. */
static void access_beside(const struct remote *other)
{
	struct remote beside = *other;
	uint64_t nic;
	uint32_t number;

	beside.ep = open_any();
	MUST(omx_decompose_endpoint_addr(other->addr, &nic, &number));
	beside.addr = connect_to(beside.ep, nic, number);
	put_pattern(&beside, 0, 100, 3);
	get_pattern(&beside, 0, 100, 3);
	MUST(omx_close_endpoint(beside.ep));
}

static void access_late(void)
{
	struct remote late = receive_key(ep, peer), other = receive_key(ep, peer);
	uint8_t *put = allocate(1000), *long_put = allocate(LONG), got[100];
	omx_request_t request[4];
	omx_status_t status;
	uint64_t before = 1;
	double start = now();
	unsigned int i;

	fill(put, 1000, 1, 0);
	fill(long_put, LONG, 2, 0);
	MUST(omx_iput(ep, long_put, LONG, peer, late.key, LONG_AT, NULL, &request[0]));
	MUST(omx_iput(ep, put, 1000, peer, late.key, 100, NULL, &request[1]));
	MUST(omx_iatomic(ep, OMX_ATOMIC_ADD, 8, peer, late.key, 2 * PAGE, 5, 0, &before, NULL,
			 &request[2]));
	MUST(omx_iget(ep, got, sizeof(got), peer, other.key, 0, NULL, &request[3]));
	access_beside(&other);
	sleep_ms(300);
	for (i = 0; i < 4; i++)
		CHECK(!is_done(ep, &request[i], &status), "access %u did not wait", i);
	send_sync(ep, peer, NULL, 0, GO);	/* received although the accesses wait */
	for (i = 0; i < 4; i++)
		finish_with(ep, &request[i], OMX_SUCCESS);
	EQUAL(before, 0);
	verify(got, sizeof(got), 3);
	printf("one_absent: late pages: %.3f s\n", now() - start);
	barrier(ep, peer);
	free(put);
	free(long_put);
}

static void run_side(void)
{
	enum kind kind;

	ep = meet(&peer);
	check_mode(ep);
	for (kind = 0; kind < KINDS; kind++) {
		if (options.server)
			serve_kind(kind);
		else
			access_kind(kind);
	}
	if (options.server)
		serve_late();
	else
		access_late();
	part(ep, peer);
}

int main(int argc, char **argv)
{
	options.timeout = 60;
	memory_mode(argc, argv);
	return run_pair(argc, argv, run_side, run_side);
}
