// SPDX-License-Identifier: BSD-2-Clause
/*
 * Programs end while the driver waits for pages of theirs that nobody supplies.
 *
 * The client starts victims that receive into, or send from, memory whose
 * userfaultfd the client holds and never serves.  The victims make progress
 * themselves, since they may have no progress thread.  Once the driver asks for
 * a page, the victim is killed some random milliseconds later, or told to close
 * its endpoint and exit.  Within RELEASE_S the victim is gone, so is its memory
 * (a file that it had mapped can be sealed against writing), and no file of the
 * driver is open but the server's.  Each of the server's requests ends with an
 * error within TOLD_S, long before the endpoint's timeout.  Victims that
 * prefetch a mapping larger than they could in minutes end as quickly, and so
 * do those that have closed their descriptors before they are killed, and
 * those that are killed while the driver waits for a file's page that its
 * server (FUSE, here the client) does not read.
 *
 *	--count N	victims, without those that prefetch
 *	--state held	the kernel itself waits for the file's page, for an engine with
 *			SVA: the victim ends and its peer is told all the same, but its
 *			memory and its endpoint stay until the file's server goes, which
 *			it does --seconds N after the victim
 *	--act A		of those with a file only this one: receive, send
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuse.h"
#include "memory.h"
#include "userfault.h"

#define RELEASE_S	10	/* where nothing else runs 0.1 s, 0.3 s after a close */
#define TOLD_S		10
#define MESSAGES	10	/* more than page in at a time */
#define LENGTH		(16 * PAGE)
#define SPARSE		(64ull << 30)

enum kind {
	RECEIVES, SENDS, CLOSES, LOSES_FILES,
	KINDS,				/* those are repeated; the others: */
	PREFETCHES, WAITS_FOR_PREFETCH, RECEIVES_INTO_FILE, SENDS_FILE,
	ALL_KINDS
};

static const char *const names[] = {
	[RECEIVES] = "receives", [SENDS] = "sends", [CLOSES] = "closes its endpoint",
	[LOSES_FILES] = "has closed its files",
	[PREFETCHES] = "prefetches", [WAITS_FOR_PREFETCH] = "waits for its prefetch",
	[RECEIVES_INTO_FILE] = "receives into a file", [SENDS_FILE] = "sends a file",
};

static bool is_prefetcher(enum kind kind)
{
	return kind == PREFETCHES || kind == WAITS_FOR_PREFETCH;
}

static bool is_sender(enum kind kind)
{
	return kind == SENDS || kind == SENDS_FILE;
}

static bool has_file(enum kind kind)
{
	return kind == RECEIVES_INTO_FILE || kind == SENDS_FILE;
}

static bool is_wanted(enum kind kind)
{
	return !options.act || is_sender(kind) == !strcmp(options.act, "send");
}

/* On one node a receiver copies itself, and cannot close while it misses a page. */
static enum kind kind_of(uint64_t round)
{
	return round % (options.local ? CLOSES : KINDS);
}

/* ---- the server ------------------------------------------------------------------------ */

static void ends_badly(omx_endpoint_t ep, omx_request_t *request, enum kind kind, double until)
{
	omx_status_t status;

	AWAIT(is_done(ep, request, &status), until - now(), 1,
	      "the peer of one that %s has not been told", names[kind]);
	CHECK(status.code != OMX_SUCCESS, "one that %s", names[kind]);
}

static void meet_victim(omx_endpoint_t ep, uint8_t *memory, enum kind kind)
{
	unsigned int count = is_sender(kind) ? 1 : MESSAGES, i;
	omx_endpoint_addr_t victim = find_peer(ep);
	omx_request_t request[MESSAGES];
	double until;

	for (i = 0; i < count; i++) {
		if (is_sender(kind))
			MUST(omx_irecv(ep, memory, LENGTH, i, EXACT, NULL, &request[i]));
		else
			MUST(omx_issend(ep, memory, LENGTH, victim, i, NULL, &request[i]));
	}
	until = now() + TOLD_S;
	for (i = 0; i < count; i++)
		ends_badly(ep, &request[i], kind, until);
}

static void run_server(void)
{
	uint8_t *memory = allocate(LENGTH);
	omx_endpoint_t ep;
	enum kind kind;
	uint64_t round;

	MUST(omx_init());
	ep = open_number(options.endpoint, NULL, 0);
	memset(memory, 1, LENGTH);
	for (round = 0; round < options.count; round++)
		meet_victim(ep, memory, kind_of(round));
	for (kind = RECEIVES_INTO_FILE; has_fuse() && kind <= SENDS_FILE; kind++)
		if (is_wanted(kind))
			meet_victim(ep, memory, kind);
	MUST(omx_close_endpoint(ep));
	MUST(omx_finalize());
	free(memory);
}

