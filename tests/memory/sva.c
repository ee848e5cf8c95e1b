// SPDX-License-Identifier: BSD-2-Clause
/*
 * Copies by the tests' engine, which reads the page tables of this process and asks
 * the kernel for absent pages: /dev/sva is tests/vm/cases/iommu/sva.
 *
 *	mem_sva ACT
 *
 * "file" works in the current directory, which should be on a disk; "swapped" needs
 * something to swap to.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuse.h"
#include "memory.h"
#include "omx_engine.h"
#include "sva.h"
#include "userfault.h"

#define CHANNELS	8
#define PAGES		50u
#define LENGTH		(PAGES * PAGE)
#define HUGE		(2ul << 20)
#define PLACE		((uint8_t *)0x500000000000)
#define NAME		"mem_sva.data"

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT	21
#endif

static int device;

static void open_device(void)
{
	device = open("/dev/sva", O_RDWR | O_CLOEXEC);
	CHECK(device >= 0, "/dev/sva: %m");
}

/* Small pages, so that the page requests can be counted. */
static uint8_t *map_small(void *at, size_t size)
{
	uint8_t *p = map_anonymous(at, size);

	CHECK(!madvise(p, size, MADV_NOHUGEPAGE), "%m");
	return p;
}

static uint8_t *map_filled(size_t size, uint64_t key)
{
	uint8_t *p = map_small(NULL, size);

	fill(p, size, key, 0);
	return p;
}

static struct sva_copy copy_of(void *to, const void *from, size_t length)
{
	return (struct sva_copy) {
		.source = (uintptr_t)from,
		.destination = (uintptr_t)to,
		.length = length,
		.flags = SVA_WAIT,
	};
}

static void run(struct sva_copy *copy)
{
	CHECK(!ioctl(device, SVA_COPY, copy), "%m");
}

static void run_well(struct sva_copy *copy)
{
	run(copy);
	CHECK(copy->status == ENGINE_STATUS_SUCCESS && copy->done == copy->length,
	      "status %u after %u bytes, fault at %llx", copy->status, copy->done,
	      (unsigned long long)copy->fault);
}

/* Returns the page requests. */
static unsigned int copy(void *to, const void *from, size_t length)
{
	struct sva_copy copy = copy_of(to, from, length);

	run_well(&copy);
	return copy.page_requests;
}

static bool is_filled_with(const uint8_t *p, size_t length, uint8_t value)
{
	size_t i;

	for (i = 0; i < length; i++)
		if (p[i] != value)
			return false;
	return true;
}

/* ---- memory that is there in one way or another ------------------------------------ */

static void act_present(void)
{
	uint8_t *from = map_filled(LENGTH, 1), *to = map_filled(LENGTH, 2);

	EQUAL(copy(to, from, LENGTH), 0);
	verify(to, LENGTH, 1);
	fill(to, LENGTH, 3, 0);
	EQUAL(copy(to + 17, from + 4001, LENGTH - 5000), 0);
	EQUAL(differs_at(to + 17, LENGTH - 5000, 1, 4001), LENGTH - 5000);
	EQUAL(differs_at(to, 17, 3, 0), 17);
	EQUAL(differs_at(to + LENGTH - 4983, 4983, 3, LENGTH - 4983), 4983);
}

static void act_absent(void)
{
	uint8_t *from = map_filled(LENGTH, 1), *to = map_small(NULL, LENGTH);

	EQUAL(copy(to, from, LENGTH), PAGES);
	verify(to, LENGTH, 1);
	EQUAL(copy(to, from, LENGTH), 0);
	EQUAL(copy(to, map_small(NULL, LENGTH), LENGTH), PAGES);
	CHECK(is_filled_with(to, LENGTH, 0));
	EQUAL(copy(map_small(NULL, LENGTH), map_small(NULL, LENGTH), LENGTH), 2 * PAGES);
}

