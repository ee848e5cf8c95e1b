// SPDX-License-Identifier: BSD-2-Clause
/*
 * A page is being unpinned for seconds, since somebody holds its lock, and
 * another program needs the limit's last pins: it must sleep, not look for pins
 * again and again.
 *
 * The client owns the page and receives messages into a buffer that begins with
 * it, so that the page is pinned.  No other pinned page is in its extent (64 pages
 * whose translations the driver keeps together).  A module of the test holds the
 * page's lock; then the client discards the page, and the driver's work that unpins
 * it has to wait for the lock.
 *
 * A third program, started by the client, then declares a permanent region of as
 * many pages as pinned_max_mb allows.  The lock is released after a moment, after
 * seconds, or after the program was killed.
 *
 * While that program runs, nothing here may need it to be scheduled or RCU to
 * advance: a driver that does not sleep must fail this test, not stop the guest.
 *
 *	--window N	pinned_max_mb
 */
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "memory.h"

#define EXTENT		(64 * PAGE)
#define LENGTH		(16 * PAGE)	/* of the messages */
#define KILLED_S	0.6		/* where nothing else runs 0.1 s */
#define ROUNDS		3		/* of two messages */

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;

/*
 * The program that needs pins has the last processor for itself, since it may not
 * give it up.  The client uses the first one, and so does the driver's work that
 * unpins the client's page, because the client queues it.
 */
static void use_processor(int number)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(number, &set);
	CHECK(!sched_setaffinity(0, sizeof(set), &set), "%m");
}

/* ---- the server ------------------------------------------------------------ */

static void run_server(void)
{
	uint8_t *memory = allocate(LENGTH);
	omx_request_t request;
	uint64_t match;

	ep = meet(&peer);
	for (match = 1; match <= 2 * ROUNDS; match++) {
		fill(memory, LENGTH, match, 0);
		MUST(omx_issend_mode(ep, memory, LENGTH, peer, match, OMX_MEMORY_UNPINNED, NULL,
				     &request));
		finish_with(ep, &request, OMX_SUCCESS);
	}
	part(ep, peer);
	free(memory);
}

/* ---- the program that needs pins ------------------------------------------- */

/* Its exit status is the library's. */
static void declare_all(void)
{
	size_t length = (size_t)options.window << 20;
	omx_seg_t segment = { map_anonymous(NULL, length), length };
	omx_region_t region;
	omx_return_t code;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	MUST(omx_init());
	code = omx_region_declare(open_any(), &segment, 1, OMX_REGION_RECV, OMX_MEMORY_PERMANENT,
				  &region);
	exit((int)code);
}

static pid_t start_declarer(void)
{
	char window[20], *arguments[] = {
		"mem_unpinning", "--act", "declare", "--window", window, NULL
	};
	pid_t pid;

	snprintf(window, sizeof(window), "%u", options.window);
	CHECK(!posix_spawn(&pid, "/proc/self/exe", NULL, NULL, arguments, environ));
	return pid;
}

/* Of all its threads, also when it has ended. */
static double processor_time(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	CHECK(!clock_getcpuclockid(pid, &clock) && !clock_gettime(clock, &time), "%m");
	return time.tv_sec + time.tv_nsec * 1e-9;
}

static bool has_ended(pid_t pid)
{
	siginfo_t info = { 0 };

	CHECK(!waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT));
	return info.si_pid;
}

/* Returns false if it has not ended then. */
static bool ends_until(pid_t pid, double until)
{
	while (!has_ended(pid)) {
		if (now() >= until)
			return false;
		sleep_ms(1);
	}
	return true;
}

/* How many bytes the program has pinned, or is about to pin. */
static size_t pinned_by(pid_t pid)
{
	unsigned long kib = 0;
	char path[40], line[200];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "r");
	CHECK(file, "%s: %m", path);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "VmPin: %lu", &kib) == 1)
			break;
	fclose(file);
	return kib << 10;
}

/* It has all pins but those of the last extent: the locked page is in their way. */
static pid_t start_waiter(void)
{
	size_t pinned = ((size_t)options.window << 20) - EXTENT;
	pid_t pid = start_declarer();

	AWAIT(pinned_by(pid) >= pinned, 10, 1, "it pins %zu bytes", pinned_by(pid));
	sleep_ms(20);
	return pid;
}

static int status_of(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid);
	return status;
}

static void ends_with(pid_t pid, omx_return_t code)
{
	int status = status_of(pid);

	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == (int)code,
	      "status %#x instead of \"%s\"", status, omx_strerror(code));
}

