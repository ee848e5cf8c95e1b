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
#include "omx_abi.h"

#define FILES		4
#define NOBODY		65534
#define ARGUMENT_MAX	256
#define SEGMENTS	(2 * OMX_SEGMENTS_MAX)
#define MEMORY		(256 * 1024)
#define THREADS_MAX	64
#define PAGERS		(OMX_PAGERS_MAX + 2)
#define FOREIGN_CALLS	1000

static const unsigned int commands[] = {
	OMX_IOC_INFO, OMX_IOC_BOARD, OMX_IOC_BOARD_NAME, OMX_IOC_ENDPOINT_INFO,
	OMX_IOC_COUNTERS, OMX_IOC_COUNTER_LABEL, OMX_IOC_COUNTERS_CLEAR, OMX_IOC_PEER,
	OMX_IOC_PEER_BY_MAC, OMX_IOC_PEER_BY_NAME, OMX_IOC_PEER_ADD, OMX_IOC_PEER_REMOVE,
	OMX_IOC_OPEN, OMX_IOC_CONNECT, OMX_IOC_CHANNEL_INFO, OMX_IOC_DISCONNECT,
	OMX_IOC_SEND, OMX_IOC_SEND_RNDV, OMX_IOC_PULL, OMX_IOC_REGION_CREATE,
	OMX_IOC_REGION_DESTROY, OMX_IOC_FETCH, OMX_IOC_WAIT, OMX_IOC_WAKEUP, OMX_IOC_KICK,
	OMX_IOC_PREFETCH, OMX_IOC_PAGER, OMX_IOC_PAGE_IN, OMX_IOC_WITHDRAW,
	OMX_IOC_WINDOW_CREATE, OMX_IOC_WINDOW_REVOKE, OMX_IOC_PUT, OMX_IOC_PUT_RNDV,
	OMX_IOC_GET, OMX_IOC_ATOMIC, OMX_IOC_PUT_WHEN, OMX_IOC_GET_WHEN, OMX_IOC_POST_KEY,
	OMX_IOC_LOG_CREATE, OMX_IOC_LOG_DESTROY,
	OMX_IOC_LOG_WAIT, OMX_IOC_ACTIVATE, OMX_IOC_FLUSH_ACTIVE,
};

#define COMMANDS	(sizeof(commands) / sizeof(*commands))

/*
 * A file that the threads share. Those with an odd index never become
 * endpoints.
 */
struct shared {
	_Atomic int fd;
	_Atomic(uint32_t *) utail;
	_Atomic uint32_t endpoint;
	_Atomic uint32_t key;
};

static struct shared files[FILES];
static atomic_bool over;
static atomic_ullong calls, accepted, mappings, endpoints, pagers, page_ins, windows;
static int foreign;			/* another program's endpoint */
static uint8_t *memory, *readonly, *unmapped;
static struct omx_segment *segments;
static uint64_t board_mac, seed;
static unsigned int threads = 4, seconds = 30;
static size_t page;

static uint64_t any_address(void)
{
	switch (any_below(10)) {
	case 0:
		return 0;
	case 1:
		return (uintptr_t)unmapped + any_below(page);
	case 2:
		return (uintptr_t)readonly + any_below(page);
	case 3:
		return 0xffff888000000000ull + any_below(1ull << 31);
	case 4:
		return 0xffffffff81000000ull + any_below(1ull << 24);
	case 5:
		return (uintptr_t)unmapped - any_below(200);
	case 6:
		return any_extreme();
	default:
		return (uintptr_t)memory + any_below(MEMORY);
	}
}

static uint64_t any_length(void)
{
	switch (any_below(6)) {
	case 0:
		return any_extreme();
	case 1:
		return any_below(2 * OMX_MEDIUM_MAX);
	default:
		return any_below(4097);
	}
}