/* In the page table; mincore() would count pages that are on their way out. */
static unsigned int present(const uint8_t *p)
{
	int map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t entries[PAGES];
	unsigned int count = 0, i;

	EQUAL(pread(map, entries, sizeof(entries), (uintptr_t)p / PAGE * 8), sizeof(entries));
	for (i = 0; i < PAGES; i++)
		count += entries[i] >> 63;
	close(map);
	return count;
}

/* Only pages that are on the lists of all processors can go, which dropping caches does. */
static void swap_out(uint8_t *p)
{
	int tries;

	for (tries = 0; present(p) && tries < 20; tries++) {
		CHECK(write_file("/proc/sys/vm/drop_caches", "1"));
		CHECK(!madvise(p, LENGTH, MADV_PAGEOUT), "%m");
	}
	EQUAL(present(p), 0);
}

static void act_swapped(void)
{
	uint8_t *from = map_filled(LENGTH, 1), *to = map_filled(LENGTH, 2);
	unsigned int requests;

	swap_out(from);
	requests = copy(to, from, LENGTH);
	CHECK(requests > 0 && requests <= PAGES, "%u", requests);
	verify(to, LENGTH, 1);
	fill(from, LENGTH, 3, 0);
	swap_out(to);
	/* Only the first byte of each page stays as it was. */
	copy(to, from, 100);
	requests = copy(to + PAGE + 1, from + PAGE + 1, PAGE - 1);
	CHECK(requests <= 1, "%u", requests);
	EQUAL(differs_at(to, 100, 3, 0), 100);
	EQUAL(differs_at(to + 100, PAGE - 99, 1, 100), PAGE - 99);
	EQUAL(differs_at(to + PAGE + 1, PAGE - 1, 3, PAGE + 1), PAGE - 1);
	EQUAL(differs_at(to + 2 * PAGE, LENGTH - 2 * PAGE, 1, 2 * PAGE), LENGTH - 2 * PAGE);
}

/* ---- files -------------------------------------------------------------------------- */

static void check_file(int file, uint64_t key)
{
	uint8_t *contents = allocate(LENGTH);

	EQUAL(pread(file, contents, LENGTH, 0), LENGTH);
	verify(contents, LENGTH, key);
	free(contents);
}

static void forget_file(int file)
{
	CHECK(!fsync(file) && write_file("/proc/sys/vm/drop_caches", "3"), "%m");
}

static int make_file(uint64_t key)
{
	int file = open(NAME, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	uint8_t *contents = allocate(LENGTH);

	fill(contents, LENGTH, key, 0);
	CHECK(file >= 0 && write(file, contents, LENGTH) == LENGTH, "%m");
	free(contents);
	forget_file(file);
	return file;
}

static void act_file(void)
{
	int file = make_file(1);
	uint8_t *shared = map_file(NULL, LENGTH, file, MAP_SHARED);
	uint8_t *mine = map_file(NULL, LENGTH, file, MAP_PRIVATE);
	uint8_t *other = map_filled(LENGTH, 2);
	unsigned int requests;

	requests = copy(other, shared, LENGTH);
	CHECK(requests > 0, "%u", requests);
	verify(other, LENGTH, 1);
	fill(other, LENGTH, 3, 0);
	forget_file(file);
	copy(mine, other, LENGTH);
	verify(mine, LENGTH, 3);
	check_file(file, 1);
	copy(shared, other, LENGTH);
	CHECK(!munmap(shared, LENGTH));
	forget_file(file);
	check_file(file, 3);
	close(file);
}

/* ---- pages that others have as well --------------------------------------------------- */

static void wait_for(pid_t child)
{
	int status;

	EQUAL(waitpid(child, &status, 0), child);
	EQUAL(status, 0);
}

static void act_copy_on_write(void)
{
	uint8_t *from = map_filled(LENGTH, 1), *to = map_filled(LENGTH, 2);
	sigset_t go;
	pid_t child;
	int signal;

	sigemptyset(&go);
	sigaddset(&go, SIGUSR1);
	CHECK(!sigprocmask(SIG_BLOCK, &go, NULL), "%m");
	/* The translations to write have to go. */
	EQUAL(copy(to, from, PAGE), 0);
	fill(to, PAGE, 2, 0);
	child = fork();
	CHECK(child >= 0, "%m");
	if (!child) {
		sigwait(&go, &signal);
		verify(to, LENGTH, 2);
		_exit(0);
	}
	EQUAL(copy(to, from, LENGTH), PAGES);
	verify(to, LENGTH, 1);
	CHECK(!kill(child, SIGUSR1), "%m");
	wait_for(child);
	/* The page of zeros is everybody's. */
	to = map_small(NULL, LENGTH);
	CHECK(is_filled_with(to, LENGTH, 0));
	EQUAL(copy(to, from, LENGTH), PAGES);
	verify(to, LENGTH, 1);
	CHECK(is_filled_with(map_small(NULL, LENGTH), LENGTH, 0));
}

/* ---- huge pages ------------------------------------------------------------------------ */

static unsigned long huge_bytes(void)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "re");
	unsigned long kib = 0;
	char line[256];

	CHECK(file, "%m");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "AnonHugePages: %lu", &kib) == 1)
			break;
	fclose(file);
	return kib << 10;
}