/* ---- the page --------------------------------------------------------------- */

static uint8_t *page;
static omx_region_t region;		/* LENGTH bytes from the page on */
static uint64_t received;		/* messages */

/* The page is the last one of an extent of which nothing else is pinned. */
static void make_region(void)
{
	uint8_t *memory = map_anonymous(NULL, 2 * EXTENT + LENGTH);
	uintptr_t extent = ((uintptr_t)memory / EXTENT + 2) * EXTENT;
	omx_seg_t segment = { page = (uint8_t *)extent - PAGE, LENGTH };

	MUST(omx_region_declare(ep, &segment, 1, OMX_REGION_RECV, OMX_MEMORY_PIN, &region));
}

static void receive_message(void)
{
	omx_request_t request;

	MUST(omx_region_irecv(ep, region, LENGTH, ++received, EXACT, NULL, &request));
	finish_with(ep, &request, OMX_SUCCESS);
	verify(page, LENGTH, received);
}

/* Holds the lock of the page there; 0: of none. */
static void hold_lock(uintptr_t address)
{
	char text[20];

	snprintf(text, sizeof(text), "%#lx", (unsigned long)address);
	CHECK(write_file("/sys/module/omx_page_lock/parameters/address", text), "%m");
}

/* The driver's work waits uninterruptibly for the page's lock. */
static bool work_waits(void)
{
	return !system("grep -qsE '^[0-9]+ .*\\+omx_tidy\\) D' /proc/[0-9]*/stat");
}

static void lock_page(void)
{
	/* The lock is needed to mark the page dirty; an old page may be dirty already. */
	CHECK(!madvise(page, PAGE, MADV_DONTNEED));
	receive_message();
	hold_lock((uintptr_t)page);
	CHECK(!madvise(page, PAGE, MADV_DONTNEED));
	AWAIT(work_waits(), 10, 1, "no work waits for the page's lock");
}

static void unlock_page(void)
{
	hold_lock(0);
}

/* ---- the client ------------------------------------------------------------ */

struct wait {
	double seconds;
	double used;			/* of processor time */
	bool ended;
};

/* Watches it for that long, or until it ends. */
static struct wait watch_waiter(pid_t pid, double seconds)
{
	struct wait wait = { .used = processor_time(pid) };
	double began = now();

	wait.ended = ends_until(pid, began + seconds);
	wait.seconds = now() - began;
	wait.used = processor_time(pid) - wait.used;
	return wait;
}

static void was_asleep(const struct wait *wait)
{
	printf("mem_unpinning: %.0f ms of processor time in %.0f ms\n", wait->used * 1000,
	       wait->seconds * 1000);
	CHECK(wait->used < wait->seconds / 3, "%.0f ms of processor time in %.0f ms",
	      wait->used * 1000, wait->seconds * 1000);
}

/* A program that waits for longer than a moment may give up. */
static void wait_for_page(double locked_s, bool may_give_up)
{
	struct wait wait;
	pid_t pid;

	lock_page();
	pid = start_waiter();
	wait = watch_waiter(pid, locked_s);
	unlock_page();
	was_asleep(&wait);
	CHECK(!wait.ended || may_give_up, "it has not waited");
	ends_with(pid, wait.ended ? OMX_NO_SYSTEM_RESOURCES : OMX_SUCCESS);
}

static void kill_waiter(void)
{
	struct wait wait;
	bool killed;
	pid_t pid;

	lock_page();
	pid = start_waiter();
	wait = watch_waiter(pid, 0.1);
	CHECK(!kill(pid, SIGKILL));
	killed = ends_until(pid, now() + KILLED_S);
	unlock_page();
	was_asleep(&wait);
	CHECK(killed, "it is alive %.1f s after it was killed", KILLED_S);
	CHECK(WIFSIGNALED(status_of(pid)));
}

/* Nothing is lost: a message is received, and another program gets all pins. */
static void all_is_well(void)
{
	receive_message();
	ends_with(start_declarer(), OMX_SUCCESS);
}

static void run_client(void)
{
	ep = meet(&peer);
	make_region();
	wait_for_page(0.3, false);
	all_is_well();
	wait_for_page(3, true);
	all_is_well();
	kill_waiter();
	all_is_well();
	MUST(omx_region_release(ep, region));
	part(ep, peer);
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[2], "declare")) {
		use_processor((int)sysconf(_SC_NPROCESSORS_ONLN) - 1);
		return run_alone(argc, argv, declare_all);
	}
	use_processor(0);
	return run_pair(argc, argv, run_server, run_client);
}