static void fill_buffer(struct omx_buffer *buffer)
{
	unsigned int i, count;

	buffer->address = any_address();
	buffer->length = any_length();
	buffer->segment_count = 0;
	buffer->reserved = any_below(50) ? 0 : any_word();
	if (any_below(3))
		return;
	count = any_below(4) ? 1 + any_below(8) : any_below(SEGMENTS);
	buffer->length = 0;
	/* other threads write here as well, on purpose */
	for (i = 0; i < count; i++) {
		segments[i].address = any_below(8) ?
			(uintptr_t)memory + any_below(MEMORY / 2) : any_address();
		segments[i].length = any_below(8) ? any_below(10000) : any_length();
		buffer->length += segments[i].length;
	}
	buffer->address = any_below(16) ? (uintptr_t)segments : any_address();
	buffer->segment_count = any_below(16) ? count : any_extreme();
	if (!any_below(16))
		buffer->length = any_extreme();
}

static uint32_t any_number(void)
{
	return any_below(4) ? any_below(8) : any_extreme();
}

static void fill_connect(struct omx_ioc_connect *connect)
{
	const struct shared *other = &files[any_below(FILES)];

	connect->mac = any_below(8) ? board_mac : any_extreme();
	connect->endpoint = any_below(8) ? other->endpoint : any_number();
	connect->key = any_below(8) ? other->key : any_word();
	connect->timeout_ms = any_below(8) ? any_below(1000) : any_extreme();
	connect->reserved = any_below(50) ? 0 : any_word();
}

static void fill_wait(struct omx_ioc_wait *wait)
{
	wait->flags = any_below(8) ? any_below(2) : any_extreme();
	wait->timeout_ms = any_below(20);	/* a thread must not wait for ever */
	wait->wakeups = any_below(4);
}

/* ---- one-sided accesses ---- */

#define KEYS	16

/* Of windows that the threads have made; some still exist. */
static struct omx_key window_keys[KEYS];

static struct omx_key any_key(void)
{
	struct omx_key key = window_keys[any_below(KEYS)];

	if (!any_below(8))
		((uint32_t *)&key)[any_below(4)] = any_number();
	return key;
}

static uint64_t any_offset(void)
{
	return any_below(8) ? any_below(MEMORY) : any_extreme();
}

static void fill_window(struct omx_ioc_window *window)
{
	bool implicit = any_below(4);

	window->region = implicit ? OMX_REGION_IMPLICIT : any_number();
	window->address = implicit ? any_address() : 0;
	window->offset = implicit ? 0 : any_offset();
	window->length = any_below(2) ? MEMORY / 4 : any_length();
	window->rights = any_below(8) ? 1 + any_below(15) : any_extreme();
	window->channel = any_below(4) ? OMX_ANY : any_number();
	window->reserved = 0;
}

static void fill_put(struct omx_ioc_put *put)
{
	fill_buffer(&put->buffer);
	put->key = any_key();
	put->offset = any_offset();
	put->channel = any_number();
	put->flags = any_below(16) ? any_below(2) : any_extreme();
	put->immediate = put->flags ? any_word() : 0;
}

static void fill_put_rndv(struct omx_ioc_put_rndv *put)
{
	put->key = any_key();
	put->offset = any_offset();
	put->length = any_length();
	put->channel = any_number();
	put->region = any_below(2) ? any_number() : OMX_REGION_IMPLICIT;
	put->address = put->region == OMX_REGION_IMPLICIT ? any_address() : 0;
	put->flags = any_below(16) ? any_below(2) : any_extreme();
	put->immediate = put->flags ? any_word() : 0;
	put->reserved = 0;
}

static void fill_get(struct omx_ioc_get *get)
{
	get->key = any_key();
	get->offset = any_offset();
	get->length = any_length();
	get->channel = any_number();
	get->flags = any_below(2) ? OMX_ACCESS_ANNOUNCE : any_below(4);
}