static uint8_t *map_huge(void)
{
	uint8_t *p = map_anonymous(NULL, 2 * HUGE);

	p += -(uintptr_t)p % HUGE;
	CHECK(!madvise(p, HUGE, MADV_HUGEPAGE), "%m");
	return p;
}

static void act_huge(void)
{
	uint8_t *from = map_huge(), *to = map_huge();

	fill(from, HUGE, 1, 0);
	EQUAL(huge_bytes(), HUGE);
	EQUAL(copy(to, from, HUGE), 1);
	EQUAL(huge_bytes(), 2 * HUGE);
	verify(to, HUGE, 1);
	EQUAL(copy(from + PAGE, to, 100), 0);
	EQUAL(differs_at(from + PAGE, 100, 1, 0), 100);
}

/* ---- what must not be ------------------------------------------------------------------- */

static void refused(void *to, const void *from, uint32_t status, size_t done, const void *at)
{
	struct sva_copy copy = copy_of(to, from, LENGTH);

	run(&copy);
	EQUAL(copy.status, status);
	EQUAL(copy.done, done);
	EQUAL(copy.fault, (uintptr_t)at);
}

static void act_refused(void)
{
	uint8_t *from = map_filled(LENGTH, 1), *to = map_filled(LENGTH, 2);
	size_t hole = 20 * PAGE;

	CHECK(!munmap(from + hole, PAGE));
	refused(to, from, ENGINE_STATUS_SOURCE_FAULT, hole, from + hole);
	verify(to, hole, 1);
	EQUAL(differs_at(to + hole, LENGTH - hole, 2, hole), LENGTH - hole);

	from = map_filled(LENGTH, 3);
	CHECK(!mprotect(to + hole, PAGE, PROT_READ));
	refused(to, from, ENGINE_STATUS_DESTINATION_FAULT, hole, to + hole);
	EQUAL(differs_at(to + hole, LENGTH - hole, 2, hole), LENGTH - hole);
	CHECK(!mprotect(to + hole, PAGE, PROT_NONE));
	refused(to, from, ENGINE_STATUS_DESTINATION_FAULT, hole, to + hole);
	CHECK(!munmap(to + hole, PAGE));
	refused(to, from, ENGINE_STATUS_DESTINATION_FAULT, hole, to + hole);
	EQUAL(differs_at(to + hole + PAGE, LENGTH - hole - PAGE, 2, hole + PAGE),
	      LENGTH - hole - PAGE);
	/* Addresses of the kernel, and none at all. */
	refused((void *)0xffff888000000000, from, ENGINE_STATUS_DESTINATION_FAULT, 0,
		(void *)0xffff888000000000);
	refused((void *)0x123456789000000, from, ENGINE_STATUS_DESTINATION_FAULT, 0,
		(void *)0x123456789000000);
	copy(map_small(NULL, LENGTH), from, LENGTH);
}

