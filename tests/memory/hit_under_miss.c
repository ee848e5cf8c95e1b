// SPDX-License-Identifier: BSD-2-Clause
/*
 * Hits under a miss, in memory mode device.  A message to one of two programs on the
 * server's node waits for a page that nobody supplies.  Meanwhile other messages arrive,
 * first at the same program, then at the other one, and the engine copies them.  Only
 * then the wait ends.
 *
 *	--act A		late: the page (of a userfaultfd) is absent from the beginning;
 *			it is supplied in the end, and the message arrives
 *			vanished: the same, but the page goes while the engine, which
 *			should be slow, copies the pages before it
 *			killed: the page is absent, and the program is killed
 *			unread: the same with a page of a file that its server (FUSE,
 *			here the other program) does not read
 *	--state lost	the engine may be reset or removed meanwhile
 *	--count N	other messages, four times
 *	--length N	of all messages
 *	--seconds N	for which the message waits at least
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
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuse.h"
#include "memory.h"
#include "userfault.h"

#define WAITING_ENDPOINT 20
#define WAITING		1000000		/* match info of the message that waits */
#define COPIED		"piece of a frame copied by the device"
#define TOLD_S		(10 * slowness())	/* until the programs know that the wait has ended */

enum act { LATE, VANISHED, KILLED, UNREAD, ACTS };

static const char *const names[ACTS] = { "late", "vanished", "killed", "unread" };

static enum act act;
static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;
/* Between the two programs of the server: the other one's end and the waiting one's. */
static int line[2];
static pid_t waiting;
static char directory[] = "/tmp/mem_hit_under_miss.XXXXXX";
static int file_server = -1;

static void read_act(void)
{
	for (act = 0; act < ACTS; act++)
		if (options.act && !strcmp(options.act, names[act]))
			return;
	CHECK(false, "--act is late, vanished, killed or unread");
}

static bool is_killed(void)
{
	return act == KILLED || act == UNREAD;
}

static void say(int end)
{
	CHECK(write(end, "", 1) == 1, "%m");
}

static void hear(int end)
{
	char byte;

	CHECK(read(end, &byte, 1) == 1, "the other program on this node has ended");
}

/* The other messages: from the client, into memory that was never touched. */
static void pass_messages(uint64_t first)
{
	uint64_t copied = options.server ? read_counter(COPIED) : 0;
	double start = now();
	uint64_t i;

	for (i = first; i < first + options.count; i++) {
		uint8_t *memory = map_anonymous(NULL, options.length);

		if (!options.server)
			fill(memory, options.length, i, 0);
		pass(ep, peer, false, memory, options.length, i);
		verify(memory, options.length, i);
		CHECK(!munmap(memory, options.length));
	}
	CHECK(now() - start < PATIENCE_S, "%.2f s", now() - start);
	if (!options.server)
		return;
	copied = read_counter(COPIED) - copied;
	CHECK(copied >= options.count || options.state, "%llu", (unsigned long long)copied);
	printf("mem_hit_under_miss: %llu messages in %.2f s, %llu pieces by the engine\n",
	       (unsigned long long)options.count, now() - start, (unsigned long long)copied);
}

/* ---- the program that waits, and its peer -------------------------------------------- */

/* The page that is watched; of a file that is not read, all pages are absent. */
static size_t hole(void)
{
	return options.length / PAGE * 3 / 4 * PAGE;
}

static uint8_t *map_unread(void)
{
	char path[100];
	uint8_t *memory;
	int file;

	snprintf(path, sizeof(path), "%s/unread", directory);
	file = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(file >= 0, "%s: %m", path);
	memory = map_file(NULL, options.length, file, MAP_PRIVATE);
	close(file);
	return memory;
}

static uint8_t *map_watched(int faults)
{
	uint8_t *memory = map_anonymous(NULL, options.length);

	/* No huge page, which would be there before the page that is watched. */
	CHECK(!madvise(memory, options.length, MADV_NOHUGEPAGE) || errno == EINVAL, "%m");
	if (act == VANISHED)
		fill(memory, options.length, WAITING + 1, 0);
	watch(faults, memory + hole(), PAGE);
	return memory;
}

/* The driver asks for the page. */
static void await_fault(int faults)
{
	struct pollfd fault = { .fd = faults, .events = POLLIN };

	CHECK(poll(&fault, 1, PATIENCE) == 1 && fault.revents == POLLIN, "no page was missed");
}

static bool is_half_way(const uint8_t *memory)
{
	return differs_at(memory + hole() / 2, 64, WAITING, hole() / 2) == 64;
}

