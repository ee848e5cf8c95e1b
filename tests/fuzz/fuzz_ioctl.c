// SPDX-License-Identifier: BSD-2-Clause
/*
 * fuzz_ioctl [--seconds S] [--threads N] [--seed S]: uses /dev/omx wrongly in
 * every way that an unprivileged user can.  Its threads call any command with
 * any argument, map the device at odd offsets, write garbage into the page that
 * the driver reads, close files during calls, and page in for their own
 * endpoints and for those of another program, which is killed over and over.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "chance.h"
#include "check.h"
#include "ioctl_arguments.h"

#define NOBODY		65534
#define THREADS_MAX	64
#define PAGERS		(OMX_PAGERS_MAX + 2)
#define FOREIGN_CALLS	1000
/* Where the first log of an endpoint is mapped, and the page of its consumer. */
#define MAP_LOG		0x10000000
#define MAP_LOG_USER	0x11800000

static const unsigned int commands[] = {
	OMX_IOC_INFO, OMX_IOC_BOARD, OMX_IOC_BOARD_NAME, OMX_IOC_ENDPOINT_INFO,
	OMX_IOC_COUNTERS, OMX_IOC_COUNTER_LABEL, OMX_IOC_COUNTERS_CLEAR, OMX_IOC_PEER,
	OMX_IOC_PEER_BY_MAC, OMX_IOC_PEER_BY_NAME, OMX_IOC_PEER_ADD, OMX_IOC_PEER_REMOVE,
	OMX_IOC_OPEN, OMX_IOC_CONNECT, OMX_IOC_CHANNEL_INFO, OMX_IOC_DISCONNECT,
	OMX_IOC_SEND, OMX_IOC_SEND_RNDV, OMX_IOC_PULL, OMX_IOC_REGION_CREATE,
	OMX_IOC_REGION_DESTROY, OMX_IOC_FETCH, OMX_IOC_WAIT, OMX_IOC_WAKEUP, OMX_IOC_KICK,
	OMX_IOC_UNCORK, OMX_IOC_PREFETCH, OMX_IOC_PAGER, OMX_IOC_PAGE_IN, OMX_IOC_WITHDRAW,
	OMX_IOC_WINDOW_CREATE, OMX_IOC_WINDOW_REVOKE, OMX_IOC_PUT, OMX_IOC_PUT_RNDV,
	OMX_IOC_GET, OMX_IOC_PUT_LOCAL, OMX_IOC_GET_LOCAL, OMX_IOC_ATOMIC,
	OMX_IOC_PUT_WHEN, OMX_IOC_GET_WHEN, OMX_IOC_POST_KEY,
	OMX_IOC_LOG_CREATE, OMX_IOC_LOG_DESTROY,
	OMX_IOC_LOG_WAIT, OMX_IOC_ACTIVATE, OMX_IOC_FLUSH_ACTIVE,
};

#define COMMANDS	(sizeof(commands) / sizeof(*commands))

static atomic_bool over;
static atomic_ullong calls, accepted[1 << _IOC_NRBITS], mappings, page_ins;
static uint64_t seed;
static unsigned int threads = 4, seconds = 30;

/* The same message again and again, so that several share a packet. */
static void send_more(int fd, void *send)
{
	unsigned int i;

	for (i = any_below(16); i > 0; i--) {
		calls++;
		if (ioctl(fd, OMX_IOC_SEND, send))
			return;
		accepted[_IOC_NR(OMX_IOC_SEND)]++;
	}
}

static void call_driver(int index)
{
	uint8_t own[ARGUMENT_MAX] __attribute__((aligned(8)));
	struct shared *shared = &files[index];
	unsigned int command = commands[any_below(COMMANDS)];
	const struct omx_ioc_open *open = (void *)own;
	void *argument;
	int result;

	if ((index & 1) && command == OMX_IOC_OPEN)
		return;
	/* Most even ones are to become endpoints, and some threads to do other things. */
	if (!(index & 1) && command == OMX_IOC_PAGER && any_below(16))
		return;
	if (command == OMX_IOC_PAGE_IN && any_below(64))
		return;
	if (!any_below(8))
		command = any_below(2) ? (unsigned int)any_word() :
			_IOC(any_word() & 3, OMX_IOC_MAGIC, any_word() & 0xff,
			     any_word() & 0x3fff);
	argument = argument_for(command, own);
	if (command != OMX_IOC_WAIT && command != OMX_IOC_LOG_WAIT && command != OMX_IOC_OPEN &&
	    !any_below(16))
		argument = (void *)(uintptr_t)any_address();
	result = ioctl(shared->fd, command, argument);
	calls++;
	if (result)
		return;
	accepted[_IOC_NR(command)]++;
	if (command == OMX_IOC_SEND)
		send_more(shared->fd, argument);
	if (command == OMX_IOC_OPEN) {
		shared->endpoint = open->endpoint;
		shared->key = open->key;
	}
	if (command == OMX_IOC_WINDOW_CREATE)
		keep_key(&((struct omx_ioc_window *)own)->key);
}