/* The engine's TLB: what is mapped anew is not what was there. */
static void act_remapped(void)
{
	uint8_t *from = map_filled(LENGTH, 1), *to = map_small(PLACE, LENGTH);
	unsigned int round;

	for (round = 0; round < 30; round++) {
		fill(from, LENGTH, round, 0);
		EQUAL(copy(to, from, LENGTH), PAGES);
		verify(to, LENGTH, round);
		if (round % 3 == 0)
			CHECK(!madvise(to, LENGTH, MADV_DONTNEED));
		else if (round % 3 == 1)
			map_small(PLACE, LENGTH);
		else
			CHECK(mremap(to, LENGTH, LENGTH, MREMAP_MAYMOVE | MREMAP_FIXED,
				     PLACE + (1ul << 30)) != MAP_FAILED &&
			      map_small(PLACE, LENGTH) == PLACE, "%m");
	}
}

static void act_record(void)
{
	uint8_t *from = map_filled(LENGTH, 1), *to = map_small(NULL, LENGTH);
	struct engine_record *record = (struct engine_record *)map_small(NULL, PAGE);
	struct sva_copy copy = copy_of(to, from, LENGTH);

	copy.record = (uintptr_t)record;
	run(&copy);
	EQUAL(copy.page_requests, PAGES + 1);
	EQUAL(record->status, ENGINE_STATUS_SUCCESS);
	EQUAL(record->done, LENGTH);
	verify(to, LENGTH, 1);
}

/* ---- several processes ------------------------------------------------------------------ */

static void live_apart(uint32_t channel)
{
	uint8_t *from = map_small(PLACE, LENGTH), *to = map_small(PLACE + HUGE, LENGTH);
	struct sva_copy copy = copy_of(to, from, LENGTH);
	unsigned int round;

	open_device();
	copy.channel = channel;
	for (round = 0; round < 20; round++) {
		fill(from, LENGTH, 100 * channel + round, 0);
		run_well(&copy);
		EQUAL(copy.page_requests, PAGES);
		verify(to, LENGTH, 100 * channel + round);
		CHECK(!madvise(to, LENGTH, MADV_DONTNEED));
	}
}

static void act_apart(void)
{
	pid_t child[CHANNELS];
	uint32_t n;

	for (n = 0; n < CHANNELS; n++) {
		child[n] = fork();
		CHECK(child[n] >= 0, "%m");
		if (!child[n]) {
			live_apart(n);
			_exit(0);
		}
	}
	for (n = 0; n < CHANNELS; n++)
		wait_for(child[n]);
}

/* What it leaves behind is slow: a page in a millisecond. */
static void leave(void)
{
	struct sva_copy copy;
	uint32_t n;

	open_device();
	for (n = 0; n < CHANNELS; n++) {
		copy = copy_of(map_small(NULL, 8 * HUGE), map_filled(8 * HUGE, n), 8 * HUGE);
		copy.channel = n;
		copy.flags = 0;
		copy.delay = 1000000;
		run(&copy);
	}
	sleep_ms(50);
	_exit(0);
}

static void act_exit(void)
{
	pid_t child = fork();

	CHECK(child >= 0, "%m");
	if (!child)
		leave();
	wait_for(child);
	act_absent();
}

/* The kernel does not wait for a page of a userfaultfd, it refuses the request. */
static void act_userfault(void)
{
	uint8_t *from = map_filled(LENGTH, 1), *to = map_small(NULL, LENGTH);

	watch(open_userfault(0), to + PAGE, PAGE);
	refused(to, from, ENGINE_STATUS_DESTINATION_FAULT, PAGE, to + PAGE);
}