static void fill_atomic(struct omx_ioc_atomic *atomic)
{
	atomic->key = any_key();
	atomic->offset = any_offset() & (any_below(8) ? ~7ull : ~0ull);
	atomic->channel = any_number();
	atomic->operation = any_below(OMX_OPERATIONS + 1);
	atomic->size = any_below(8) ? 4u << any_below(2) : (uint8_t)any_word();
	memset(atomic->reserved, 0, sizeof(atomic->reserved));
}

/* Few tags, so that keys find accesses and the other way round. */
static uint64_t any_tag(void)
{
	return any_below(8);
}

static void fill_put_when(struct omx_ioc_put_when *put)
{
	fill_buffer(&put->buffer);
	put->region = 0;
	if (any_below(2)) {
		put->region = any_below(2) ? any_number() : OMX_REGION_IMPLICIT;
		put->buffer.address = put->region == OMX_REGION_IMPLICIT ? any_address() : 0;
		put->buffer.length = any_length();
		put->buffer.segment_count = 0;
	}
	put->tag = any_tag();
	put->channel = any_number();
	put->flags = any_below(16) ? any_below(2) : any_extreme();
	put->immediate = put->flags ? any_word() : 0;
	put->timeout_ms = any_below(4) ? any_below(100) : OMX_ANY;
}

static void fill_get_when(struct omx_ioc_get_when *get)
{
	get->tag = any_tag();
	get->length = any_length();
	get->channel = any_number();
	get->region = any_below(3) ? 0 : any_below(2) ? any_number() : OMX_REGION_IMPLICIT;
	get->address = get->region == OMX_REGION_IMPLICIT ? any_address() : 0;
	get->timeout_ms = any_below(4) ? any_below(100) : OMX_ANY;
	get->reserved = 0;
}

static void fill_post_key(struct omx_ioc_post_key *post)
{
	post->key = any_key();
	post->offset = any_offset();
	post->length = any_length();
	post->tag = any_tag();
	post->channel = any_number();
	post->reserved = 0;
}

static void fill_log_wait(struct omx_ioc_log_wait *wait)
{
	wait->log = any_below(6);
	wait->commits = any_below(4);
	wait->timeout_ms = any_below(20);
	wait->wakeups = any_below(4);
}

static void fill_activate(struct omx_ioc_activate *activate)
{
	activate->window = any_key().window;
	activate->offset = any_below(8) ? any_below(16) * OMX_ACTIVE_PAGE : any_offset();
	activate->length = any_below(8) ? (1 + any_below(16)) * OMX_ACTIVE_PAGE : any_length();
	activate->flags = any_below(8) ? any_below(OMX_PAGE_FLAGS + 1) : any_extreme();
	activate->log = activate->flags & OMX_PAGE_E ? any_below(6) : 0;
	activate->reserved = any_below(50) ? 0 : any_word();
}

static uint32_t any_file(void)
{
	switch (any_below(16)) {
	case 0:
		return foreign;
	case 1:
		return OMX_ANY;
	case 2:
		return any_below(3);	/* files of others */
	case 3:
		return any_number();
	default:
		return files[any_below(FILES)].fd;
	}
}

