// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pages that a thread of the program supplies through userfaultfd, also when
 * the driver faults on them.
 */
#include "acts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "userfault.h"

static int faults = -1;
static bool own_only;
static pthread_t server;
static int end_pipe[2];

/* An unprivileged program gets a userfaultfd for its own faults only. */
static int open_any_userfault(void)
{
	int fd = open_userfault(O_NONBLOCK);

	own_only = fd < 0 && errno == EPERM;
	return own_only ? open_userfault(O_NONBLOCK | UFFD_USER_MODE_ONLY) : fd;
}

static const char *no_userfault(void)
{
	int fd = open_any_userfault();

	if (fd < 0)
		return "no userfaultfd";
	close(fd);
	return NULL;
}

static void supply_page(const struct arena *arena, uint64_t address)
{
	uint8_t page[PAGE] __attribute__((aligned(4096)));
	struct uffdio_copy copy = {
		.dst = address & ~(PAGE - 1),
		.src = (unsigned long)page,
		.len = PAGE,
	};

	fill(page, PAGE, arena->key[NEW], copy.dst - (unsigned long)ARENA);
	/*
	 * EEXIST: another thread faulted on the page, too, and has supplied
	 * it.
	 */
	CHECK(!ioctl(faults, UFFDIO_COPY, &copy) || errno == EEXIST, "%m");
}

static void *serve_faults(void *argument)
{
	const struct arena *arena = argument;
	struct random random = { arena->key[NEW] };
	struct pollfd fds[2] = { { faults, POLLIN, 0 }, { end_pipe[0], POLLIN, 0 } };
	struct uffd_msg message;

	while (poll(fds, 2, -1) > 0 && !fds[1].revents) {
		if (read(faults, &message, sizeof(message)) != sizeof(message))
			continue;
		CHECK(message.event == UFFD_EVENT_PAGEFAULT);
		/* Sometimes the page comes late. */
		if (random_chance(&random, 5))
			usleep(random_below(&random, 3000));
		supply_page(arena, message.arg.pagefault.address);
	}
	return NULL;
}

static void start_server(struct arena *arena)
{
	faults = open_any_userfault();
	watch(faults, act_start(arena), act_size(arena));
	CHECK(!pipe(end_pipe));
	CHECK(!pthread_create(&server, NULL, serve_faults, arena));
}

/*
 * Pinning for a long time does not wait for a program (Linux 6.1: neither
 * FAULT_FLAG_ALLOW_RETRY nor FAULT_FLAG_KILLABLE with FOLL_LONGTERM), so it
 * may fail; faulting in has to wait, if the kernel lets the program serve it.
 */
static void drop_pages(struct arena *arena)
{
	arena->loose = true;
	start_server(arena);
	arena->may_fail_after = mode != OMX_MEMORY_UNPINNED || own_only;
	arena->may_fail_source = arena->may_fail_destination = arena->may_fail_after;
	CHECK(!madvise(act_start(arena), act_size(arena), MADV_DONTNEED));
}

/* Pages on which nobody has faulted yet are zero from now on. */
static void stop_server(struct arena *arena)
{
	(void)arena;
	CHECK(write(end_pipe[1], "", 1) == 1);
	pthread_join(server, NULL);
	close(end_pipe[0]);
	close(end_pipe[1]);
	close(faults);
	faults = -1;
}

const struct act act_userfault = {
	.name = "userfault", .missing = no_userfault, .act = drop_pages, .restore = stop_server,
		.few = true,
};