static void copy_unserved(const char *directory)
{
	uint8_t *from = map_filled(LENGTH, 1), *to;
	struct sva_copy copy;
	char path[100];
	int file;

	snprintf(path, sizeof(path), "%s/unserved", directory);
	file = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(file >= 0, "%s: %m", path);
	to = map_file(NULL, LENGTH, file, MAP_PRIVATE);
	open_device();
	copy = copy_of(to, from, LENGTH);
	copy.channel = 1;
	run(&copy);
	_exit(1);
}

/*
 * Nobody reads the page of a file that a request is for, and nobody else is in the
 * way.  Then the process is killed, which ends when the request has an answer.
 */
static void act_unserved(void)
{
	char directory[] = "/tmp/mem_sva.XXXXXX";
	int server, status;
	pid_t child;

	CHECK(mkdtemp(directory), "%m");
	server = mount_fuse(directory, LENGTH);
	child = fork();
	CHECK(child >= 0, "%m");
	if (!child) {
		close(server);
		copy_unserved(directory);
	}
	CHECK(serve_until_read(server, 20));
	act_absent();
	act_remapped();
	CHECK(!kill(child, SIGKILL));
	sleep_ms(200);
	act_absent();
	EQUAL(waitpid(child, &status, WNOHANG), 0);
	close(server);
	EQUAL(waitpid(child, &status, 0), child);
	CHECK(WIFSIGNALED(status));
	act_absent();
	CHECK(!umount2(directory, MNT_DETACH), "%m");
}

/* ---- many faults at once ------------------------------------------------------------------ */

static void *copy_beside(void *argument)
{
	uint32_t channel = (uintptr_t)argument;
	uint8_t *from = map_filled(LENGTH, channel), *to = map_small(NULL, LENGTH);
	struct sva_copy copy = copy_of(to, from, LENGTH);

	copy.channel = channel;
	run_well(&copy);
	EQUAL(copy.page_requests, PAGES);
	verify(to, LENGTH, channel);
	return NULL;
}

static void act_many(void)
{
	pthread_t thread[CHANNELS];
	uintptr_t n;

	for (n = 0; n < CHANNELS; n++)
		CHECK(!pthread_create(&thread[n], NULL, copy_beside, (void *)n));
	for (n = 0; n < CHANNELS; n++)
		CHECK(!pthread_join(thread[n], NULL));
}

/* More requests than the IOMMU's queue has room for. */
static void act_overflow(void)
{
	size_t length = 8 * HUGE;
	uint8_t *from = map_filled(length, 1), *to = map_small(NULL, length);
	struct sva_copy copy = copy_of(to, from, length);

	copy.flood = length / PAGE;
	run_well(&copy);
	verify(to, length, 1);
	CHECK(copy.overflows > 0);
	CHECK(copy.page_requests >= length / PAGE / 2, "%u", copy.page_requests);
	printf("%u page requests taken, %u not\n", copy.page_requests, copy.overflows);
}

/* ---- by name -------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*run)(void);
} acts[] = {
	{ "present", act_present },
	{ "absent", act_absent },
	{ "swapped", act_swapped },
	{ "file", act_file },
	{ "copy-on-write", act_copy_on_write },
	{ "huge", act_huge },
	{ "refused", act_refused },
	{ "remapped", act_remapped },
	{ "record", act_record },
	{ "apart", act_apart },
	{ "exit", act_exit },
	{ "userfault", act_userfault },
	{ "unserved", act_unserved },
	{ "many", act_many },
	{ "overflow", act_overflow },
};

int main(int argc, char **argv)
{
	size_t i;

	CHECK(argc == 2, "one argument: the act");
	open_device();
	for (i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		if (strcmp(argv[1], acts[i].name))
			continue;
		acts[i].run();
		return 0;
	}
	CHECK(false, "there is no act %s", argv[1]);
}