/* ---- victims --------------------------------------------------------------------------- */

struct victim {
	enum kind kind;
	pid_t pid;
	int pipe[2];		/* the number of its userfaultfd, or -1 */
	int mapped;		/* what it has mapped as long as its memory lives */
};

static volatile sig_atomic_t told_to_close;
/* A file whose pages the client is asked for. */
static char directory[sizeof("/tmp/mem_killed.XXXXXX")];
static int file_server = -1;

static void on_term(int signal)
{
	(void)signal;
	told_to_close = 1;
}

static void tell_client(const struct victim *victim, int faults)
{
	CHECK(write(victim->pipe[1], &faults, sizeof(faults)) == sizeof(faults));
}

static uint8_t *map_watched(const struct victim *victim)
{
	uint8_t *memory = map_anonymous(NULL, MESSAGES * LENGTH);
	int faults = open_userfault(O_NONBLOCK);	/* poll() wants that */

	CHECK(faults >= 0, "no userfaultfd: %m");
	watch(faults, memory, MESSAGES * LENGTH);
	tell_client(victim, faults);
	return memory;
}

static uint8_t *map_unread(const struct victim *victim)
{
	char path[100];
	uint8_t *memory;
	int file;

	snprintf(path, sizeof(path), "%s/%d", directory, victim->kind);
	file = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(file >= 0, "%s: %m", path);
	memory = map_file(NULL, MESSAGES * LENGTH, file, MAP_PRIVATE);
	CHECK(!close(file));
	return memory;
}

static void play_transfer(const struct victim *victim, omx_endpoint_t ep)
{
	uint8_t *memory = has_file(victim->kind) ? map_unread(victim) : map_watched(victim);
	omx_request_t request[MESSAGES];
	omx_endpoint_addr_t peer;
	int i;

	/* First, or what is sent is unexpected and its pull begins anywhere. */
	for (i = 0; !is_sender(victim->kind) && i < MESSAGES; i++)
		MUST(omx_irecv(ep, memory + (size_t)i * LENGTH, LENGTH, i, EXACT, NULL,
			       &request[i]));
	peer = find_peer(ep);
	if (is_sender(victim->kind))
		MUST(omx_issend(ep, memory, LENGTH, peer, 0, NULL, &request[0]));
}

static void play_prefetch(const struct victim *victim, omx_endpoint_t ep)
{
	void *sparse = mmap(NULL, SPARSE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			    -1, 0);

	CHECK(sparse != MAP_FAILED, "%m");
	/* Pages, not huge ones. */
	CHECK(!madvise(sparse, SPARSE, MADV_NOHUGEPAGE) || errno == EINVAL, "%m");
	tell_client(victim, -1);
	MUST(omx_prefetch(ep, sparse, SPARSE, OMX_PREFETCH_SEND |
			  (victim->kind == PREFETCHES ? 0 : OMX_PREFETCH_WAIT)));
}

static void be_victim(const struct victim *victim)
{
	omx_endpoint_t ep;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	CHECK(signal(SIGTERM, on_term) != SIG_ERR);
	map_file(NULL, PAGE, victim->mapped, MAP_SHARED);
	MUST(omx_init());
	ep = open_any();
	if (is_prefetcher(victim->kind))
		play_prefetch(victim, ep);
	else
		play_transfer(victim, ep);
	while (!told_to_close) {
		MUST(omx_progress(ep));
		sleep_ms(1);
	}
	if (victim->kind == LOSES_FILES) {
		CHECK(!syscall(SYS_close_range, 3, ~0U, 0));
		for (;;)
			pause();
	}
	MUST(omx_close_endpoint(ep));
	exit(0);
}