/* The frames have come by then, but the engine has not copied all of them. */
static void take_page_away(uint8_t *memory)
{
	AWAIT(is_half_way(memory), PATIENCE_S, 1, "too little arrives");
	CHECK(!madvise(memory + hole(), PAGE, MADV_DONTNEED), "%m");
}

/* What had been stored in the page when it was taken away is lost with it. */
static void verify_waiting(const uint8_t *memory)
{
	size_t at, end = hole() + PAGE;

	if (act != VANISHED) {
		verify(memory, options.length, WAITING);
		return;
	}
	EQUAL(differs_at(memory, hole(), WAITING, 0), hole());
	for (at = hole(); at < end; at++)
		CHECK(!memory[at] || differs_at(memory + at, 1, WAITING, at) == 1, "%zu", at);
	EQUAL(differs_at(memory + end, options.length - end, WAITING, end), options.length - end);
}

static void receive_at_waiting(void)
{
	int faults = act == UNREAD ? -1 : open_userfault(O_NONBLOCK);
	uint8_t *memory = act == UNREAD ? map_unread() : map_watched(faults);
	omx_request_t request;
	omx_status_t status;
	double start;

	MUST(omx_irecv(ep, memory, options.length, WAITING, EXACT, NULL, &request));
	barrier(ep, peer);
	if (act == VANISHED)
		take_page_away(memory);
	if (act == UNREAD)
		hear(line[1]);
	else
		await_fault(faults);
	start = now();
	pass_messages(1);
	say(line[1]);
	hear(line[1]);
	while (now() < start + options.seconds)
		sleep_ms(10);
	CHECK(!is_done(ep, &request, &status), "it did not wait");
	if (is_killed()) {
		CHECK(!kill(getpid(), SIGKILL));
		pause();
	}
	supply_zeros(faults, memory + hole(), PAGE);
	finish_with(ep, &request, OMX_SUCCESS);
	printf("mem_hit_under_miss: one message took %.2f s\n", now() - start);
	verify_waiting(memory);
}

static void send_to_waiting(void)
{
	uint8_t *memory = allocate(options.length);
	omx_request_t request;
	omx_status_t status;

	fill(memory, options.length, WAITING, 0);
	barrier(ep, peer);
	MUST(omx_issend(ep, memory, options.length, peer, WAITING, NULL, &request));
	pass_messages(1);
	status = finish(ep, &request);
	CHECK((status.code == OMX_SUCCESS) == !is_killed(), "%s", omx_strerror(status.code));
	free(memory);
}

static void be_waiting(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	limit_time();
	close(line[0]);
	options.endpoint = WAITING_ENDPOINT;
	MUST(omx_init());
	ep = meet(&peer);
	check_mode(ep);
	if (options.server)
		receive_at_waiting();
	else
		send_to_waiting();
	if (is_killed())
		MUST(omx_close_endpoint(ep));
	else
		part(ep, peer);
	MUST(omx_finalize());
	exit(0);
}

static void start_waiting(void)
{
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line), "%m");
	waiting = fork();
	CHECK(waiting >= 0, "%m");
	if (!waiting)
		be_waiting();
	close(line[1]);
}

static bool has_ended(int *status)
{
	return waitpid(waiting, status, WNOHANG) == waiting;
}

static void await_waiting(void)
{
	int status;

	AWAIT(has_ended(&status), options.seconds + TOLD_S, 10, "the one that waits does not end");
	if (options.server && is_killed())
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "%#x", status);
	else
		CHECK(WIFEXITED(status) && !WEXITSTATUS(status), "%#x", status);
}

/* ---- the other program, and its peer ---------------------------------------------------- */

static void prepare_file(void)
{
	CHECK(mkdtemp(directory), "%m");
	file_server = mount_fuse(directory, options.length);
}

static void forget_file(void)
{
	CHECK(!close(file_server) && !umount2(directory, MNT_DETACH) && !rmdir(directory), "%m");
}

static void run_side(void)
{
	bool serves;

	read_act();
	serves = options.server && act == UNREAD;
	if (serves)
		prepare_file();
	start_waiting();
	MUST(omx_init());
	ep = meet(&peer);
	check_mode(ep);
	if (serves) {
		CHECK(serve_until_read(file_server, PATIENCE_S), "no page was missed");
		say(line[0]);
	}
	if (options.server)
		hear(line[0]);
	pass_messages(1);
	if (options.server)
		say(line[0]);
	pass_messages(1 + options.count);
	await_waiting();
	pass_messages(1 + 2 * options.count);
	part(ep, peer);
	if (serves)
		forget_file();
	MUST(omx_finalize());
}

int main(int argc, char **argv)
{
	options.count = 4;
	options.length = 1 << 20;
	options.seconds = 3;
	memory_mode(argc, argv);
	return run_sides(argc, argv, run_side, run_side);
}