/* Replaces some words by values that the command may accept. */
static void make_sense(unsigned int command, void *argument)
{
	struct omx_ioc_send_rndv *rndv = argument;
	struct omx_ioc_region *region = argument;
	struct omx_ioc_counters *counters = argument;
	struct omx_ioc_fetch *fetch = argument;
	struct omx_ioc_flush_active *flush = argument;
	struct omx_ioc_log *log = argument;
	struct omx_ioc_open *open = argument;
	struct omx_ioc_pager *pager = argument;
	struct omx_ioc_prefetch *prefetch = argument;
	struct omx_ioc_pull *pull = argument;
	struct omx_ioc_send *send = argument;
	struct omx_ioc_window *window = argument;
	struct omx_ioc_withdraw *withdraw = argument;
	uint32_t *words = argument;

	switch (command) {
	case OMX_IOC_CONNECT:
		fill_connect(argument);
		break;
	case OMX_IOC_WAIT:
		fill_wait(argument);
		break;
	case OMX_IOC_SEND:
		fill_buffer(&send->buffer);
		send->channel = any_number();
		send->reserved = 0;
		break;
	case OMX_IOC_REGION_CREATE:
		fill_buffer(&region->buffer);
		region->flags = any_below(8) ? 1 + any_below(3) : any_extreme();
		if (any_below(8))
			region->flags |= OMX_REGION_MODE(any_below(OMX_MEMORY_MODES));
		region->region = 0;
		break;
	case OMX_IOC_REGION_DESTROY:
		region->region = any_number();
		break;
	case OMX_IOC_FETCH:
		fill_buffer(&fetch->buffer);
		fetch->message = any_number();
		fetch->reserved = 0;
		break;
	case OMX_IOC_SEND_RNDV:
		rndv->cookie = any_number();
		rndv->length = any_length();
		rndv->channel = any_number();
		rndv->region = any_below(2) ? any_number() : OMX_REGION_IMPLICIT;
		rndv->address = rndv->region == OMX_REGION_IMPLICIT ? any_address() : 0;
		break;
	case OMX_IOC_PULL:
		pull->length = any_length();
		pull->msg_length = any_below(4) ? pull->length : any_length();
		pull->channel = any_number();
		pull->region = any_below(2) ? any_number() : OMX_REGION_IMPLICIT;
		pull->address = pull->region == OMX_REGION_IMPLICIT ? any_address() : 0;
		pull->remote_message = any_number();
		pull->timeout_ms = any_below(1000);
		pull->status = any_below(4) ? 0 : any_number();
		pull->reserved = 0;
		break;
	case OMX_IOC_WITHDRAW:
		withdraw->cookie = any_number();
		withdraw->flags = any_below(50) ? any_below(2) : any_word();
		withdraw->channel = withdraw->flags ? any_number() : 0;
		break;
	case OMX_IOC_WINDOW_CREATE:
		fill_window(argument);
		break;
	case OMX_IOC_WINDOW_REVOKE:
		window->key = any_key();
		break;
	case OMX_IOC_PUT:
		fill_put(argument);
		break;
	case OMX_IOC_PUT_RNDV:
		fill_put_rndv(argument);
		break;
	case OMX_IOC_GET:
		fill_get(argument);
		break;
	case OMX_IOC_ATOMIC:
		fill_atomic(argument);
		break;
	case OMX_IOC_PUT_WHEN:
		fill_put_when(argument);
		break;
	case OMX_IOC_GET_WHEN:
		fill_get_when(argument);
		break;
	case OMX_IOC_POST_KEY:
		fill_post_key(argument);
		break;
	case OMX_IOC_LOG_CREATE:
	case OMX_IOC_LOG_DESTROY:
		log->log = any_below(6);
		log->slots = any_below(8) ? OMX_LOG_SLOTS_MIN << any_below(4) : any_extreme();
		break;
	case OMX_IOC_ACTIVATE:
		fill_activate(argument);
		break;
	case OMX_IOC_FLUSH_ACTIVE:
		flush->channel = any_number();
		flush->stamp = any_below(4) ? any_below(100) : any_word();
		flush->reserved = 0;
		break;
	case OMX_IOC_PREFETCH:
		prefetch->address = any_address();
		prefetch->length = any_length();
		prefetch->flags = 1 + any_below(7);
		prefetch->reserved = 0;
		break;
	case OMX_IOC_OPEN:
		open->board = any_below(4) ? OMX_ANY : any_number();
		open->endpoint = OMX_ANY;	/* leave those of others alone */
		open->timeout_ms = any_below(2) ? 0 : any_below(2000);
		break;
	case OMX_IOC_PAGER:
		pager->fd = any_file();
		pager->flags = any_below(16) ? 0 : any_extreme();
		break;
	case OMX_IOC_PAGE_IN:
		pager->fd = any_below(16) ? 0 : any_number();
		pager->flags = any_below(16) ? any_below(2) : any_extreme();
		break;
	case OMX_IOC_COUNTERS:
		counters->board = any_number();
		counters->count = any_below(2) ? any_below(100) : any_extreme();
		counters->values = any_address();
		break;
	default:
		words[0] = any_number();
		words[1] = any_below(4) ? 0 : any_number();
	}
}