static void start_victim(struct victim *victim, enum kind kind)
{
	victim->kind = kind;
	CHECK(!pipe(victim->pipe));
	victim->mapped = memfd_create("mapped", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	CHECK(victim->mapped >= 0 && !ftruncate(victim->mapped, PAGE));
	victim->pid = fork();
	CHECK(victim->pid >= 0);
	if (!victim->pid)
		be_victim(victim);
	CHECK(!close(victim->pipe[1]));
}

/* Returns our own userfaultfd for its memory once the driver lacks a page. */
static int wait_for_fault(const struct victim *victim)
{
	int number, faults, process;
	struct pollfd poll_faults = { .events = POLLIN };

	if (has_file(victim->kind)) {
		CHECK(serve_until_read(file_server, TOLD_S), "no page was missed");
		return -1;
	}
	EQUAL(read(victim->pipe[0], &number, sizeof(number)), sizeof(number));
	if (number < 0) {
		sleep_ms(200);
		return -1;
	}
	process = (int)syscall(SYS_pidfd_open, victim->pid, 0);
	faults = (int)syscall(SYS_pidfd_getfd, process, number, 0);
	CHECK(process >= 0 && faults >= 0, "%m");
	poll_faults.fd = faults;
	CHECK(poll(&poll_faults, 1, TOLD_S * 1000) == 1 && poll_faults.revents == POLLIN,
	      "no page was missed");
	close(process);
	return faults;
}

static unsigned int files_open(void)
{
	FILE *file = fopen("/sys/module/omx/refcnt", "r");
	unsigned int count;

	CHECK(file && fscanf(file, "%u", &count) == 1);
	fclose(file);
	return count;
}

/* Is this process in a control group whose memory is accounted? */
static bool is_charged(void)
{
	FILE *file = open_group_file("memory.current");

	if (!file)
		return false;
	fclose(file);
	return true;
}

/*
 * What the server has of the module: open files, for control, its endpoint and
 * its threads that page in, the endpoint's socket, two of the board's small queue,
 * and that of the control group's account, which victims share.
 */
static unsigned int server_files(void)
{
	const char *threads = getenv("OMX_PROGRESS_THREAD");

	return (threads && !strcmp(threads, "0") ? 5 : 6) + is_charged();
}

static bool is_released(const struct victim *victim)
{
	return !fcntl(victim->mapped, F_ADD_SEALS, F_SEAL_WRITE) && files_open() <= server_files();
}

static bool has_ended(const struct victim *victim, int *status)
{
	return waitpid(victim->pid, status, WNOHANG) == victim->pid;
}

/* Nothing is left to wait for its page. */
static void end_file_server(void)
{
	CHECK(!close(file_server), "%m");
	file_server = -1;
}

static double wait_for_release(const struct victim *victim)
{
	double begin = now();
	int status;

	AWAIT(has_ended(victim, &status), RELEASE_S, 1, "one that %s does not end",
	      names[victim->kind]);
	if (has_file(victim->kind) && options.state) {
		printf("mem_killed: one that %s has ended\n", names[victim->kind]);
		sleep_ms(options.seconds * 1000);
		CHECK(!is_released(victim), "the page was not waited for");
		end_file_server();
		begin = now();
	}
	CHECK(victim->kind == CLOSES ? WIFEXITED(status) && !WEXITSTATUS(status) :
				       WIFSIGNALED(status), "status %#x", status);
	AWAIT(is_released(victim), begin + RELEASE_S - now(), 1, "one that %s keeps %s",
	      names[victim->kind],
	      fcntl(victim->mapped, F_ADD_SEALS, F_SEAL_WRITE) ? "its memory" : "a file");
	return now() - begin;
}

/* Returns how long it took. */
static double end_one(enum kind kind)
{
	struct victim victim;
	double took;
	int faults;

	start_victim(&victim, kind);
	faults = wait_for_fault(&victim);
	usleep((useconds_t)(random() % 20000));
	if (kind == CLOSES || kind == LOSES_FILES)
		CHECK(!kill(victim.pid, SIGTERM));
	if (kind == LOSES_FILES)
		sleep_ms(100);
	if (kind != CLOSES)
		CHECK(!kill(victim.pid, SIGKILL));
	took = wait_for_release(&victim);
	close(faults);
	close(victim.pipe[0]);
	close(victim.mapped);
	return took;
}

static double end_with_file(enum kind kind)
{
	double took;

	strcpy(directory, "/tmp/mem_killed.XXXXXX");
	CHECK(mkdtemp(directory), "%m");
	file_server = mount_fuse(directory, MESSAGES * LENGTH);
	took = end_one(kind);
	if (file_server >= 0)
		end_file_server();
	CHECK(!umount2(directory, MNT_DETACH) && !rmdir(directory), "%m");
	return took;
}

static void run_client(void)
{
	double most[ALL_KINDS] = { 0 };
	enum kind kind;
	unsigned int i;
	uint64_t round;

	srandom((unsigned int)options.seed);
	for (round = 0; round < options.count; round++) {
		double took = end_one(kind_of(round));

		if (took > most[kind_of(round)])
			most[kind_of(round)] = took;
	}
	if (has_fuse()) {
		for (kind = RECEIVES_INTO_FILE; kind <= SENDS_FILE; kind++)
			if (is_wanted(kind))
				most[kind] = end_with_file(kind);
	} else {
		printf("mem_killed: this kernel has no FUSE\n");
	}
	most[PREFETCHES] = end_one(PREFETCHES);
	most[WAITS_FOR_PREFETCH] = end_one(WAITS_FOR_PREFETCH);
	for (i = 0; i < ALL_KINDS; i++)
		if (names[i] && most[i])
			printf("mem_killed: one that %s: at most %.0f ms\n", names[i],
			       most[i] * 1000);
}

int main(int argc, char **argv)
{
	options.count = 8;
	return run_sides(argc, argv, run_server, run_client);
}