/* Of the events, or of the first log. */
static void refuse_write(int fd, off_t offset)
{
	void *ring = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, offset);

	if (ring == MAP_FAILED)
		return;
	if (!mprotect(ring, page, PROT_READ | PROT_WRITE)) {
		fputs("fuzz_ioctl: the ring became writable\n", stderr);
		exit(1);
	}
	munmap(ring, page);
	ring = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
	if (ring != MAP_FAILED) {
		fputs("fuzz_ioctl: the ring was mapped writable\n", stderr);
		exit(1);
	}
}

static void map_oddly(int fd)
{
	static const off_t offsets[] = { OMX_MAP_USER, OMX_MAP_RING, 0x1000, 0x101000, 0x200000,
					 MAP_LOG, MAP_LOG_USER };
	off_t offset = any_below(4) ? offsets[any_below(7)] : (off_t)(any_below(1ull << 40) * page);
	size_t size = any_below(4) ? page * (1 + any_below(300)) : page * any_below(1 << 20) + 1;
	void *at = mmap(NULL, size, any_below(8), any_below(2) ? MAP_SHARED : MAP_PRIVATE, fd,
			offset);

	refuse_write(fd, any_below(2) ? OMX_MAP_RING : MAP_LOG);
	if (at == MAP_FAILED)
		return;
	mappings++;
	mprotect(at, page, any_below(8));
	munmap(at, size);
}

static void scribble_tail(struct shared *shared)
{
	uint32_t *utail = shared->utail;

	if (!utail) {
		utail = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, shared->fd,
			     OMX_MAP_USER);
		if (utail == MAP_FAILED)
			return;
		shared->utail = utail;	/* a page of a closed endpoint stays mapped */
	}
	*utail = any_below(2) ? any_below(1 << 16) : any_extreme();
	ioctl(shared->fd, OMX_IOC_KICK);
}

/* Another file under the same number: its endpoint closes while others call. */
static void renew_file(struct shared *shared)
{
	int fd = open("/dev/omx", O_RDWR | O_CLOEXEC);
	uint32_t *utail = atomic_exchange(&shared->utail, NULL);

	if (fd < 0)
		die("/dev/omx");
	if (dup2(fd, shared->fd) < 0)
		die("dup2");
	close(fd);
	/*
	 * Another thread may be writing to this page: replace it, do not
	 * unmap it.
	 */
	if (utail)
		mmap(utail, page, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static void seed_thread(uintptr_t number)
{
	chance.state = seed ^ number * 0x9e3779b97f4a7c15ull;
}

static void drop_pages(void)
{
	size_t at = any_below(MEMORY / page);

	madvise(memory + at * page, (1 + any_below(MEMORY / page - at)) * page, MADV_DONTNEED);
}

static void *fuzz_thread(void *argument)
{
	seed_thread((uintptr_t)argument);
	while (!over) {
		int index = any_below(FILES);

		switch (any_below(64)) {
		case 0:
			map_oddly(files[index].fd);
			break;
		case 1:
		case 2:
			scribble_tail(&files[index]);
			break;
		case 3:
			if (!any_below(16))
				renew_file(&files[index]);
			break;
		case 4:
			drop_pages();
			break;
		default:
			call_driver(index);
		}
	}
	return NULL;
}

/* ---- threads that page in, until a signal ---- */

static void *page_in(void *argument)
{
	seed_thread((uintptr_t)argument);
	while (!over) {
		struct omx_ioc_pager ioc = { .flags = any_below(2) };

		if (!ioctl(files[any_below(FILES) | 1].fd, OMX_IOC_PAGE_IN, &ioc) || errno == EINTR)
			page_ins++;
		else
			usleep(10000);
	}
	return NULL;
}

static void on_signal(int signal)
{
	(void)signal;
}

static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };	/* calls are not restarted */

	if (sigaction(SIGUSR1, &action, NULL))
		die("sigaction");
}

/* ---- another program ---- */