/* Always on a copy: what the driver writes must not land in our own data. */
static void *argument_for(unsigned int command, uint8_t *own)
{
	unsigned int i;

	for (i = 0; i < ARGUMENT_MAX / sizeof(uint64_t); i++)
		((uint64_t *)own)[i] = any_below(4) ? any_word() : any_extreme();
	if (any_below(8))
		make_sense(command, own);
	if (command == OMX_IOC_WAIT)
		fill_wait((void *)own);
	if (command == OMX_IOC_LOG_WAIT)
		fill_log_wait((void *)own);
	if (command == OMX_IOC_OPEN)
		((struct omx_ioc_open *)own)->endpoint = OMX_ANY;
	return own;
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
	accepted++;
	if (command == OMX_IOC_OPEN) {
		shared->endpoint = open->endpoint;
		shared->key = open->key;
		endpoints++;
	}
	if (command == OMX_IOC_WINDOW_CREATE) {
		window_keys[any_below(KEYS)] = ((struct omx_ioc_window *)own)->key;
		windows++;
	}
	pagers += command == OMX_IOC_PAGER;
}

static void refuse_write(int fd)
{
	void *ring = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, OMX_MAP_RING);

	if (ring == MAP_FAILED)
		return;
	if (!mprotect(ring, page, PROT_READ | PROT_WRITE)) {
		fputs("fuzz_ioctl: the ring became writable\n", stderr);
		exit(1);
	}
	munmap(ring, page);
	ring = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, OMX_MAP_RING);
	if (ring != MAP_FAILED) {
		fputs("fuzz_ioctl: the ring was mapped writable\n", stderr);
		exit(1);
	}
}

static void map_oddly(int fd)
{
	/* The last two: of the first log. */
	static const off_t offsets[] = { OMX_MAP_USER, OMX_MAP_RING, 0x1000, 0x101000, 0x200000,
					 0x10000000, 0x11800000 };
	off_t offset = any_below(4) ? offsets[any_below(7)] : (off_t)(any_below(1ull << 40) * page);
	size_t size = any_below(4) ? page * (1 + any_below(300)) : page * any_below(1 << 20) + 1;
	void *at = mmap(NULL, size, any_below(8), any_below(2) ? MAP_SHARED : MAP_PRIVATE, fd,
			offset);

	refuse_write(fd);
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

static void *map_memory(size_t size, int protection)
{
	void *at = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		die("mmap");
	return at;
}

static void prepare_files(void)
{
	struct omx_ioc_board board = { .board = 0 };
	unsigned int i;

	page = sysconf(_SC_PAGESIZE);
	memory = map_memory(MEMORY + page, PROT_READ | PROT_WRITE);
	unmapped = memory + MEMORY;
	if (mprotect(unmapped, page, PROT_NONE))
		die("mprotect");
	readonly = map_memory(page, PROT_READ);
	segments = map_memory(SEGMENTS * sizeof(*segments), PROT_READ | PROT_WRITE);
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
	board_mac = board.mac;
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
	printf("%llu calls, %llu accepted, %llu endpoints, %llu pagers, %llu page-ins, "
	       "%llu windows, %llu odd mappings\n",
	       (unsigned long long)calls, (unsigned long long)accepted,
	       (unsigned long long)endpoints, (unsigned long long)pagers,
	       (unsigned long long)page_ins, (unsigned long long)windows,
	       (unsigned long long)mappings);
	return 0;
}