static void be_foreign(int ready)
{
	struct omx_ioc_open open = { .board = OMX_ANY, .endpoint = OMX_ANY };
	unsigned int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (ioctl(foreign, OMX_IOC_OPEN, &open) || write(ready, "", 1) != 1)
		_exit(1);
	for (i = 0; i < FOREIGN_CALLS; i++)
		call_driver(any_below(FILES));
	for (i = 0; i < FILES; i++)
		close(files[i].fd);
	for (;;)
		pause();
}

/* The endpoint stays open here after the program has ended. */
static pid_t start_foreign(void)
{
	int fd = open("/dev/omx", O_RDWR | O_CLOEXEC), ready[2];
	pid_t pid;
	char byte;

	if (fd < 0 || dup2(fd, foreign) < 0 || pipe2(ready, O_CLOEXEC))
		die("/dev/omx");
	close(fd);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid)
		be_foreign(ready[1]);
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		die("another program's endpoint");
	close(ready[0]);
	return pid;
}

static void end_foreign(pid_t pid)
{
	if (kill(pid, SIGKILL) || waitpid(pid, NULL, 0) != pid)
		die("another program");
}

/* ---- all of it ---- */

static void be_ordinary(void)
{
	if (getuid())
		return;
	if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
		die("setuid");
}

static void prepare_files(void)
{
	struct omx_ioc_board board = { .board = 0 };
	unsigned int i;

	for (i = 0; i < FILES; i++) {
		files[i].fd = open("/dev/omx", O_RDWR | O_CLOEXEC);
		if (files[i].fd < 0)
			die("/dev/omx");
	}
	foreign = open("/dev/omx", O_RDWR | O_CLOEXEC);
	if (foreign < 0)
		die("/dev/omx");
	if (ioctl(files[0].fd, OMX_IOC_BOARD, &board))
		die("OMX_IOC_BOARD");
	prepare_arguments(board.mac);
}

static void parse_options(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seconds",	required_argument, NULL, 't' },
		{ "threads",	required_argument, NULL, 'n' },
		{ "seed",	required_argument, NULL, 's' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	seed = time(NULL) * 1000003ull ^ getpid();
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 't')
			seconds = atoi(optarg);
		else if (c == 'n')
			threads = atoi(optarg);
		else if (c == 's')
			seed = strtoull(optarg, NULL, 0);
		else
			exit(2);
	}
}

static pthread_t thread[THREADS_MAX + PAGERS];

static void start_threads(void)
{
	uintptr_t i;

	for (i = 0; i < threads + PAGERS; i++)
		if (pthread_create(&thread[i], NULL, i < threads ? fuzz_thread : page_in,
				   (void *)(i + 1)))
			die("pthread_create");
}

/* For a second: another program beside ours, whose waits do not last. */
static void run_for_a_second(void)
{
	pid_t pid = start_foreign();
	unsigned int i;

	for (i = 0; i < 100; i++) {
		usleep(10000);
		pthread_kill(thread[any_below(threads + PAGERS)], SIGUSR1);
	}
	end_foreign(pid);
}

static void end_threads(void)
{
	unsigned int i;

	over = true;
	for (i = 0; i < threads + PAGERS; i++) {
		while (pthread_tryjoin_np(thread[i], NULL)) {
			pthread_kill(thread[i], SIGUSR1);
			usleep(1000);
		}
	}
}

static unsigned long long accepted_of(unsigned int command)
{
	return accepted[_IOC_NR(command)];
}

static void report(void)
{
	unsigned long long all = 0;
	unsigned int i;

	for (i = 0; i < COMMANDS; i++)
		all += accepted_of(commands[i]);
	printf("%llu calls, %llu accepted, %llu endpoints, %llu pagers, %llu page-ins, "
	       "%llu odd mappings\n", (unsigned long long)calls, all, accepted_of(OMX_IOC_OPEN),
	       accepted_of(OMX_IOC_PAGER), (unsigned long long)page_ins,
	       (unsigned long long)mappings);
	for (i = _IOC_NR(OMX_IOC_WINDOW_CREATE); i <= _IOC_NR(OMX_IOC_GET_LOCAL); i++)
		printf("one-sided, 0x%x: %llu accepted\n", i, (unsigned long long)accepted[i]);
}

int main(int argc, char **argv)
{
	unsigned int i;

	parse_options(argc, argv);
	if (threads < 1 || threads > THREADS_MAX)
		exit(2);
	printf("seed %llu\n", (unsigned long long)seed);
	fflush(stdout);
	be_ordinary();
	prepare_files();
	catch_signals();
	seed_thread(threads + PAGERS + 1);
	start_threads();
	for (i = 0; i < seconds; i++)
		run_for_a_second();
	end_threads();
	report();
	return 0;
}
